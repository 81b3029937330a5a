#include "reports/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "reports/figures.h"
#include "reports/statistics/bootstrap.h"
#include "reports/statistics/significance.h"
#include "reports/statistics/summaries.h"

namespace fullband {

namespace {

using nlohmann::json;

// Two runs' values of one item, both valid.
struct Pair {
  double score_a = 0, score_b = 0;
  double length_a = 0, length_b = 0;
  bool truncated = false;
  bool identical = false;
};

bool Any(const ItemResult& item, const std::string& grader, Result result) {
  return std::any_of(item.samples.begin(), item.samples.end(),
                     [&](const SampleResult& sample) { return sample.Of(grader) == result; });
}

double MeanLength(const ItemResult& item) {
  double sum = 0;
  for (const SampleResult& sample : item.samples) sum += static_cast<double>(sample.trace_tokens);
  return sum / static_cast<double>(item.samples.size());
}

bool Truncated(const ItemResult& item) {
  return std::any_of(item.samples.begin(), item.samples.end(),
                     [](const SampleResult& s) { return s.truncated; });
}

bool SameTraces(const ItemResult& a, const ItemResult& b) {
  return std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(), b.samples.end(),
                    [](const SampleResult& x, const SampleResult& y) {
                      return x.sample == y.sample && x.tokens_sha256 == y.tokens_sha256;
                    });
}

PairedDifference Difference(const std::vector<double>& differences) {
  return {static_cast<int64_t>(differences.size()), Mean(differences), BootstrapMean(differences)};
}

void CountDiscordance(const std::vector<Pair>& pairs, Comparison* comparison) {
  for (const Pair& pair : pairs) {
    const bool a = pair.score_a == 1, b = pair.score_b == 1;
    comparison->both += a && b;
    comparison->only_a += a && !b;
    comparison->only_b += !a && b;
    comparison->neither += !a && !b;
  }
  comparison->p = McNemarExact(comparison->only_a, comparison->only_b);
}

void CompareValues(const std::vector<Pair>& pairs, Comparison* comparison) {
  std::vector<double> scores, lengths, finished, right, identical;
  for (const Pair& pair : pairs) {
    const double length = pair.length_b - pair.length_a;
    scores.push_back(pair.score_b - pair.score_a);
    lengths.push_back(length);
    if (!pair.truncated) finished.push_back(length);
    if (pair.score_a == 1 && pair.score_b == 1) right.push_back(length);
    identical.push_back(pair.identical ? 1 : 0);
  }
  comparison->accuracy = Difference(scores);
  if (comparison->a->run.ask != "generate") return;
  const auto both_know = [&](const char* field) {
    return comparison->a->Knows(field) && comparison->b->Knows(field);
  };
  if (both_know("tokens")) comparison->identical = Mean(identical);
  if (!both_know("trace_tokens")) return;
  comparison->length = Difference(lengths);
  if (both_know("stop_reason")) comparison->length_finished = Difference(finished);
  comparison->length_right = Difference(right);
}

// Leaves of a JSON value by their dotted names.
void Flatten(const json& value, const std::string& name, std::map<std::string, std::string>* leaves) {
  if (!value.is_object()) {
    (*leaves)[name] = value.dump();
    return;
  }
  for (const auto& [key, inner] : value.items())
    Flatten(inner, name.empty() ? key : name + '.' + key, leaves);
}

std::string Short(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 37) + "..."; }

std::vector<std::string> IdentityDifferences(const RunRecord& a, const RunRecord& b) {
  std::map<std::string, std::string> left, right;
  Flatten(json::parse(a.identity, nullptr, false), "", &left);
  Flatten(json::parse(b.identity, nullptr, false), "", &right);
  std::set<std::string> names;
  for (const auto& [name, value] : left) names.insert(name);
  for (const auto& [name, value] : right) names.insert(name);
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    // Two imported runs are two files, whatever was done.
    if (name == "setting" || name == "imported.file_sha256" || name == "imported.fields") continue;
    const std::string x = left.contains(name) ? left[name] : "none",
                      y = right.contains(name) ? right[name] : "none";
    if (x != y) differences.push_back(fmt::format("{} ({}, {})", name, Short(x), Short(y)));
  }
  return differences;
}

// Runs that may be compared as settings lie in one group.
bool SameGroup(const RunResults& a, const RunResults& b) {
  return a.run.model_id == b.run.model_id && a.run.suite == b.run.suite && a.run.format == b.run.format &&
         a.run.shots == b.run.shots && a.run.ask == b.run.ask;
}

}  // namespace

Comparison Compare(const RunResults& a, const RunResults& b) {
  Comparison comparison;
  comparison.a = &a;
  comparison.b = &b;
  comparison.also_differs = IdentityDifferences(a.run, b.run);
  comparison.single = a.samples_per_item <= 1 && b.samples_per_item <= 1;
  std::unordered_map<std::string, const ItemResult*> of_b;
  for (const ItemResult& item : b.items) {
    if (!item.samples.empty()) of_b[item.item] = &item;
  }
  comparison.unpaired = static_cast<int64_t>(of_b.size());
  std::vector<Pair> pairs;
  for (const ItemResult& x : a.items) {
    if (x.samples.empty()) continue;
    const auto found = of_b.find(x.item);
    comparison.unpaired += found == of_b.end() ? 1 : -1;
    if (found == of_b.end()) continue;
    const ItemResult& y = *found->second;
    if (Any(x, a.run.headline, Result::kFault) || Any(y, b.run.headline, Result::kFault)) {
      ++comparison.faults;
    } else if (Any(x, a.run.headline, Result::kUngraded) || Any(y, b.run.headline, Result::kUngraded)) {
      ++comparison.ungraded;
    } else {
      pairs.push_back({*ItemScore(x, a.run.headline), *ItemScore(y, b.run.headline), MeanLength(x),
                       MeanLength(y), Truncated(x) || Truncated(y), SameTraces(x, y)});
    }
  }
  comparison.items = static_cast<int64_t>(pairs.size());
  if (comparison.single) CountDiscordance(pairs, &comparison);
  CompareValues(pairs, &comparison);
  return comparison;
}

std::vector<Comparison> CompareSettings(std::span<const RunResults> runs) {
  // Whether a pair differs in its setting alone, by the group's first run and the two settings.
  struct Candidate {
    const RunResults *a, *b;
    bool clean;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (size_t j = i + 1; j < runs.size(); ++j) {
      if (!SameGroup(runs[i], runs[j]) || runs[i].run.setting == runs[j].run.setting) continue;
      candidates.push_back({&runs[i], &runs[j], IdentityDifferences(runs[i].run, runs[j].run).empty()});
    }
  }
  const auto has_clean = [&](const Candidate& pair) {
    return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
      return other.clean && SameGroup(*other.a, *pair.a) && other.a->run.setting == pair.a->run.setting &&
             other.b->run.setting == pair.b->run.setting;
    });
  };
  std::vector<Comparison> comparisons;
  for (const Candidate& pair : candidates) {
    if (pair.clean || !has_clean(pair)) comparisons.push_back(Compare(*pair.a, *pair.b));
  }
  return comparisons;
}

}  // namespace fullband
