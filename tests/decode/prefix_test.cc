// Prompts' beginnings that are run once.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "engine/decode/prefix_tree.h"
#include "engine/engine.h"
#include "tests/support/toy_backend.h"

namespace fullband {
namespace {

constexpr int kPageSize = 4;

std::vector<int32_t> Counting(int count, int32_t last = -1) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  if (last >= 0) tokens.back() = last;
  return tokens;
}

// A tree that owns its places, and pages that nobody else uses.
struct Grove {
  explicit Grove(int max_pages) : tree(&places, max_pages) { places.page_size = kPageSize; }
  // Inserts the page with the last of `tokens`, as the sequence that ran it would, and returns its number.
  int32_t Add(const PrefixLine& line, const std::vector<int32_t>& tokens) {
    PrefixPage page;
    page.page = places.pages.Take();
    for (size_t i = (tokens.size() - 1) / kPageSize * kPageSize; i < tokens.size(); ++i) {
      page.states.push_back(places.states.Take());
      page.state_rms.push_back(static_cast<float>(i));
    }
    tree.Insert(line, tokens, page);
    places.pages.Release(page.page);
    for (int32_t state : page.states) places.states.Release(state);
    return page.page;
  }
  Places places;
  PrefixTree tree;
};

TEST(PrefixTree, FindsTheLongestBeginning) {
  Grove grove(100);
  const PrefixLine line;
  const int32_t first = grove.Add(line, Counting(4));
  const int32_t second = grove.Add(line, Counting(8));
  const int32_t other = grove.Add(line, Counting(8, 20));
  const int32_t part = grove.Add(line, Counting(10));
  const auto match = grove.tree.Find(line, Counting(12));
  EXPECT_EQ(match.positions, 10);
  EXPECT_EQ(match.pages, (std::vector<int32_t>{first, second, part}));
  EXPECT_EQ(match.states.size(), 10u);
  EXPECT_EQ(match.state_rms[9], 9.0f);
  // Ends inside a page, whichever child the beginning is taken from.
  EXPECT_EQ(grove.tree.Find(line, Counting(7)).positions, 7);
  EXPECT_EQ(grove.tree.Find(line, Counting(8, 19)).positions, 7);
  EXPECT_EQ(grove.tree.Find(line, Counting(8, 20)).pages, (std::vector<int32_t>{first, other}));
  EXPECT_EQ(grove.tree.Find(line, {}).positions, 0);
}

TEST(PrefixTree, LinesShareNothing) {
  Grove grove(100);
  grove.Add({}, Counting(4));
  for (const PrefixLine& line : {PrefixLine{1, Control::kNone, false}, PrefixLine{0, Control::kNone, true},
                                 PrefixLine{1, Control::kStale, false}})
    EXPECT_EQ(grove.tree.Find(line, Counting(4)).positions, 0);
  EXPECT_EQ(grove.tree.Find({}, Counting(4)).positions, 4);
}

TEST(PrefixTree, APageWithoutTheOneBeforeItIsNotKept) {
  Grove grove(100);
  grove.Add({}, Counting(8));
  EXPECT_EQ(grove.tree.pages(), 0);
  EXPECT_EQ(grove.places.pages.in_use(), 0);
}

TEST(PrefixTree, WhatWasUsedLongestAgoGoesFirstAndFromItsEnd) {
  Grove grove(3);
  grove.Add({}, Counting(4));
  grove.Add({}, Counting(8));
  grove.Add({}, Counting(4, 9));
  grove.tree.Find({}, Counting(8));
  grove.Add({}, Counting(4, 10));  // pushes out the one ending in 9
  EXPECT_EQ(grove.tree.pages(), 3);
  EXPECT_EQ(grove.tree.Find({}, Counting(4, 9)).positions, 3);
  EXPECT_EQ(grove.tree.Find({}, Counting(8)).positions, 8);
  EXPECT_EQ(grove.places.pages.in_use(), 3);
  EXPECT_EQ(grove.places.states.in_use(), 12);
  grove.tree.Find({}, Counting(4, 10));
  EXPECT_TRUE(grove.tree.Evict());  // the second page of the eight, never its first
  EXPECT_EQ(grove.tree.Find({}, Counting(8)).positions, 4);
  while (grove.tree.Evict()) {
  }
  EXPECT_EQ(grove.places.pages.in_use(), 0);
  EXPECT_EQ(grove.places.states.in_use(), 0);
}

struct Outcome {
  std::map<uint64_t, std::vector<float>> logprobs;
  std::map<uint64_t, std::pair<float, float>> rms;
  int64_t run = 0, saved = 0, prefill = 0;
  int copies = 0;
};

// Ten prompts with 30 tokens in common, as a suite's shots are.
Outcome AskWithShots(const std::string& setting, bool prefix_cache, int64_t kv_memory, int chunk) {
  ToyOptions toy;
  toy.page_size = kPageSize;
  auto backend = std::make_unique<ToyBackend>(toy);
  const ToyBackend* seen = backend.get();
  EngineOptions options;
  options.prefix_cache = prefix_cache ? EngineOptions::kAuto : 0;
  options.kv_memory = kv_memory;
  options.chunk = chunk;
  options.batch = 4;
  Engine engine(std::move(backend), nullptr, options);
  for (int i = 0; i < 10; ++i) {
    std::vector<int32_t> prompt(30);
    for (size_t t = 0; t < prompt.size(); ++t) prompt[t] = static_cast<int32_t>(t * 5 % 16);
    for (int t = 0; t <= i / 2; ++t) prompt.push_back((i / 2 * 3 + t) % 16);
    ScoreRequest request;
    request.id = static_cast<uint64_t>(i);
    request.context = prompt;
    request.continuation = {i % 16, 3, 5};
    request.setting = Setting::Parse(setting);
    engine.Submit(request);
  }
  Outcome outcome;
  while (std::optional<Answer> answer = engine.Next()) {
    outcome.logprobs[answer->id] = answer->logprobs;
    outcome.rms[answer->id] = {answer->min_state_rms, answer->max_state_rms};
    outcome.saved += answer->cost.saved_forwards;
    outcome.prefill += answer->cost.prefill_forwards;
  }
  outcome.run = seen->rows_run();
  outcome.copies = seen->copies_run();
  return outcome;
}

TEST(PrefixCache, SavesWorkAndChangesNothing) {
  for (const char* setting : {"standard", "latent", "latent@3", "latent@2:stale", "standard@exact",
                              "latent@exact", "parallel@2", "parallel@3:reversed"})
    for (int chunk : {3, 64}) {
      const Outcome without = AskWithShots(setting, false, 0, chunk);
      const Outcome with = AskWithShots(setting, true, 0, chunk);
      EXPECT_EQ(with.logprobs, without.logprobs) << setting;
      EXPECT_EQ(with.rms, without.rms) << setting;
      EXPECT_EQ(without.saved, 0);
      EXPECT_EQ(with.run + with.saved, without.run) << setting;
      EXPECT_EQ(with.prefill + with.saved, without.prefill) << setting;
      // Nine of the ten find all they have in common with an earlier one.
      const int64_t passes = Setting::Parse(setting).exact ? 1 : Setting::Parse(setting).passes;
      EXPECT_GE(with.saved, 9 * 30 * passes) << setting;
      EXPECT_GT(with.copies, 0);
    }
}

TEST(PrefixCache, LittleMemoryCostsWorkNotResults) {
  const int64_t page = ToyBackend().page_bytes() * 3 / 2;
  for (const char* setting : {"standard", "latent@2:stale"}) {
    const Outcome roomy = AskWithShots(setting, true, 0, 8);
    for (int64_t pages : {1, 10, 25, 40}) {
      const Outcome tight = AskWithShots(setting, true, pages * page, 8);
      EXPECT_EQ(tight.logprobs, roomy.logprobs) << setting << " " << pages;
      EXPECT_EQ(tight.run + tight.saved, roomy.run + roomy.saved);
    }
  }
}

// Of an item's choices the first runs the context, the others only what is their own, and what they have in
// common once; a choice of one token has its log-probability from the context's last state.
TEST(PrefixCache, ChoicesCostTheirOwnTokensOnly) {
  const std::vector<int32_t> context = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (const char* setting :
       {"standard", "latent", "latent@3", "latent@2:stale", "latent@exact", "parallel@2"})
    for (int choice_tokens : {1, 3}) {
      auto backend = std::make_unique<ToyBackend>();
      const ToyBackend* seen = backend.get();
      Engine engine(std::move(backend), nullptr, {});
      for (int32_t choice = 0; choice < 4; ++choice) {
        ScoreRequest request;
        request.context = context;
        request.continuation = {choice, 5, 6};
        request.continuation.resize(static_cast<size_t>(choice_tokens));
        request.setting = Setting::Parse(setting);
        engine.Submit(request);
      }
      while (engine.Next()) {
      }
      const Setting parsed = Setting::Parse(setting);
      const int passes = parsed.exact ? 1 : parsed.passes;
      const int own = (choice_tokens - 1) * (parsed.mode == Mode::kParallel ? passes : 1);
      EXPECT_EQ(seen->rows_run(), 10 * passes + 4 * own) << setting << ", " << choice_tokens << " tokens";
    }
}

// Those that wait for a beginning do not keep others from filling the step.
TEST(PrefixCache, StepsAreFilledWhileChoicesWait) {
  auto backend = std::make_unique<ToyBackend>();
  const ToyBackend* seen = backend.get();
  EngineOptions options;
  options.chunk = 40;
  Engine engine(std::move(backend), nullptr, options);
  for (int item = 0; item < 20; ++item)
    for (int32_t choice = 0; choice < 4; ++choice) {
      ScoreRequest request;
      for (int t = 0; t < 12; ++t) request.context.push_back((item * 5 + t * (item / 16 + 3)) % 16);
      request.continuation = {choice, 5, 6};
      request.setting = Setting::Parse("standard");
      engine.Submit(request);
    }
  int64_t saved = 0;
  while (const auto answer = engine.Next()) saved += answer->cost.saved_forwards;
  EXPECT_EQ(seen->rows_run() + saved, 20 * 4 * (12 + 2));
  EXPECT_GE(saved, 20 * 3 * 12);
  // All steps but the last are full, and the last leader's followers take one more.
  EXPECT_LE(seen->steps_run(), (seen->rows_run() + 39) / 40 + 1);
}

// Standard and latent have their first pass in common.
TEST(PrefixCache, OnePassIsSharedBetweenSettings) {
  auto backend = std::make_unique<ToyBackend>();
  Engine engine(std::move(backend), nullptr, {});
  for (const char* setting : {"standard", "latent"}) {
    GenerateRequest request;
    request.prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    request.setting = Setting::Parse(setting);
    request.max_new_tokens = 3;
    engine.Submit(request);
    EXPECT_EQ(engine.Next()->cost.saved_forwards, std::string(setting) == "latent" ? 9 : 0);
  }
}

}  // namespace
}  // namespace fullband
