// What is asked of the runtime and what it answers: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compute/step.h"
#include "engine/decode/setting.h"

namespace fullband {

struct Sampling {
  double temperature = 0;  // 0: greedy
  int top_k = 0;           // 0: all
  double top_p = 1;
  uint64_t seed = 0;
};

struct GenerateRequest {
  uint64_t id = 0;  // the caller's, handed back
  std::vector<int32_t> prompt;
  Setting setting;
  Sampling sampling;
  uint64_t item_key = 0;  // identifies the item in the random stream (a hash of its id)
  int sample = 0;         // index of the sample of this item
  int max_new_tokens = 0;
  std::vector<std::string> stop_strings;
  int top = 2;  // best tokens kept per step (at least 2)
};

struct ScoreRequest {
  uint64_t id = 0;
  std::vector<int32_t> context;  // not empty
  std::vector<int32_t> continuation;
  Setting setting;
};

enum class StopReason { kEnd, kStopString, kLength, kContext };
const char* StopReasonName(StopReason reason);  // "end", "stop_string", "length", "context"

struct GeneratedToken {
  int32_t id = 0;
  float logprob = 0;      // natural, untempered
  int32_t runner_up = 0;  // the best token other than `id`
  float runner_up_logprob = 0;
  // Length in bytes of the uncut text after this token, complete characters only (the last token's: all of
  // it).
  int32_t text_end = 0;
  std::vector<TokenLogprob> top;  // the best tokens, where more than the default was asked for
};

struct Cost {
  int64_t prompt_tokens = 0;
  int64_t prefill_forwards = 0;  // prompt positions x prefill passes, as far as they were run
  int64_t saved_forwards = 0;    // what a prefix cache saved of them, not counted there
  int64_t decode_forwards = 0;   // generated or teacher-forced positions that were run
  double queue_seconds = 0;      // from submission to the first step
  double prefill_seconds = 0;    // from the first step to the first token
  double decode_seconds = 0;     // from the first token to the end
};

struct Answer {
  uint64_t id = 0;
  // Generation.
  std::vector<GeneratedToken> tokens;  // all sampled ids, the end token included
  std::string text;                    // kept text: cut at the stop string; special tokens left out
  int trace_tokens = 0;                // ids that contribute at least one byte of `text`
  StopReason stop_reason = StopReason::kLength;
  // Scoring.
  std::vector<float> logprobs;  // one per continuation token
  std::vector<bool> greedy;     // whether that token was the arg max
  // Both.
  std::string fault;  // why there is no valid result (a non-finite state), or empty
  float min_state_rms = 0, max_state_rms = 0;
  Cost cost;
};

}  // namespace fullband
