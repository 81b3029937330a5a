// What the sections of a suite are made of, and how a run stands in their tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/breakdown.h"
#include "reports/document/document.h"
#include "reports/figures.h"
#include "reports/results.h"

namespace fullband {

struct RunRow {
  const RunResults* results = nullptr;
  RunFigures figures;
};

// One suite's runs in the report's order, and the figures of each.
struct SuiteRows {
  std::string suite;
  std::span<const RunResults> runs;
  std::vector<RunRow> rows;  // one a run
  std::vector<Breakdown> breakdowns;
  std::vector<int> pass_k;  // the k of pass@k and maj@k; none: those of UsualKs
};
SuiteRows RowsOfSuite(std::span<const RunResults> runs, const std::vector<int>& pass_k);

// An empty section of this title, named `suite`_`part`.
Section SectionOf(const SuiteRows& suite, std::string title, const std::string& part);
// "gsm8k: " and the text: a caption says by itself what it is about.
std::string CaptionOf(const SuiteRows& suite, const std::string& text);

// The first eight digits of a run's key, as reports call it.
std::string KeyOf(const RunResults& results);
// How it was asked, short: "chat, 5 shots, T 0.7, 4 samples".
std::string AskedAs(const RunResults& results);
// As notes call it: "toy-1m, standard (10d98e55)".
std::string NameOf(const RunResults& results);
// A column's title for each run: its setting, and whatever else it takes to tell the runs apart.
std::vector<std::string> TitlesOf(const std::vector<const RunResults*>& runs);

// Model, setting and "asked as", then `more`.
std::vector<Column> RunColumns(std::vector<Column> more);
std::vector<Cell> RunCells(const RunResults& results, std::vector<Cell> more);

}  // namespace fullband
