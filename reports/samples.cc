#include "reports/samples.h"

#include <algorithm>
#include <functional>
#include <set>

#include "common/majority.h"
#include "common/pass_at_k.h"
#include "reports/figures.h"
#include "reports/statistics/summaries.h"

namespace fullband {
namespace {

bool Counts(Result result) { return result != Result::kFault && result != Result::kUngraded; }

using OfItem = std::function<std::optional<double>(const ItemResult& item)>;

ChanceAtK OverItems(const RunResults& results, int k, const OfItem& of_item) {
  ChanceAtK chance;
  chance.k = k;
  std::vector<double> values;
  for (const ItemResult& item : results.items) {
    if (item.samples.empty()) continue;
    const std::optional<double> value = of_item(item);
    if (value) values.push_back(*value);
    chance.short_items += !value;
  }
  chance.items = static_cast<int64_t>(values.size());
  chance.mean = Mean(values);
  chance.error = StandardError(values);
  return chance;
}

std::vector<double> BySample(const RunResults& results) {
  std::vector<std::vector<double>> scores(static_cast<size_t>(results.samples_per_item));
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      const Result result = sample.Of(results.run.headline);
      if (!Counts(result)) continue;
      const auto index = static_cast<size_t>(sample.sample);
      if (index >= scores.size()) scores.resize(index + 1);
      scores[index].push_back(result == Result::kCorrect ? 1 : 0);
    }
  }
  std::vector<double> accuracies;
  for (const std::vector<double>& of_one : scores)
    if (const std::optional<double> mean = Mean(of_one)) accuracies.push_back(*mean);
  return accuracies;
}

}  // namespace

std::optional<double> PassAtK(const ItemResult& item, const std::string& grader, int k) {
  int64_t samples = 0, correct = 0;
  for (const SampleResult& sample : item.samples) {
    const Result result = sample.Of(grader);
    samples += Counts(result);
    correct += result == Result::kCorrect;
  }
  return PassAtK(samples, correct, k);
}

std::optional<double> MajorityAtK(const ItemResult& item, const std::string& headline, int k) {
  Votes votes;
  for (const SampleResult& sample : item.samples) {
    if (!Counts(sample.Of(headline))) continue;
    const auto wrong = static_cast<size_t>(std::max(sample.answer, 0));
    if (votes.wrong.size() < wrong) votes.wrong.resize(wrong, 0);
    ++(sample.answer < 0 ? votes.none : sample.answer == 0 ? votes.right : votes.wrong[wrong - 1]);
  }
  return MajorityAtK(votes, k);
}

SampleFigures FiguresOfSamples(const RunResults& results, const std::vector<int>& ks) {
  const std::string& headline = results.run.headline;
  SampleFigures figures;
  figures.samples = results.samples_per_item;
  std::vector<double> scores;
  for (const ItemResult& item : results.items)
    if (const std::optional<double> score = ItemScore(item, headline)) scores.push_back(*score);
  figures.accuracy = Mean(scores);
  figures.error = StandardError(scores);
  figures.by_sample = BySample(results);
  figures.spread = StandardDeviation(figures.by_sample);
  for (const int k : ks) {
    if (k > figures.samples) continue;
    figures.pass.push_back(
        OverItems(results, k, [&](const ItemResult& item) { return PassAtK(item, headline, k); }));
    if (results.compares_answers)
      figures.majority.push_back(
          OverItems(results, k, [&](const ItemResult& item) { return MajorityAtK(item, headline, k); }));
  }
  return figures;
}

std::vector<int> UsualKs(int samples) {
  std::set<int> ks = {1, std::max(samples, 1)};
  for (const int base : {2, 5})
    for (int64_t k = base; k <= samples; k *= base) ks.insert(static_cast<int>(k));
  return {ks.begin(), ks.end()};
}

}  // namespace fullband
