// A step: everything a backend is asked to do at once. Plain data; nothing finer crosses the interface.
//
// A step holds rows (one position of one sequence in one prefill pass each), grouped in spans of consecutive
// positions that share a page list. The rows' inputs are made first (embedding, or fusion with a kept state),
// then all rows go through the layers together, then the states asked for are kept and the queries answered.
// So a row may read a state slot that another row of the same step overwrites: reads come before writes. A
// query that asks about a kept state reads its slot after that.
#pragma once

#include <cstdint>
#include <vector>

namespace fullband {

// How a fused input spoils the feedback (to show whether it is used at all). See the semantics in docs/.
enum class Control : uint8_t {
  kNone,
  kZero,          // h := 0
  kStale,         // h_{t-2} in place of h_{t-1} (h_0 at t = 1)
  kReversed,      // h with its coordinates in reverse order
  kConstantGate,  // the gate of token 0 for every token (glu only)
};

inline constexpr int32_t kNoSlot = -1;

// One position. The input is the plain embedding of `token` where `state` is kNoSlot, else the fusion of the
// embedding with the state in slot `state` (h_{t-1}); `older_state` (h_{t-2}) is read in its place under
// kStale.
struct Row {
  int32_t token = 0;
  int32_t state = kNoSlot;
  int32_t older_state = kNoSlot;
  int32_t keep_state = kNoSlot;  // slot that receives this row's top-layer state h
  Control control = Control::kNone;
};

// Rows first_row .. first_row + row_count - 1 are positions `position` .. of one sequence. Their keys and
// values are written to, and all positions up to each row's own are read from, `pages`: page i holds
// positions i * page_size .. (i + 1) * page_size - 1, for every layer.
struct Span {
  int32_t first_row = 0;
  int32_t row_count = 0;
  int32_t position = 0;
  std::vector<int32_t> pages;
};

// Copies the first `positions` positions of page `from` to page `to` (all layers) before any row is run, so
// that a sequence can go on from the middle of a page that others share. No page is copied to and from in one
// step.
struct PageCopy {
  int32_t from = 0;
  int32_t to = 0;
  int32_t positions = 0;
};

// Temperature 0 is greedy: the arg max, ties to the lowest id. Otherwise logits / temperature, cut to the
// top_k largest (0: all), then to the smallest set whose probability reaches top_p, drawn with the random
// number Uniform(key, counter).
struct SampleSpec {
  float temperature = 0;
  int32_t top_k = 0;
  float top_p = 1;
  uint64_t key = 0;      // from (seed, item, sample)
  uint64_t counter = 0;  // the step within the sample
};

// What is wanted of the logits of one row, or of a state that was kept earlier: the head alone is run for
// that. All log-probabilities are natural, of the untempered softmax.
struct Query {
  int32_t row = 0;               // unless `state` is given
  int32_t state = kNoSlot;       // the slot of the state that is asked about instead
  std::vector<int32_t> targets;  // log-probabilities of these tokens
  int32_t top = 2;               // the best N tokens, best first, ties by lowest id (at least 2)
  bool sample = false;
  SampleSpec spec;
};

struct Step {
  std::vector<PageCopy> copies;
  std::vector<Row> rows;
  std::vector<Span> spans;     // cover all rows, in order
  std::vector<Query> queries;  // at most one a row; those about rows by ascending row
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;
};

struct QueryResult {
  std::vector<float> target_logprobs;  // as Query::targets
  std::vector<TokenLogprob> top;
  TokenLogprob sampled;  // where Query::sample
};

struct StepResult {
  std::vector<QueryResult> queries;  // as Step::queries
  // Per row: root mean square of the residual stream before the final norm; NaN or Inf where the state is not
  // finite.
  std::vector<float> state_rms;
};

}  // namespace fullband
