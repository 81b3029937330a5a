// What a run came to, from the store: the table that ends a `fullband run`.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evals/store/store.h"

namespace fullband {

struct RunSummary {
  std::string model, suite, setting, key;
  bool generates = false;
  int64_t samples = 0;       // committed
  int64_t faults = 0;        // of those without a valid answer, or without a valid verdict of the headline
  int64_t correct = 0;       // by the headline grader
  int64_t truncated = 0;     // ended by the token limit or the context
  int64_t trace_tokens = 0;  // summed
  int64_t tokens = 0;        // generated; for choices, positions run
  double seconds = 0;        // wall time of all sessions
  // Where items have several samples: the most that one has, and for as many as those pass@k and maj@k, by
  // the items that have them all. Nothing where no item has, or where the grader compares no answers.
  int per_item = 1;
  std::optional<double> pass, majority;

  double Accuracy() const;  // correct / (samples - faults); NaN where there is none
};

// Of the items named; `items` empty: of all.
RunSummary Summarize(Store& store, const RunRecord& run, const std::string& model,
                     const std::set<std::string>& items);

// A table with a header line, columns aligned.
std::string SummaryTable(const std::vector<RunSummary>& rows);

// "45 s", "12:34 min", "3:05:10 h".
std::string DurationText(double seconds);

}  // namespace fullband
