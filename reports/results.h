// What reports read of a store: runs with their items, samples and newest grades, without texts and
// log-probabilities.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/imported.h"
#include "evals/store/store.h"

namespace fullband {

enum class Result {
  kUngraded,  // no verdict of this grader yet
  kCorrect,
  kIncorrect,
  kNoAnswer,
  kTimeout,
  kFault,  // the harness's own failure, of the sample or of the grader
};

struct GradeResult {
  Result result = Result::kUngraded;
  int version = 0;
};

struct SampleResult {
  int sample = 0;
  bool fault = false;      // of the sample itself
  bool truncated = false;  // ended by the token limit or the context
  int64_t trace_tokens = 0;
  int64_t thought_tokens = 0;  // of these, inside thoughts
  bool ends_in_thought = false;
  std::string tokens_sha256;                  // equal for equal traces
  std::map<std::string, GradeResult> grades;  // by grader
  // By the headline grader: 0 the right answer, 1, 2, ... wrong ones, equal numbers for equal answers of the
  // item; -1 without one, and where RunResults::compares_answers is false.
  int answer = -1;
  std::optional<double> only_logprob = {};  // of the one continuation, where the item has no other choice

  // Of a grader; kFault whatever the graders say where the sample is one.
  Result Of(const std::string& grader) const;
};

// A field that accuracy is broken down by, and an item's value.
struct GroupValue {
  std::string field;
  std::string text;
  std::optional<int64_t> number;  // where the value is one
};

struct ItemResult {
  std::string item;
  std::vector<SampleResult> samples;
  std::vector<GroupValue> groups = {};  // in the suite's order
};

// Summed over a run's samples and sessions.
struct SummedCost {
  int64_t generated_tokens = 0;
  int64_t prefill_forwards = 0, saved_forwards = 0, decode_forwards = 0;
  double decode_seconds = 0;  // of each sequence, so that those decoded together count several times
  double wall_seconds = 0;
  int64_t peak_memory_bytes = 0;
};

struct RunResults {
  RunRecord run;
  ModelRecord model;
  std::vector<ItemResult>
      items;                 // all that were asked for, in data order; those without samples are not done
  int samples_per_item = 0;  // the most that an item has
  bool compares_answers = false;  // whether samples have numbers of their answers
  int64_t shots_dropped = 0;      // items that lost shots to fit the context
  SummedCost cost;
  std::vector<std::string> machines;         // "host: machine", each once, in order of appearance
  std::optional<ImportedRun> imported = {};  // where another engine made it; its model's name then says so

  // Whether samples have this (evals/store/imported.h). Ours have all.
  bool Knows(const std::string& field) const { return !imported || imported->Has(field); }
};

struct ThoughtTokens {
  int64_t tokens = 0;       // of the kept text, inside thoughts
  bool unfinished = false;  // the trace ends inside one
};

// What reports cannot tell from the store alone. They are given it, since they know no grader.
struct ReadOptions {
  // Numbers the answers of one item's verdicts by the run's headline grader (evals/votes.h); nothing where
  // they are not compared. Empty: no answers are compared.
  std::function<std::optional<std::vector<int>>(const RunRecord&, const std::vector<GradeRecord>&)> answers;
  // What counts thoughts in a run's samples, with their blobs (evals/sample_thoughts.h). Empty: there are
  // none.
  std::function<std::function<ThoughtTokens(const SampleRecord&)>(const RunRecord&)> thoughts;
  std::function<bool(const RunRecord&)> wanted = {};  // which runs are read; empty: all
};

// All runs of a store, sorted: suite, model, format, shots, setting, age.
std::vector<RunResults> ReadResults(Store& store, const ReadOptions& options = {});

// Sorts settings as people list them: standard, latent, latent@2, ..., latent@exact, parallel@2, ...;
// controls after what they spoil.
bool SettingBefore(const std::string& a, const std::string& b);

}  // namespace fullband
