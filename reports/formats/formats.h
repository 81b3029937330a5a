// The formats that a report is written in. A new one is a row of the table in formats.cc.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evals/store/store.h"
#include "reports/document/document.h"
#include "reports/results.h"

namespace fullband {

// What a format is made of: most need the document alone.
struct ReportSource {
  Store& store;
  std::span<const RunResults> runs;  // all of the store's
  const Document& document;          // of these runs
};

struct ReportFormat {
  std::string name;   // as --format takes it
  std::string files;  // which it writes, for help
  // Writes them below the folder, each whole or not at all, making folders where there are none; returns
  // their paths. Throws Error.
  std::vector<std::filesystem::path> (*write)(const ReportSource& source,
                                              const std::filesystem::path& folder);
};

const std::vector<ReportFormat>& ReportFormats();

// By name, in the order of the names. Throws a usage Error for one that is none (with near names) and for one
// that is named twice.
std::vector<const ReportFormat*> FindFormats(const std::vector<std::string>& names);

}  // namespace fullband
