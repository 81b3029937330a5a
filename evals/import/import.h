// Brings samples of another engine into a store, so that they are graded, compared and reported like ours.
//
// - An imported run has a key of its own kind: its identity holds who made it (`imported`,
// evals/store/imported.h)
//   and the SHA-256 of the file where a run of ours has weights and numerics. `run` never goes on with one.
// - The file is read and checked whole before the store is touched, and goes into it in one transaction.
// - Samples that have a text or log-probabilities are then graded as ours are; the verdicts they came with
// stay
//   beside ours. Samples without either keep the other engine's verdicts, and these are the run's headline.
// - The same file again adds nothing, and grades what was left ungraded. Another file is another run,
// whatever
//   its model is called.
// - Runs of one model name share a model of the store, weights unknown: the reports take them for the same
//   weights, and say that they do so by the name.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "evals/judge.h"
#include "evals/progress.h"
#include "evals/store/store.h"
#include "tasks/task_data.h"

namespace fullband {

struct ImportRequest {
  std::filesystem::path store, file;
  std::string suite;       // its name, or the path of its file
  std::string model_name;  // what reports call the model
  // A setting of ours that the other engine's mode is the same as; or "other:NAME" for a mode that is none.
  std::string setting;
  TaskOptions task;  // format, shots, data folder, further stop strings
  double temperature = 0;
  double wall_seconds = 0;          // of the whole run; 0: unknown
  std::filesystem::path tokenizer;  // folder of tokenizer.json, for `tokens`; may be empty
  std::string think;                // markers of thoughts, "OPEN,CLOSE"; empty: the usual ones
  bool partial = false;             // items may be missing
  bool grade = true;
  GradingOptions grading;
  const std::atomic<bool>* stop = nullptr;  // ends the grading early when it becomes true
};

struct ImportResult {
  RunRecord run;
  bool there_already = false;
  int64_t items = 0, samples = 0, faults = 0;
  // By the run's headline grader: samples that count, and the correct ones among them.
  int64_t counted = 0, correct = 0;
  std::vector<std::string> notes;  // one line each: what a user should know of
  bool ungraded = false;           // grading was stopped, or some samples could not be graded
  bool stopped = false;
};

// Throws Error naming file, line and field for whatever is wrong with the file (evals/import/sample_file.h),
// for items that are missing without `partial`, and for trouble with the store; a usage Error for an unknown
// suite or setting, a name that is none, options that do not go together.
ImportResult Import(const ImportRequest& request, Progress& progress);

}  // namespace fullband
