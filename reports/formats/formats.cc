#include "reports/formats/formats.h"

#include <algorithm>

#include "common/error.h"
#include "common/names.h"
#include "reports/charts/render.h"
#include "reports/document/csv.h"
#include "reports/document/latex.h"
#include "reports/document/markdown.h"
#include "reports/html/html.h"
#include "reports/html/items.h"
#include "reports/lm_eval/lm_eval.h"
#include "reports/output.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

Paths Markdown(const ReportSource& source, const fs::path& folder) {
  return WriteFiles({{"report.md", RenderMarkdown(source.document)}}, folder);
}

Paths Html(const ReportSource& source, const fs::path& folder) {
  const std::vector<const Chart*> charts = ChartsOf(source.document);
  ImagesByChart images;
  if (!charts.empty()) {
    std::vector<Chart> specs;
    for (const Chart* chart : charts) specs.push_back(*chart);
    const std::vector<std::string> drawn = RenderCharts(specs, ChartTheme::kPage);
    const std::map<std::string, std::string> dark = ChartColours(ChartTheme::kDark);
    for (size_t i = 0; i < charts.size(); ++i) images[charts[i]] = ImagesOf(drawn[i], dark);
  }
  const HtmlItems items(source.store);
  return {WriteHtmlFile(source.document, images, &items, folder)};
}

Paths Csv(const ReportSource& source, const fs::path& folder) {
  return WriteFiles(CsvFiles(source.document), folder);
}

Paths Latex(const ReportSource& source, const fs::path& folder) {
  return WriteFiles(LatexFiles(source.document), folder);
}

Paths Svg(const ReportSource& source, const fs::path& folder) {
  return WriteChartFiles(source.document, {.svg = true}, folder / "charts");
}

Paths Pdf(const ReportSource& source, const fs::path& folder) {
  return WriteChartFiles(source.document, {.pdf = true}, folder / "charts");
}

Paths LmEval(const ReportSource& source, const fs::path& folder) {
  return WriteLmEval(source.runs, source.store, folder / "lm_eval");
}

}  // namespace

const std::vector<ReportFormat>& ReportFormats() {
  static const std::vector<ReportFormat> formats = {
      {"md", "report.md", Markdown},
      {"html", "report.html, one page with charts and every trace", Html},
      {"csv", "csv/*.csv, a file a table", Csv},
      {"latex", "latex/*.tex, a file a table, and report.tex, which has them all", Latex},
      {"svg", "charts/*.svg, light and dark", Svg},
      {"pdf", "charts/*.pdf", Pdf},
      {"json", "lm_eval/*/*, in lm-evaluation-harness's layout", LmEval},
  };
  return formats;
}

std::vector<const ReportFormat*> FindFormats(const std::vector<std::string>& names) {
  std::vector<const ReportFormat*> found;
  for (const std::string& name : names) {
    const auto format = std::find_if(ReportFormats().begin(), ReportFormats().end(),
                                     [&](const ReportFormat& candidate) { return candidate.name == name; });
    if (format == ReportFormats().end()) {
      std::vector<std::string> known;
      for (const ReportFormat& candidate : ReportFormats()) known.push_back(candidate.name);
      throw UsageError("--format " + name, "is not a format of reports", DidYouMean(name, known));
    }
    if (std::find(found.begin(), found.end(), &*format) != found.end())
      throw UsageError("--format " + name, "stands twice", "name each format once");
    found.push_back(&*format);
  }
  return found;
}

}  // namespace fullband
