// A suite: what is asked, as one TOML file says it. See CONTRIBUTING.md, "Add a suite".
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fullband {

enum class Ask {
  kGenerate,  // complete the prompt; graders read the text
  kChoose,    // compare the log-probabilities of given continuations
};

enum class Format { kCompletion, kChat };
Format ParseFormat(const std::string& text);
const char* FormatName(Format format);

// One question of the data, or one shot: the fields of a data line under the names the suite's templates use.
struct Item {
  std::string id;  // the data set's own (GSM8K: zero-based row)
  nlohmann::json fields;
};

struct DataFile {
  std::string path;    // below a data folder, or below tasks/ for bundled suites
  std::string origin;  // where it comes from, said when it is missing
  std::string sha256;  // of the file; empty where any content will do
};

struct Suite {
  std::string name;
  int version = 1;
  std::string title;
  Ask ask = Ask::kGenerate;
  std::string reader;  // how a data file becomes items: "gsm8k_jsonl", "multiple_choice_jsonl", ...
  bool bundled = false;
  DataFile data;
  DataFile shot_data;  // empty path: shots are drawn from `data` and then not asked
  int shots = 0;       // default number
  // Templates with {field} holes.
  std::string question, answer, answer_prefix, shot_delimiter;
  std::string chat_question;
  std::string chat_answer;
  std::vector<std::string> stop_strings;
  std::vector<std::string> chat_stop_strings;
  int max_new_tokens = 0;
  std::vector<std::string> graders;  // the first is the headline
  nlohmann::json definition;         // the file as canonical JSON: part of a run's identity
};

// Names of the suites in tasks/.
std::vector<std::string> SuiteNames();
// By name or by path to a TOML file. Throws Error: unknown names (with near ones), unknown or missing keys.
Suite LoadSuite(const std::string& name_or_path);

}  // namespace fullband
