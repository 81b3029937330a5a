// What gives a sample its verdict: a grader of texts, a metric of choices, or a run of a program, in one
// shape.
#pragma once

#include <functional>
#include <string>

#include "evals/graders/grader.h"
#include "evals/graders/thoughts.h"
#include "evals/store/store.h"

namespace fullband {

struct Judge {
  std::string name;
  int version = 1;
  std::function<Verdict(const SampleRecord& sample, const std::string& gold)> judge;
  // How many samples it is worth judging at the same time; with more than one, `judge` is thread-safe.
  int at_once = 1;
};

struct GradingOptions {
  bool unprotected = false;  // run model-written programs without a sandbox
  int workers = 0;           // programs that run at the same time; 0: as many as there are processors
  ThoughtMarkers thoughts;   // the model's
};

}  // namespace fullband
