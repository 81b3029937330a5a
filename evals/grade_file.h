// Grades texts that a file holds, without a store or a model.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evals/judge.h"
#include "evals/store/store.h"
#include "tasks/task_data.h"

namespace fullband {

// Either `pairs` and `grader`, or `completions` and `suite`.
struct GradeRequest {
  std::filesystem::path pairs;  // JSON lines {"completion", "gold"}; items are named by their line, from 0
  std::filesystem::path completions;  // JSON lines {"item", "completion"}
  std::string grader;                 // with a suite: any of the table, else its headline grader
  std::string suite;
  std::vector<std::string> stop_strings;  // the text counts up to the first of these; a suite's own count too
  TaskOptions task;                       // of the suite: format, data folder
  GradingOptions grading;
};

struct GradedItem {
  std::string item;
  GradeRecord grade;
};

struct GradedFile {
  std::vector<GradedItem> items;        // in the file's order
  std::map<std::string, int> outcomes;  // how many, for each outcome there is
};

// Throws Error naming file and line for a line that is not such an object, an item that the suite has not or
// that stands twice; a usage Error where the request does not fit together.
GradedFile GradeFile(const GradeRequest& request);

// {"n", "correct", "outcomes": {…}, "items": [{"item", "outcome", "score", "extracted", "detail"}]}
nlohmann::json AsJson(const GradedFile& graded);

}  // namespace fullband
