#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/error.h"
#include "reports/comparisons/families.h"
#include "reports/comparisons/sections.h"
#include "reports/document/markdown.h"
#include "reports/document/tables.h"
#include "reports/sections/sections.h"

namespace fullband {

namespace {

Section SuiteSection(const SuiteRows& suite, std::span<const Comparison> comparisons) {
  Section section{suite.suite, SafeName(suite.suite), {}};
  const auto add = [&](std::optional<Section> part) {
    if (part) section.sections.push_back(std::move(*part));
  };
  add(AccuracySection(suite));
  add(GraderSection(suite));
  add(PerplexitySection(suite));
  add(SampleSection(suite));
  for (Section& part : BreakdownSections(suite)) add(std::move(part));
  add(LengthSection(suite));
  add(ThoughtSection(suite));
  add(CostSection(suite));
  add(SettingsSection(suite.suite, comparisons));
  add(ModelsSection(suite.suite, comparisons));
  return section;
}

void CheckKs(std::span<const RunResults> runs, const std::vector<int>& ks) {
  int most = 0;
  for (const RunResults& results : runs) most = std::max(most, results.samples_per_item);
  for (const int k : ks) {
    if (k < 1) throw UsageError(fmt::format("--pass-k {}", k), "must be 1 or more");
    if (k > most)
      throw UsageError(fmt::format("--pass-k {}", k),
                       fmt::format("no run here has so many samples of an item (the most is {})", most),
                       "ask for more with fullband run --samples");
  }
}

}  // namespace

Document BuildReport(const std::filesystem::path& store, std::span<const RunResults> runs,
                     const ReportOptions& options) {
  if (runs.empty()) throw Error(store.string(), "holds no runs", "fullband run --store adds some");
  CheckKs(runs, options.pass_k);
  Document document{"Fullband report", HeadBlocks(store, runs), {}};
  std::vector<Comparison> all;
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end =
        std::find_if(begin, runs.end(), [&](const RunResults& r) { return r.run.suite != begin->run.suite; });
    std::vector<Comparison> comparisons = CompareSuite({begin, end});
    AddSources(options.sources, &comparisons);
    document.sections.push_back(SuiteSection(RowsOfSuite({begin, end}, options.pass_k), comparisons));
    std::move(comparisons.begin(), comparisons.end(), std::back_inserter(all));
    begin = end;
  }
  if (const std::vector<AcrossSuites> across = CompareAcrossSuites(all); !across.empty())
    document.sections.push_back(AcrossSuitesSection(across));
  document.sections.push_back(ProvenanceSection(runs, options.suite_has_name));
  return document;
}

Document BuildReport(Store& store, const ReportOptions& options) {
  ReportOptions with_sources = options;
  with_sources.sources = SourcesOf(store);
  return BuildReport(store.path(), ReadResults(store, options.read), with_sources);
}

std::string RenderReport(Store& store, const ReportOptions& options) {
  return RenderMarkdown(BuildReport(store, options));
}

}  // namespace fullband
