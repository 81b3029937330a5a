// Comparisons as tables. Rows are pairs of runs in their order; a table without rows has nothing to say of
// them and is to be left out.
#pragma once

#include <span>

#include "reports/comparisons/families.h"
#include "reports/comparisons/pair_rows.h"
#include "reports/document/document.h"

namespace fullband {

// Whether B is better, by how much, whether that is chance, whether its traces are longer, at what cost.
Table SummaryTable(std::span<const Comparison> pairs, PairRows rows);

Table PairedAccuracyTable(std::span<const Comparison> pairs, PairRows rows);
Table PairedLengthTable(std::span<const Comparison> pairs, PairRows rows);
Table CutTracesTable(std::span<const Comparison> pairs, PairRows rows);
Table PartingTable(std::span<const Comparison> pairs, PairRows rows);
Table PairedCostTable(std::span<const Comparison> pairs, PairRows rows);

// Each run's distribution of trace lengths, A and B in rows of their own.
Table TraceFiguresTable(std::span<const Comparison> pairs, PairRows rows);

Table AcrossSuitesTable(std::span<const AcrossSuites> across);

}  // namespace fullband
