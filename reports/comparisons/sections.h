// Comparisons as sections of a report.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/comparisons/families.h"
#include "reports/comparisons/pair_rows.h"
#include "reports/document/document.h"

namespace fullband {

// Of CompareSuite's comparisons the pairs of settings, and of models: at a glance, then accuracy, trace
// lengths, truncated traces, where traces part, cost, as far as there is anything to say, and notes. Nothing
// where there are no such pairs. `suite` begins their names: "gsm8k_settings".
std::optional<Section> SettingsSection(const std::string& suite, std::span<const Comparison> comparisons);
std::optional<Section> ModelsSection(const std::string& suite, std::span<const Comparison> comparisons);

// What CompareAcrossSuites says of all suites' comparisons.
Section AcrossSuitesSection(std::span<const AcrossSuites> across);

// The blocks of any of these: tables and the notes on pairs.
std::vector<Block> PairBlocks(std::span<const Comparison> pairs, PairRows rows);

}  // namespace fullband
