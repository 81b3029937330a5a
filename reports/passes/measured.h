// What `fullband contraction --json` measured, read back: residual and loss of pass after pass. The store
// does not have it; that it is of one of the store's models is told by the weights' hash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband {

// Names as in docs/decoding.md. Losses are in nats per token, of the reference answers where the texts are a
// suite's items, else of all tokens.
struct MeasuredPass {
  int pass = 0;                                   // from 1 on
  std::optional<double> residual, open_residual;  // from pass 2 on; open: nothing where no position is
  double distance = 0;
  std::optional<double> open_distance;
  double loss = 0;
};

struct MeasuredPasses {
  std::filesystem::path file;
  std::string weights_sha256;
  std::string model;    // by the store's name
  std::string source;   // a suite's name, or that of a text file
  bool suite = false;   // the former
  std::string control;  // that spoilt the feedback, or empty
  int64_t texts = 0;
  std::vector<MeasuredPass> passes;  // 1, 2, ..., at least two
  double recurrence_loss = 0;
  std::string verdict, reason;
};

// Throws Error naming the file and what in it is wrong; where it is none of a model that a run has, too.
MeasuredPasses ReadMeasuredPasses(const std::filesystem::path& file, std::span<const RunResults> runs);

// How charts and tables name each of them where several stand together: its model, with its control.
std::vector<std::string> NamesOf(std::span<const MeasuredPasses> measured);

}  // namespace fullband
