#include "engine/decode/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/compute/random.h"

namespace fullband {
namespace {

double Seconds(Sequence::Clock::time_point from, Sequence::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Sequence::Sequence(uint64_t id, int prompt_size, Walk::Plan plan, const Memory& memory)
    : walk_(std::move(plan), memory.places, memory.prefixes), prompt_size_(prompt_size) {
  answer_.id = id;
  answer_.cost.prompt_tokens = prompt_size;
}

int Sequence::AddTo(int limit, Step* step) {
  if (!begun_) Begin();
  first_query_ = step->queries.size();
  AskOfAdopted(step);
  query_count_ = step->queries.size() - first_query_;
  chunk_ = walk_.Next();
  // A trace's next position is one row too, but bound to come singly.
  const bool limited = !chunk_.single && !(walk_.prefilled() && chunk_.count == 1);
  if (limited) chunk_.count = std::min(chunk_.count, limit);
  if (chunk_.count == 0) return 0;
  first_row_ = step->rows.size();
  walk_.AddRows(chunk_, step);
  for (int i = 0; i < chunk_.count; ++i) {
    if (!walk_.IsLastPass(chunk_.pass) || chunk_.position + i + 1 < prompt_size_) continue;
    AskOfRow(chunk_.position + i, static_cast<int32_t>(first_row_) + i, kNoSlot, step);
  }
  query_count_ = step->queries.size() - first_query_;
  return limited ? chunk_.count : 0;
}

void Sequence::AskOfAdopted(Step* step) {
  if (!asks_of_adopted_) return;
  asks_of_adopted_ = false;
  AskOfRow(prompt_size_ - 1, 0, walk_.StateSlot(prompt_size_ - 1), step);
}

void Sequence::AskOfRow(int position, int32_t row, int32_t state, Step* step) {
  Query query;
  query.row = row;
  query.state = state;
  Ask(position, &query);
  step->queries.push_back(std::move(query));
}

void Sequence::CountRows() {
  const int prompt_rows = std::clamp(prompt_size_ - chunk_.position, 0, chunk_.count);
  const int prefill_rows = walk_.setting().mode == Mode::kParallel ? chunk_.count : prompt_rows;
  answer_.cost.prefill_forwards += prefill_rows;
  answer_.cost.decode_forwards += chunk_.count - prefill_rows;
}

void Sequence::Begin() {
  begun_ = true;
  const std::vector<float> adopted = walk_.Adopt();
  answer_.cost.saved_forwards = static_cast<int64_t>(adopted.size());
  asks_of_adopted_ = walk_.done() == prompt_size_;
  for (float rms : adopted) NoteState(rms);
}

void Sequence::NoteState(float rms) {
  const bool first = answer_.max_state_rms == 0;
  answer_.min_state_rms = first ? rms : std::min(answer_.min_state_rms, rms);
  answer_.max_state_rms = std::max(answer_.max_state_rms, rms);
}

bool Sequence::CheckStates(std::span<const float> state_rms) {
  for (int i = 0; i < chunk_.count; ++i) {
    const float rms = state_rms[static_cast<size_t>(i)];
    if (!std::isfinite(rms)) {
      Fail(fmt::format("the hidden state at position {} is not finite (prefill pass {})", chunk_.position + i,
                       chunk_.pass + 1));
      return false;
    }
    NoteState(rms);
  }
  return true;
}

void Sequence::Accept(const StepResult& result, Clock::time_point started, Clock::time_point ended) {
  if (chunk_.count == 0 && query_count_ == 0) return;
  Cost& cost = answer_.cost;
  if (!started_) {
    first_step_ = started;
    cost.queue_seconds = Seconds(submitted_, started);
    started_ = true;
  }
  CountRows();
  const std::span<const float> state_rms =
      std::span(result.state_rms)
          .subspan(chunk_.count > 0 ? first_row_ : 0, static_cast<size_t>(chunk_.count));
  if (CheckStates(state_rms)) {
    if (chunk_.count > 0) walk_.Advance(chunk_, state_rms);
    for (size_t i = 0; i < query_count_ && !finished_; ++i) Hear(result.queries.at(first_query_ + i));
  }
  if (query_count_ > 0 && !has_token_) {
    first_token_ = ended;
    has_token_ = true;
  }
  cost.prefill_seconds = Seconds(first_step_, has_token_ ? first_token_ : ended);
  if (has_token_) cost.decode_seconds = Seconds(first_token_, ended);
  chunk_ = {};
  query_count_ = 0;
}

void Sequence::Fail(std::string why) {
  answer_.fault = std::move(why);
  Abandon();
  Finish();
}

namespace {

bool AllFinite(const QueryResult& result) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::all_of(result.target_logprobs.begin(), result.target_logprobs.end(), finite) &&
         std::all_of(result.top.begin(), result.top.end(),
                     [&](const TokenLogprob& entry) { return finite(entry.logprob); }) &&
         finite(result.sampled.logprob);
}

constexpr int kDefaultTop = 2;

class GenerateSequence : public Sequence {
 public:
  GenerateSequence(GenerateRequest request, const GenerateLimits& limits, const Memory& memory)
      : Sequence(request.id, static_cast<int>(request.prompt.size()), MakePlan(request, limits), memory),
        request_(std::move(request)),
        limits_(limits),
        text_(limits.tokenizer, request_.stop_strings) {
    if (prompt_size_ >= limits_.max_context) Stop(StopReason::kContext);
    if (request_.max_new_tokens == 0) Stop(StopReason::kLength);
  }

 private:
  static Walk::Plan MakePlan(const GenerateRequest& request, const GenerateLimits& limits) {
    const int prompt = static_cast<int>(request.prompt.size());
    // The last token is never run.
    const int64_t most = int64_t{prompt} + std::max(request.max_new_tokens, 1) - 1;
    return {request.prompt,  prompt, prompt, static_cast<int>(std::min<int64_t>(most, limits.max_context)),
            request.setting, prompt};
  }

  void Ask(int, Query* query) const override {
    query->top = std::max(request_.top, kDefaultTop);
    query->sample = true;
    query->spec = {
        .temperature = static_cast<float>(request_.sampling.temperature),
        .top_k = request_.sampling.top_k,
        .top_p = static_cast<float>(request_.sampling.top_p),
        .key = RandomKey(request_.sampling.seed, request_.item_key, static_cast<uint64_t>(request_.sample)),
        .counter = answer_.tokens.size()};
  }

  void Hear(const QueryResult& result) override {
    if (!AllFinite(result)) {
      Fail(fmt::format("a log-probability at position {} is not finite", walk_.tokens().size() - 1));
      return;
    }
    GeneratedToken token;
    token.id = result.sampled.token;
    token.logprob = result.sampled.logprob;
    const TokenLogprob& runner_up =
        result.top[0].token == token.id && result.top.size() > 1 ? result.top[1] : result.top[0];
    token.runner_up = runner_up.token;
    token.runner_up_logprob = runner_up.logprob;
    if (request_.top > kDefaultTop) token.top = result.top;
    answer_.tokens.push_back(std::move(token));
    const std::vector<int32_t>& ends = *limits_.end_tokens;
    if (std::find(ends.begin(), ends.end(), result.sampled.token) != ends.end()) {
      text_.PushSilent();
      Stop(StopReason::kEnd);
    } else if (text_.Push(result.sampled.token)) {
      Stop(StopReason::kStopString);
    } else if (static_cast<int>(answer_.tokens.size()) >= request_.max_new_tokens) {
      Stop(StopReason::kLength);
    } else if (prompt_size_ + static_cast<int>(answer_.tokens.size()) >= limits_.max_context) {
      Stop(StopReason::kContext);
    } else {
      walk_.Append(result.sampled.token);
    }
  }

  void Stop(StopReason reason) {
    answer_.stop_reason = reason;
    KeepText();
    Finish();
  }

  void Abandon() override { KeepText(); }

  void KeepText() {
    text_.Finish();
    answer_.text = text_.Kept();
    answer_.trace_tokens = text_.KeptTokens();
    for (size_t i = 0; i < answer_.tokens.size(); ++i) answer_.tokens[i].text_end = text_.ends()[i];
  }

  const GenerateRequest request_;
  const GenerateLimits limits_;
  GeneratedText text_;
};

class ScoreSequence : public Sequence {
 public:
  ScoreSequence(const ScoreRequest& request, const Memory& memory)
      : Sequence(request.id, static_cast<int>(request.context.size()), MakePlan(request), memory) {}

 private:
  static Walk::Plan MakePlan(const ScoreRequest& request) {
    std::vector<int32_t> tokens = request.context;
    tokens.insert(tokens.end(), request.continuation.begin(), request.continuation.end());
    const int run = static_cast<int>(tokens.size()) - 1;  // the last token's own logits say nothing here
    // Several passes over both parts; also one pass over both, which is what teacher forcing comes to where
    // every input is plain.
    const bool together = request.setting.mode == Mode::kParallel || !request.setting.UsesFeedback();
    const int prefill = together ? run : static_cast<int>(request.context.size());
    return {std::move(tokens), prefill, run, run, request.setting, static_cast<int>(request.context.size())};
  }

  int32_t Target(size_t scored) const { return walk_.tokens()[static_cast<size_t>(prompt_size_) + scored]; }

  void Ask(int position, Query* query) const override {
    query->targets = {Target(static_cast<size_t>(position + 1 - prompt_size_))};
    query->top = kDefaultTop;
  }

  void Hear(const QueryResult& result) override {
    const size_t scored = answer_.logprobs.size();
    if (!AllFinite(result)) {
      Fail(fmt::format("a log-probability at position {} is not finite", prompt_size_ - 1 + scored));
      return;
    }
    answer_.logprobs.push_back(result.target_logprobs.at(0));
    answer_.greedy.push_back(result.top.at(0).token == Target(scored));
    if (static_cast<size_t>(prompt_size_) + scored + 1 == walk_.tokens().size()) Finish();
  }

  // Some of a continuation's log-probabilities could pass for all of them.
  void Abandon() override {
    answer_.logprobs.clear();
    answer_.greedy.clear();
  }
};

}  // namespace

std::unique_ptr<Sequence> MakeSequence(GenerateRequest request, const GenerateLimits& limits,
                                       const Memory& memory) {
  return std::make_unique<GenerateSequence>(std::move(request), limits, memory);
}

std::unique_ptr<Sequence> MakeSequence(ScoreRequest request, const Memory& memory) {
  return std::make_unique<ScoreSequence>(request, memory);
}

}  // namespace fullband
