#include "reports/lm_eval/lm_eval.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "reports/lm_eval/results_file.h"
#include "reports/lm_eval/samples_file.h"
#include "reports/output.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;
using lm_eval::Bundle;

// Of "2026-01-31T23:59:59.123Z"; 0 where it is no time.
double SecondsSince1970(const std::string& created) {
  std::tm time = {};
  const char* rest = strptime(created.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  return rest == nullptr ? 0 : static_cast<double>(timegm(&time)) + std::strtod(rest, nullptr);
}

// As names of files have it: "2026-01-31T23-59-59.123000", `bump` microseconds later.
std::string DateName(const std::string& created, int bump) {
  std::string date = created.substr(0, created.find_first_of(".Z"));
  for (char& c : date)
    if (c == ':') c = '-';
  const size_t dot = created.find('.');
  const int millis = dot == std::string::npos ? 0 : std::atoi(created.c_str() + dot + 1);
  return fmt::format("{}.{:06}", date, millis * 1000 + bump);
}

// Models that share a name are told apart by their weights.
std::map<int64_t, std::string> NamesOf(std::span<const RunResults> results) {
  std::map<std::string, std::set<int64_t>> models;
  for (const RunResults& run : results) models[run.model.name].insert(run.model.id);
  std::map<int64_t, std::string> names;
  for (const RunResults& run : results) {
    const bool shared = models[run.model.name].size() > 1;
    names[run.model.id] =
        shared ? fmt::format("{}-{}", run.model.name, run.model.weights_sha256.substr(0, 8)) : run.model.name;
  }
  return names;
}

bool HasSuite(const Bundle& bundle, const std::string& suite) {
  for (const RunResults* run : bundle.runs)
    if (run->run.suite == suite) return true;
  return false;
}

// A run joins the first bundle of its model and setting that lacks its suite.
std::map<std::string, std::vector<Bundle>> BundlesOf(std::span<const RunResults> results) {
  const std::map<int64_t, std::string> names = NamesOf(results);
  std::map<std::string, std::vector<Bundle>> bundles;
  for (const RunResults& run : results) {
    const std::string name = names.at(run.model.id) + "/" + run.run.setting;
    std::vector<Bundle>& mine = bundles[lm_eval::FolderName(name)];
    auto place = mine.begin();
    while (place != mine.end() && HasSuite(*place, run.run.suite)) ++place;
    if (place == mine.end()) place = mine.insert(place, Bundle{name, "", 0, {}});
    place->runs.push_back(&run);
  }
  for (auto& [folder, mine] : bundles) {
    std::set<std::string> dates;
    for (Bundle& bundle : mine) {
      std::string created = bundle.runs.front()->run.created;
      for (const RunResults* run : bundle.runs) created = std::min(created, run->run.created);
      bundle.seconds = SecondsSince1970(created);
      for (int bump = 0; bundle.date.empty() || !dates.insert(bundle.date).second; ++bump)
        bundle.date = DateName(created, bump);
    }
  }
  return bundles;
}

void WriteBundle(const Bundle& bundle, Store& store, const fs::path& folder, std::vector<fs::path>* written) {
  std::map<std::string, std::string> hashes;
  for (const RunResults* run : bundle.runs) {
    if (!lm_eval::HasSamples(*run)) continue;
    const fs::path path = folder / fmt::format("samples_{}_{}.jsonl", run->run.suite, bundle.date);
    WriteWhole(path,
               [&](std::ostream& out) { hashes[run->run.suite] = lm_eval::WriteSamples(*run, store, out); });
    written->push_back(path);
  }
  const fs::path path = folder / fmt::format("results_{}.json", bundle.date);
  WriteWhole(path, [&](std::ostream& out) {
    out << lm_eval::ResultsJson(bundle, hashes)
               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
        << '\n';
  });
  written->push_back(path);
}

}  // namespace

std::vector<fs::path> WriteLmEval(std::span<const RunResults> results, Store& store, const fs::path& folder) {
  std::vector<fs::path> written;
  for (const auto& [name, bundles] : BundlesOf(results)) {
    for (const Bundle& bundle : bundles) WriteBundle(bundle, store, folder / name, &written);
  }
  return written;
}

}  // namespace fullband
