// What a sample would be, had its run had a smaller limit of generated tokens.
//
// With greedy decoding (and with sampling, whose random stream does not depend on the limit) a run with
// `max_new_tokens` n makes the first n tokens of the same trace. So one long run tells the accuracy under
// every smaller budget, without a model. The budget counts as the limit does: in generated tokens, the end
// token included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evals/store/store.h"

namespace fullband {

struct Cut {
  // As the run with this limit would have stored it, as far as graders look: text, tokens, where their texts
  // end, stop reason. A sample that had ended by then is as it was.
  SampleRecord sample;
  bool truncated = false;  // by the budget, or as the sample was
  // What the text may be instead. A store does not hold the bytes of single tokens: where the next
  // character is not ASCII, the last token before the cut may have begun it, and a run that ends so has
  // U+FFFD for it; where the trace had begun a stop string, the text that was kept ends before it. Nearly
  // always empty.
  std::vector<std::string> other_texts;
};

// The sample comes with its blobs; `stop_strings` are its run's. A fault is returned as it is. Throws Error
// where the sample ended by its own limit below the budget: how it would have gone on is not known.
Cut CutAt(const SampleRecord& sample, int64_t budget, const std::vector<std::string>& stop_strings);

// What limits the budgets of a run: its own limit, max_new_tokens. For imported runs, whose limit is not
// known, the shortest trace that ended by it, or, where none did, the longest trace; 0 where there are no
// samples.
int64_t LongestBudget(Store& store, const RunRecord& run);

// Powers of two from a 32nd of the limit on, and the limit.
std::vector<int64_t> UsualBudgets(int64_t limit);

}  // namespace fullband
