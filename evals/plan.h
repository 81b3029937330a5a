// From what a user asks to what will be run: models x suites x settings. Everything that can be refused
// without loading weights is refused here, before anything runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evals/graders/thoughts.h"
#include "evals/judge.h"
#include "tasks/task.h"

namespace fullband {

// What is asked for at once: every model, suite and setting named with every other one.
struct SweepRequest {
  std::vector<std::string> models;  // folders
  std::vector<std::string> suites;  // names, or paths to TOML files
  std::vector<std::string> settings;
  TaskOptions task;
  Sampling sampling;
  std::string think;  // markers of thoughts, "OPEN,CLOSE"; empty: each model's own
  int samples = 1;
  GradingOptions grading;
  // Where in a file options stand, by their names on the command line: {"--setting", "a.toml, line 3,
  // settings"}. Errors then name these places, and keys in the place of options. Empty: the command line.
  std::map<std::string, std::string> places = {};
};

struct PlannedModel {
  std::filesystem::path folder;
  ModelConfig config;
  std::shared_ptr<ChatTemplate> chat;           // chat format only
  std::optional<ThoughtMarkers> thoughts = {};  // as asked for, or as its folder says
};

struct Plan {
  std::vector<PlannedModel> models;
  std::vector<TaskData> suites;
  std::vector<Setting> settings;
  Sampling sampling;
  int samples = 1;
  GradingOptions grading;
};

// Throws a usage Error: an unknown suite, setting, grader or model (with near names); the same one twice, or
// two spellings of one setting; a setting that a model's weights do not support, or that only scores asked of
// a generate suite; chat format for a model without a chat template; several samples without a temperature;
// sampling options out of range or without a temperature; markers of thoughts that are none. Throws Error for
// data files that are missing or malformed, and for suites of programs on a machine that cannot run them.
Plan MakePlan(const SweepRequest& request);

}  // namespace fullband
