// States of every position in every pass, whatever the cuts between steps.
#include "engine/decode/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/decode/semantics.h"

namespace fullband {
namespace {

constexpr int kPageSize = 4;

TEST(Pool, HandsOutTheLowestFreePlace) {
  Pool pool;
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 2);
  pool.Release(1);
  pool.Release(0);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 3);
  EXPECT_EQ(pool.in_use(), 4);
  EXPECT_EQ(pool.high_water(), 4);
}

TEST(Pool, APlaceIsFreeWhenItsLastUserIsGone) {
  Pool pool;
  const int32_t place = pool.Take();
  pool.Share(place);
  pool.Release(place);
  EXPECT_EQ(pool.users(place), 1);
  EXPECT_EQ(pool.Take(), 1);
  pool.Release(place);
  EXPECT_EQ(pool.Take(), place);
  pool.Release(place);
  EXPECT_THROW(pool.Release(place), std::logic_error);
  EXPECT_THROW(pool.Share(place), std::logic_error);
}

std::vector<float> Readable(const ToyModel::Vector& state) {
  std::vector<float> values;
  for (uint64_t lane : state) values.push_back(static_cast<float>(lane >> 40));
  return values;
}

using States = std::map<std::pair<int, int>, std::vector<float>>;  // by pass and position

// Runs a walk to its end, at most `limit` positions a step, and reads every state that it keeps.
States RunToEnd(Walk* walk, Places* places, ToyBackend* backend, int limit) {
  States states;
  while (true) {
    Walk::Chunk chunk = walk->Next();
    if (chunk.count == 0) return states;
    chunk.count = std::min(chunk.count, limit);
    Step step;
    walk->AddRows(chunk, &step);
    backend->Reserve(places->pages.high_water(), places->states.high_water());
    StepResult result;
    backend->Run(step, &result);
    for (int i = 0; i < chunk.count; ++i)
      if (step.rows[i].keep_state != kNoSlot)
        states[{chunk.pass, chunk.position + i}] = backend->ReadState(step.rows[i].keep_state);
    walk->Advance(chunk, result.state_rms);
  }
}

std::vector<int32_t> Tokens(int count) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((i * 7 + 3) % 16);
  return tokens;
}

TEST(Walk, EveryPassLeavesTheStatesOfAWholePassHoweverItIsCut) {
  const ToySpecification toy;
  const Semantics<ToySpecification> semantics(toy);
  for (const char* name : {"latent@4", "latent@4:stale", "standard@3", "parallel@3:reversed"}) {
    const Setting setting = Setting::Parse(name);
    for (int length : {1, 2, 3, 11})
      for (int limit : {1, 2, 3, 5, 100}) {
        Places places;
        places.page_size = kPageSize;
        ToyBackend backend;
        {
          Walk walk({Tokens(length), length, length, length, setting}, &places);
          const States states = RunToEnd(&walk, &places, &backend, limit);
          for (const auto& [where, state] : states) {
            const auto expected = semantics.Prefill(Tokens(length), where.first + 1, setting.control);
            EXPECT_EQ(state, Readable(expected[static_cast<size_t>(where.second)]))
                << name << " limit " << limit << " pass " << where.first << " position " << where.second;
          }
          // All passes but the last keep everything.
          EXPECT_GE(static_cast<int>(states.size()), length * (setting.passes - 1));
        }
        EXPECT_EQ(places.pages.in_use(), 0);
        EXPECT_EQ(places.states.in_use(), 0);
      }
  }
}

// Property 1: pass p is the recurrence at positions 0 .. p-1, so that as many passes as tokens are the
// recurrence.
TEST(Walk, PassesConvergeToTheRecurrence) {
  const int length = 7;
  const ToySpecification toy;
  const auto exact = Semantics<ToySpecification>(toy).Recur(Tokens(length), 1, Control::kNone);
  Places places;
  places.page_size = kPageSize;
  ToyBackend backend;
  Setting setting = Setting::Parse("latent@8");
  Walk walk({Tokens(length), length, length, length, setting}, &places);
  const States states = RunToEnd(&walk, &places, &backend, 3);
  int beyond = 0;
  for (const auto& [where, state] : states) {
    const bool same = state == Readable(exact[static_cast<size_t>(where.second)]);
    if (where.second <= where.first) {
      EXPECT_TRUE(same) << "pass " << where.first << " position " << where.second;
    } else {
      beyond += !same;
    }
  }
  EXPECT_EQ(beyond, 6 + 5 + 4 + 3 + 2 + 1);
}

// After the prompt only the last pass's pages are kept, and never more slots than the cuts need.
TEST(Walk, EarlierPassesGiveTheirPagesBack) {
  Places places;
  places.page_size = kPageSize;
  ToyBackend backend;
  Walk walk({Tokens(40), 40, 40, 44, Setting::Parse("latent@3")}, &places);
  EXPECT_EQ(walk.pages_ahead(), 10 + 10 + 11);
  RunToEnd(&walk, &places, &backend, 8);
  EXPECT_EQ(places.pages.in_use(), 10);
  EXPECT_EQ(walk.pages_ahead(), 1);
  EXPECT_LE(places.states.in_use(), 2);
  EXPECT_LE(places.states.high_water(), 2 * 8 + 2 * 3);
}

}  // namespace
}  // namespace fullband
