// The report that ends a sweep: what `fullband report --out` writes.
#pragma once

#include <filesystem>

namespace fullband {

void WriteSweepReport(const std::filesystem::path& store, const std::filesystem::path& folder);

}  // namespace fullband
