// What was measured, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/work.h"

namespace fullband {

// One piece of work, done again and again.
struct Figure {
  std::vector<double> seconds;  // one a repeat, without the first, which warmed up
  double tokens = 0;            // of one repeat
  Work work;                    // likewise
};

// Opening a model's folder: weights checked and packed, the tokenizer read, the first step possible.
struct LoadingFigure {
  double first = 0;             // seconds; its files may have been read from a disk
  std::vector<double> seconds;  // one a repeat
};

struct PrefillFigure {
  std::string setting;
  int prompt = 0;  // tokens
  int chunk = 0;   // rows a step at most
  Figure figure;
};

struct DecodeFigure {
  std::string setting;
  int batch = 0;
  int context = 0;  // positions that the last of the steps saw
  Figure figure;
};

// Two pieces of work in turn, the first one first in every other pair.
struct Pairs {
  std::vector<double> first, second;  // seconds
  std::vector<double> ratios;         // of the seconds, scaled as the figure says
};

struct DecodeOverhead {
  std::string setting, over;  // ratio: seconds a token under `setting` / under `over`
  int batch = 0, context = 0;
  Pairs pairs;
};

struct PrefillOverhead {
  std::string setting, over;  // ratio: seconds of P passes / (P x those of one pass)
  int passes = 0;
  int prompt = 0, chunk = 0;
  Pairs pairs;
};

struct SharedPrefix {
  std::string setting;  // ratio: seconds without sharing / with it
  int batch = 0, context = 0, shared = 0;
  Pairs pairs;  // first: sharing
};

struct SuiteFigure {
  std::string suite, setting;
  int64_t items = 0;  // asked
  int64_t not_asked = 0;
  double seconds = 0;
  int64_t steps = 0;
  int64_t prompt_tokens = 0;
  int64_t decoded_tokens = 0;  // generated or scored
  int64_t rows = 0;            // position forwards
  int64_t saved_rows = 0;      // by the prefix tree
  double prefill_seconds = 0;  // of the steps; a mixed step's time is split by its rows
  double decode_seconds = 0;
};

// Where the time of a step goes, on average over some.
struct StepProfile {
  std::string what, setting;  // "prefill, 512 tokens, chunk 128"
  int64_t steps = 0;
  struct Part {
    std::string name;
    double seconds = 0;  // a step
  };
  std::vector<Part> parts;  // those that took any
};

struct MemoryFigures {
  int64_t resident = 0, peak = 0;  // bytes of the process
  int64_t weights = 0;             // as packed
  int64_t pages = 0;               // reserved
};

struct LeftOut {
  std::string what, why;
};

struct CacheSize {
  int level = 0;
  std::string type;  // as the system names it: "Data", "Instruction", "Unified"
  int64_t bytes = 0;
};

struct MachineFigures {
  std::string processor;
  std::string target;
  int threads = 0;
  std::vector<CacheSize> caches;  // of the first processor
  int64_t probe_bytes = 0;        // a buffer of the probes
  std::optional<MachineBounds> bounds;
};

struct BenchReport {
  MachineFigures machine;
  std::optional<LoadingFigure> loading;  // none of random models, which have no folder
  std::vector<PrefillFigure> prefill;
  std::vector<DecodeFigure> decode;
  std::vector<DecodeOverhead> decode_overhead;
  std::vector<PrefillOverhead> prefill_overhead;
  std::vector<SharedPrefix> shared_prefix;
  std::vector<SuiteFigure> suites;
  std::vector<StepProfile> profiles;
  MemoryFigures memory;
  std::vector<LeftOut> left_out;
  bool stopped = false;
};

}  // namespace fullband
