#include "reports/comparisons/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "common/error.h"
#include "common/names.h"
#include "reports/comparisons/identities.h"

namespace fullband {
namespace {

struct Named {
  RunRecord run;
  std::string model;

  std::string Name() const { return model + "/" + run.setting; }
  std::string Text() const {
    return fmt::format("{} ({}, {}, {} shots)", Name(), run.key.substr(0, 8), run.format, run.shots);
  }
};

std::vector<Named> AllRuns(Store& store) {
  std::vector<RunRecord> records = store.Runs();
  std::map<int64_t, std::string> models;
  for (const ModelRecord& model : store.Models()) models[model.id] = model.name;
  std::vector<Named> runs;
  for (RunRecord& record : records) {
    const std::string model = models[record.model_id];
    runs.push_back({std::move(record), model});
  }
  return runs;
}

std::vector<std::string> Suites(const std::vector<Named>& runs) {
  std::set<std::string> suites;
  for (const Named& run : runs) suites.insert(run.run.suite);
  return {suites.begin(), suites.end()};
}

// The runs of the suites, format and shots that are asked for.
std::vector<Named> Narrowed(std::vector<Named> runs, const CompareRequest& request) {
  const std::vector<std::string> known = Suites(runs);
  for (const std::string& suite : request.suites) {
    if (std::find(known.begin(), known.end(), suite) == known.end())
      throw UsageError("--suite " + suite, "the store has no run of it", DidYouMean(suite, known));
  }
  std::erase_if(runs, [&](const Named& run) {
    const bool other_suite =
        !request.suites.empty() &&
        std::find(request.suites.begin(), request.suites.end(), run.run.suite) == request.suites.end();
    return other_suite || (request.format && run.run.format != *request.format) ||
           (request.shots && run.run.shots != *request.shots);
  });
  return runs;
}

std::vector<Named> Meant(const std::vector<Named>& runs, const std::string& word, const char* which) {
  std::vector<Named> found;
  std::set<std::string> known;
  for (const Named& run : runs) {
    if (word == run.Name() || word == run.run.setting || word == run.model) found.push_back(run);
    known.insert({run.Name(), run.run.setting});
  }
  if (!found.empty()) return found;
  for (const Named& run : runs)
    if (!word.empty() && run.run.key.starts_with(word)) found.push_back(run);
  if (found.size() > 1)
    throw UsageError(
        fmt::format("{} {}", which, word), fmt::format("{} runs have keys that start so", found.size()),
        fmt::format("say more of it, e.g. {}", found.front().run.key.substr(0, word.size() + 8)));
  if (found.empty())
    throw UsageError(
        fmt::format("{} {}", which, word),
        "is no model, setting, MODEL/SETTING or beginning of a run's key among the runs that are "
        "asked for",
        DidYouMean(word, {known.begin(), known.end()}));
  return found;
}

// How much two runs differ in: less is better to compare. The rank of none is kNever.
constexpr int kNever = 1000;
int Rank(const Named& a, const Named& b, Identities* identities, std::map<int64_t, RunResults>* results) {
  if (a.run.id == b.run.id) return kNever;
  const auto as_results = [&](const Named& run) -> const RunResults& {
    const auto [place, is_new] = results->try_emplace(run.run.id);
    if (is_new) place->second.run = run.run;
    return place->second;
  };
  const bool alike = a.run.model_id == b.run.model_id || a.run.setting == b.run.setting;
  const bool asked_alike = a.run.format == b.run.format && a.run.shots == b.run.shots;
  const bool clean = identities->Differences(as_results(a), as_results(b)).empty();
  return 4 * !alike + 2 * !asked_alike + !clean;
}

ChosenPair PairOf(const std::string& suite, const std::vector<Named>& runs_a,
                  const std::vector<Named>& runs_b, const CompareRequest& request) {
  Identities identities;
  std::map<int64_t, RunResults> results;
  int best = kNever;
  std::vector<std::pair<const Named*, const Named*>> pairs;
  for (const Named& a : runs_a) {
    for (const Named& b : runs_b) {
      const int rank = Rank(a, b, &identities, &results);
      if (rank >= kNever || rank > best) continue;
      if (rank < best) pairs.clear();
      best = rank;
      pairs.emplace_back(&a, &b);
    }
  }
  const std::string both = request.a + " and " + request.b;
  if (pairs.empty())
    throw UsageError(both, fmt::format("are the same run of {}, {}", suite, runs_a.front().Text()),
                     "name two");
  if (pairs.size() == 1) return {pairs[0].first->run, pairs[0].second->run};
  constexpr size_t kShown = 3;
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(kShown, pairs.size()); ++i)
    texts.push_back(pairs[i].first->Text() + " and " + pairs[i].second->Text());
  throw UsageError(both,
                   fmt::format("{} pairs of runs of {} fit: {}{}", pairs.size(), suite,
                               fmt::join(texts, "; "), pairs.size() > kShown ? "; ..." : ""),
                   "say MODEL/SETTING, how a run's key begins, --format or --shots");
}

}  // namespace

Chosen ChoosePairs(Store& store, const CompareRequest& request) {
  const std::vector<Named> runs = Narrowed(AllRuns(store), request);
  if (runs.empty())
    throw UsageError(store.path().string(), "has no runs of what is asked for",
                     "fullband report lists what it has");
  std::map<std::string, std::pair<std::vector<Named>, std::vector<Named>>> suites;
  for (const Named& run : Meant(runs, request.a, "A")) suites[run.run.suite].first.push_back(run);
  for (const Named& run : Meant(runs, request.b, "B")) suites[run.run.suite].second.push_back(run);
  Chosen chosen;
  for (const auto& [suite, of] : suites) {
    if (of.first.empty() || of.second.empty())
      chosen.one_sided.push_back(suite);
    else
      chosen.pairs.push_back(PairOf(suite, of.first, of.second, request));
  }
  if (chosen.pairs.empty())
    throw UsageError(
        request.a + " and " + request.b,
        fmt::format("no suite has runs of both ({} of one of them)", fmt::join(chosen.one_sided, ", ")),
        "fullband report lists what the store has");
  return chosen;
}

}  // namespace fullband
