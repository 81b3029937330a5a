#include "cli/sweep_report.h"

#include "cli/report_readers.h"
#include "reports/document/markdown.h"
#include "reports/output.h"
#include "reports/report.h"

namespace fullband {

void WriteSweepReport(const std::filesystem::path& store, const std::filesystem::path& folder) {
  const ReportOptions options = {{}, ReportReaders(), IsSuiteName};
  WriteFiles({{"report.md", RenderReport(*OpenStore(store, StoreMode::kReadOnly), options)}}, folder);
}

}  // namespace fullband
