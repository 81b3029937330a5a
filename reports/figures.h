// The figures of one run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/results.h"
#include "reports/statistics/clusters.h"
#include "reports/statistics/estimate.h"

namespace fullband {

// One grader's view of a run. An item's score is the mean over its samples; items, not samples, are what the
// interval counts, so that repeats of a question never pass for independent evidence. Faults and samples
// without a verdict are left out; what has no answer or ran out of time counts as not correct.
struct Accuracy {
  std::string grader;
  int64_t items = 0;            // with at least one sample that counts
  double correct = 0;           // sum of the items' scores
  std::optional<double> share;  // correct / items
  // 95 %. Wilson's; where some item has several samples that count, Student's over the items' scores, which
  // are then no ones and zeros (reports/statistics/clusters.h), cut off at 0 and 1. Wilson's again where all
  // items have one score or there is but one: those tell nothing of their spread.
  Interval interval;
  bool clustered = false;                          // whether it is Student's
  std::optional<double> answered;                  // share of samples with an answer found, right or wrong
  int64_t faults = 0, timeouts = 0, ungraded = 0;  // samples
  std::vector<int> versions;                       // of the grader, ascending
};

// Lengths in trace_tokens over samples that are no faults.
struct TraceLengths {
  int64_t samples = 0, truncated = 0;
  std::optional<double> mean, median, percentile90;
  std::optional<double> finished;      // mean of those that were not truncated
  std::optional<double> right, wrong;  // means by the headline grader; wrong is all that is not right
  std::optional<double> cut;           // mean of the truncated
};

// Over samples that are no faults.
struct ThoughtFigures {
  int64_t thinking = 0;                    // with a thought, finished or not
  int64_t unfinished = 0;                  // ended inside one
  std::optional<double> share;             // of those that think
  std::optional<double> thought, visible;  // mean tokens of all
};

// Where items have one continuation each: exp of minus the mean of its log-probability, faults left out.
struct Perplexity {
  int64_t items = 0;
  std::optional<double> value;
};

struct RunFigures {
  int64_t items_done = 0;  // with as many samples as any item of the run has
  int64_t items_open = 0;  // asked for and not done
  Accuracy headline;
  std::vector<Accuracy> graders;               // all, the headline first, then by name
  std::optional<double> accuracy_of_finished;  // headline, over samples that were not truncated
  TraceLengths lengths;
  ThoughtFigures thoughts;
  Perplexity perplexity;
};

// The interval of accuracy, as at Accuracy::interval, of items' scores: one number each, the mean over the
// item's samples. `several`: some item has several samples that count.
struct ScoreInterval {
  Interval interval;
  bool clustered = false;
};
ScoreInterval IntervalOfScores(const std::vector<ItemSamples>& scores, bool several);

RunFigures Figures(const RunResults& results);

// An item's mean score by a grader over its samples that count; nothing where none does.
std::optional<double> ItemScore(const ItemResult& item, const std::string& grader);

}  // namespace fullband
