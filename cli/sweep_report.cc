#include "cli/sweep_report.h"

#include "cli/report_readers.h"
#include "reports/report.h"

namespace fullband {

void WriteSweepReport(const std::filesystem::path& store, const std::filesystem::path& folder) {
  WriteReport(RenderReport(*OpenStore(store, StoreMode::kReadOnly), {{}, ReportReaders()}), folder);
}

}  // namespace fullband
