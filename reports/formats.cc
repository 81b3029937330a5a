#include "reports/formats.h"

#include <algorithm>

#include "common/error.h"
#include "common/names.h"
#include "reports/document/csv.h"
#include "reports/document/latex.h"
#include "reports/document/markdown.h"

namespace fullband {
namespace {

std::vector<ReportFile> Markdown(const ReportSource& source) {
  return {{"report.md", RenderMarkdown(source.document)}};
}

std::vector<ReportFile> Csv(const ReportSource& source) { return CsvFiles(source.document); }

std::vector<ReportFile> Latex(const ReportSource& source) { return LatexFiles(source.document); }

}  // namespace

const std::vector<ReportFormat>& ReportFormats() {
  static const std::vector<ReportFormat> formats = {
      {"md", "report.md", Markdown},
      {"csv", "csv/*.csv, a file a table", Csv},
      {"latex", "latex/*.tex, a file a table, and report.tex, which has them all", Latex},
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
