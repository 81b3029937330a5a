#include "reports/import_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/spelling.h"

namespace fullband {
namespace {

constexpr size_t kMostNamed = 5;

bool Counts(Result result) { return result != Result::kFault && result != Result::kUngraded; }

// Samples in which an imported verdict and the headline's are not both right or both wrong.
std::string Differences(const RunResults& results, const std::string& grader) {
  int64_t compared = 0, lenient = 0, strict = 0;
  std::vector<std::string> items;
  for (const ItemResult& item : results.items) {
    for (const SampleResult& sample : item.samples) {
      const Result theirs = sample.Of(grader), ours = sample.Of(results.run.headline);
      if (!Counts(theirs) || !Counts(ours)) continue;
      ++compared;
      const bool right = theirs == Result::kCorrect;
      if (right == (ours == Result::kCorrect)) continue;
      ++(right ? lenient : strict);
      if (items.size() < kMostNamed) items.push_back(item.item);
    }
  }
  const int64_t differing = lenient + strict;
  if (compared == 0) return "";
  if (differing == 0)
    return fmt::format("{} and {} agree on all {} samples.", grader, results.run.headline, Count(compared));
  return fmt::format(
      "{} differs from {} on {} of {} samples ({} right by it alone, {} by {} alone), e.g. items {}.", grader,
      results.run.headline, Count(differing), Count(compared), Count(lenient), Count(strict),
      results.run.headline, fmt::join(items, ", "));
}

}  // namespace

std::vector<std::string> ImportNotes(const RunResults& results) {
  if (!results.imported) return {};
  const ImportedRun& imported = *results.imported;
  std::vector<std::string> notes = {
      fmt::format("imported (file {}): model, setting and prompt format are as whoever imported it says.",
                  imported.file_sha256.substr(0, 12))};
  if (!imported.Gradable())
    notes.push_back("its verdicts are the other engine's own; there was nothing to grade.");
  if (results.run.ask == "generate" && !imported.Has("trace_tokens"))
    notes.push_back("its trace lengths are not known.");
  if (results.run.ask == "generate" && !imported.Has("stop_reason"))
    notes.push_back("which of its traces were truncated is not known.");
  std::set<std::string> graders;
  for (const ItemResult& item : results.items)
    for (const SampleResult& sample : item.samples)
      for (const auto& [grader, grade] : sample.grades)
        if (IsImportedGrader(grader) && grader != results.run.headline) graders.insert(grader);
  for (const std::string& grader : graders)
    if (std::string text = Differences(results, grader); !text.empty()) notes.push_back(std::move(text));
  return notes;
}

}  // namespace fullband
