// How a pair of runs stands in tables and notes.
#pragma once

#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/document/document.h"

namespace fullband {

// What a table's rows are told apart by.
enum class PairRows {
  kSettings,  // of one suite: model, the two settings, how both were asked
  kModels,    // of one suite: setting, the two models, how both were asked
  kSuites,    // of the same two runs: suite, how both were asked
};

// The columns that say which pair it is, then `more`; with an asterisk where more differs than is compared.
std::vector<Column> PairColumns(PairRows rows, std::vector<Column> more);
std::vector<Cell> PairCells(PairRows rows, const Comparison& pair, std::vector<Cell> more);

// As notes call it: "toy-1m, standard and latent (10d98e55, 7d9cd194)".
std::string NameOfPair(const Comparison& pair);
// One side as people name it: "toy-1m/standard".
std::string NameOfSide(const RunResults& run);

}  // namespace fullband
