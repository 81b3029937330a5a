#include "reports/figures.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/statistics/clusters.h"
#include "reports/statistics/proportions.h"
#include "reports/statistics/summaries.h"

namespace fullband {

namespace {

bool Counts(Result result) { return result != Result::kFault && result != Result::kUngraded; }

Accuracy AccuracyBy(const RunResults& results, const std::string& grader) {
  Accuracy accuracy;
  accuracy.grader = grader;
  std::set<int> versions;
  std::vector<ItemSamples> scores;
  bool several = false;
  int64_t counted = 0, answered = 0;
  for (const ItemResult& item : results.items) {
    const int64_t before = counted;
    for (const SampleResult& sample : item.samples) {
      const Result result = sample.Of(grader);
      accuracy.faults += result == Result::kFault;
      accuracy.timeouts += result == Result::kTimeout;
      accuracy.ungraded += result == Result::kUngraded;
      counted += Counts(result);
      answered += result == Result::kCorrect || result == Result::kIncorrect;
      if (const auto grade = sample.grades.find(grader); grade != sample.grades.end()) {
        versions.insert(grade->second.version);
      }
    }
    if (const std::optional<double> score = ItemScore(item, grader)) {
      ++accuracy.items;
      accuracy.correct += *score;
      scores.push_back({*score});
      several |= counted - before > 1;
    }
  }
  accuracy.versions.assign(versions.begin(), versions.end());
  const ScoreInterval interval = IntervalOfScores(scores, several);
  accuracy.interval = interval.interval;
  accuracy.clustered = interval.clustered;
  if (accuracy.items > 0) accuracy.share = accuracy.correct / static_cast<double>(accuracy.items);
  // Verdicts that were imported tell right from wrong at most.
  if (counted > 0 && !IsImportedGrader(grader))
    accuracy.answered = static_cast<double>(answered) / static_cast<double>(counted);
  return accuracy;
}

TraceLengths Lengths(const RunResults& results) {
  std::vector<double> all, finished, cut, right, wrong;
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      if (sample.fault) continue;
      const double length = static_cast<double>(sample.trace_tokens);
      all.push_back(length);
      (sample.truncated ? cut : finished).push_back(length);
      const Result result = sample.Of(results.run.headline);
      if (Counts(result)) (result == Result::kCorrect ? right : wrong).push_back(length);
    }
  }
  TraceLengths lengths;
  lengths.samples = static_cast<int64_t>(all.size());
  lengths.truncated = static_cast<int64_t>(cut.size());
  if (!results.Knows("trace_tokens")) return lengths;
  lengths.mean = Mean(all);
  lengths.median = Median(all);
  lengths.percentile90 = Quantile(all, 0.9);
  if (results.Knows("stop_reason")) {
    lengths.finished = Mean(finished);
    lengths.cut = Mean(cut);
  }
  lengths.right = Mean(right);
  lengths.wrong = Mean(wrong);
  return lengths;
}

ThoughtFigures ThoughtsOf(const RunResults& results) {
  ThoughtFigures figures;
  std::vector<double> thought, visible;
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      if (sample.fault) continue;
      thought.push_back(static_cast<double>(sample.thought_tokens));
      visible.push_back(static_cast<double>(sample.trace_tokens - sample.thought_tokens));
      figures.thinking += sample.thought_tokens > 0 || sample.ends_in_thought;
      figures.unfinished += sample.ends_in_thought;
    }
  }
  figures.thought = Mean(thought);
  figures.visible = Mean(visible);
  if (!thought.empty())
    figures.share = static_cast<double>(figures.thinking) / static_cast<double>(thought.size());
  return figures;
}

std::optional<double> AccuracyOfFinished(const RunResults& results) {
  if (!results.Knows("stop_reason")) return std::nullopt;
  std::vector<double> scores;
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      const Result result = sample.Of(results.run.headline);
      if (!sample.truncated && Counts(result)) scores.push_back(result == Result::kCorrect ? 1 : 0);
    }
  }
  return Mean(scores);
}

Perplexity PerplexityOf(const RunResults& results) {
  Perplexity perplexity;
  double sum = 0;
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      if (sample.fault || !sample.only_logprob) continue;
      ++perplexity.items;
      sum += *sample.only_logprob;
    }
  }
  if (perplexity.items > 0) perplexity.value = std::exp(-sum / static_cast<double>(perplexity.items));
  return perplexity;
}

}  // namespace

std::optional<double> ItemScore(const ItemResult& item, const std::string& grader) {
  std::vector<double> scores;
  for (const SampleResult& sample : item.samples) {
    const Result result = sample.Of(grader);
    if (Counts(result)) scores.push_back(result == Result::kCorrect ? 1 : 0);
  }
  return Mean(scores);
}

ScoreInterval IntervalOfScores(const std::vector<ItemSamples>& scores, bool several) {
  double correct = 0;
  for (const ItemSamples& item : scores) correct += item.front();
  const Interval wilson = WilsonInterval(correct, static_cast<int64_t>(scores.size()));
  if (!several) return {wilson};
  const Estimate estimate = ClusteredMean(scores);
  if (!estimate.interval || estimate.error.value_or(0) == 0) return {wilson};
  return {{std::max(0.0, estimate.interval->low), std::min(1.0, estimate.interval->high)}, true};
}

RunFigures Figures(const RunResults& results) {
  RunFigures figures;
  std::set<std::string> graders;
  for (const ItemResult& item : results.items) {
    const bool done =
        !item.samples.empty() && static_cast<int>(item.samples.size()) == results.samples_per_item;
    ++(done ? figures.items_done : figures.items_open);
    for (const SampleResult& sample : item.samples) {
      for (const auto& [grader, grade] : sample.grades) graders.insert(grader);
    }
  }
  figures.headline = AccuracyBy(results, results.run.headline);
  figures.graders.push_back(figures.headline);
  graders.erase(results.run.headline);
  for (const std::string& grader : graders) figures.graders.push_back(AccuracyBy(results, grader));
  figures.accuracy_of_finished = AccuracyOfFinished(results);
  figures.lengths = Lengths(results);
  figures.thoughts = ThoughtsOf(results);
  figures.perplexity = PerplexityOf(results);
  return figures;
}

}  // namespace fullband
