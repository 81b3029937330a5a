// Reads files of samples that another engine made. Two layouts are known by their first line:
//
// "fullband": JSON lines of these fields; `item` alone is always needed.
//   item            the id in the suite's data
//   sample          0, 1, ... where an item has several; default: 0
//   fault           why there is no result; then nothing else counts
//   prompt          what was asked
//   verdict         the other engine's: correct, incorrect, no_answer or timeout; or true, false
//   seconds         from request to answer
//   prompt_tokens
// Suites that generate:
//   completion      text
//   tokens          ids, the end token included
//   generated_tokens  how many there are, where `tokens` are not given
//   trace_tokens    those that gave text, without end token and stop string; with a tokenizer they are
//   counted stop_reason     end, stop_string, length or context
// Suites that choose:
//   logprobs        one a choice, natural, summed over its tokens
//   choice_tokens   their numbers of tokens
//   greedy          whether each token was the arg max, one a choice
//   chosen          the chosen one's index from 0, where there are no log-probabilities
//
// "lm_eval": the samples files of lm-evaluation-harness (--log_samples), whose `doc_id` is the item's row. A
// line that repeats an item under another filter adds that filter's verdict.
//
// All lines that are no faults have the same of these fields (but for `prompt`), so that no figure mixes what
// is known with what is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tasks/task_data.h"

namespace fullband {

struct ImportedLine {
  size_t number = 0;  // in the file, from 1
  size_t row = 0;     // of the item, in the suite's data
  int sample = 0;
  std::string fault;
  std::string prompt;
  std::optional<std::string> completion;
  std::optional<std::vector<int32_t>> tokens;
  std::string stop_reason;
  int64_t prompt_tokens = 0, generated_tokens = 0, trace_tokens = 0;
  double seconds = 0;
  std::vector<double> logprobs;
  std::vector<int> choice_tokens;
  std::vector<bool> greedy;
  std::optional<int> chosen;
  std::map<std::string, std::string> verdicts;  // outcome by the grader's name (evals/store/imported.h)
  std::set<std::string> fields;                 // those above that it has, by their names in the file
};

struct SampleFile {
  std::string layout;  // "fullband", "lm_eval"
  std::string sha256;
  std::set<std::string> fields;  // that all lines have which are no faults
  std::vector<ImportedLine> lines;
};

// Throws Error naming file, line and field for whatever is not as above, an item that the suite has not, a
// sample that stands twice, fields that do not go with the suite.
SampleFile ReadSampleFile(const std::filesystem::path& path, const TaskData& data);

}  // namespace fullband
