// The section of a report on passes: charts, figures and verdicts of what `fullband contraction` measured.
#pragma once

#include <span>

#include "reports/document/document.h"
#include "reports/passes/measured.h"

namespace fullband {

// "passes": for each suite or text a chart and a table, and every file's verdict. Nothing of no files.
std::optional<Section> PassesSection(std::span<const MeasuredPasses> measured);

}  // namespace fullband
