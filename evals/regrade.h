// Runs graders over the samples of a store again, without a model.
//
// - A run is graded by the suite's definition that it was asked with, which its identity holds; what the
//   suite's file says now, or whether it is still there, changes nothing.
// - Earlier verdicts are kept under their version. A verdict that this version has given already is given
//   again and compared: it must be the same. One that differs is reported and kept, unless `replace`; but one
//   that was no verdict (a fault of the grader, a time-out) gives way to one that is.
// - Samples without a verdict come first, and each is committed with its verdicts, so that a process that is
//   killed loses nothing, and the same request again goes on. Judges that run programs work on several
//   samples at once.
// - No lease is needed: a verdict depends on nothing but the sample and the grader's version, whoever gives
// it.
//   A run that another process is working on is graded as far as it is; that process grades the rest, but
//   only by the graders that it knows of.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "evals/judge.h"
#include "evals/progress.h"
#include "evals/store/store.h"

namespace fullband {

struct RegradeRequest {
  std::filesystem::path store;
  std::string suite;                        // by the name that its runs have; or the path of its file
  std::vector<std::string> graders;         // none: those of the suite's definition
  std::string run;                          // the start of a run's key; empty: all runs of the suite
  bool missing = false;                     // grade only what this version has not graded
  GradingOptions grading;                   // how programs are run; the markers of thoughts are the run's own
  bool replace = false;                     // put new verdicts in the place of those they differ from
  const std::atomic<bool>* stop = nullptr;  // ends early when it becomes true
};

// One grader on one run.
struct RegradeRow {
  RunRecord run;
  std::string model;
  std::string grader;
  int version = 0;
  int64_t graded = 0;     // had no verdict of this version
  int64_t same = 0;       // had one, which is given again
  int64_t different = 0;  // had one, and another is given
  int64_t replaced = 0;   // of all that had one: those that were put in its place
  // Of this version, over all samples that were gone through.
  int64_t correct = 0, counted = 0, faults = 0;
  // Against the newest earlier version, where samples have a verdict of it.
  int previous = 0;                           // that version; 0: none
  int64_t changed = 0, gained = 0, lost = 0;  // other outcomes; correct ones more, and less
  int newest = 0;                             // of the verdicts that the store has had
};

struct RegradeResult {
  std::vector<RegradeRow> rows;
  std::vector<std::string> notes;  // one line each: what a user should know of
  bool stopped = false;
  bool different = false;  // some verdicts are not what the same version had given
  bool faults = false;     // some samples could not be graded
};

// Throws Error: trouble with the store; a usage Error for a suite without runs there, an unknown run, a run
// of another suite, an unknown grader, one that does not fit the suite.
RegradeResult Regrade(const RegradeRequest& request, Progress& progress);

// A table with a header line, columns aligned.
std::string RegradeTable(const std::vector<RegradeRow>& rows);

}  // namespace fullband
