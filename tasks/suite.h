// A suite: what is asked, as one TOML file says it. See CONTRIBUTING.md, "Add a suite".
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/regex.h"

namespace fullband {

enum class Ask {
  kGenerate,  // complete the prompt; graders read the text
  kChoose,    // compare the log-probabilities of given continuations
};
const char* AskName(Ask ask);  // "generate", "choose"

// What differs between the choices of an item, where choices are asked.
enum class Choices {
  kContinuations,  // the texts that are scored after the item's one context
  kContexts,       // what stands before: one continuation is scored after each (partial evaluation)
  kOne,            // nothing: there is one continuation, scored for itself
};

enum class Format { kCompletion, kChat };
// Throws a usage Error with near names.
Format ParseFormat(const std::string& text);
const char* FormatName(Format format);  // "completion", "chat"

// One question of the data, or one shot: the fields of a data line under the names the suite's templates use.
struct Item {
  std::string id;  // the data set's own where it has one, else the zero-based row
  nlohmann::json fields;
  size_t part = 0;  // of the suite's parts; 0 where it has none
};

// Where a completion's answer is, for graders that know no answer's form (evals/graders/grader.h).
struct AnswerWording {
  std::string pattern;  // a regular expression; empty: the answer is the whole text
  bool ignore_case = false;
};

// Of items whose ids are whole numbers, those from first to last.
struct IdRange {
  int64_t first = 0, last = 0;
};

struct DataFile {
  std::string path;            // below the folder of the suite's TOML file, or below a data folder
  std::string origin;          // repository, path and licence: said when the file is missing
  std::string sha256;          // of the file; empty where any content will do
  std::optional<IdRange> ids;  // which of its items; all where nothing is said
};

// Items that are read from another file than the others, as theirs is faulty.
struct Replaced {
  DataFile data;
  std::vector<std::string> ids;
};

// How programs that a model writes are run.
struct Execution {
  int wall_seconds = 30;
  int cpu_seconds = 10;              // of all processes together
  int memory_mib = 1024;             // of each process, and of all together
  std::vector<std::string> modules;  // of Python, beyond its own, that the tests import
};

// One of the data files of a suite that has several, such as MMLU's subjects. Its items are asked after shots
// of its own.
struct Part {
  std::string name;  // fills {part} in the suite's paths, and begins the ids of its items: "anatomy/12"
  DataFile data;
  DataFile shot_data;                         // empty path: shots are drawn from `data`
  std::map<std::string, std::string> fields;  // the reader's part_fields
};

// A text field made of another one.
struct DerivedField {
  std::string name, from;
  std::shared_ptr<const Regex> pattern;  // what its first group captures; it must match
};

// How an item is put in one format. Templates have {field} holes ({{ and }} are literal braces); what fills a
// hole is never read as a template again.
struct Wording {
  std::string
      preamble;  // before the shots; chat: the system prompt, or what follows the caller's. May be empty
  std::string question;  // up to where the model goes on; Choices::kContexts: with a {choice} hole
  std::string answer;    // what a shot has there; other choices: the continuation, with a {choice} hole
  std::vector<std::string> stop_strings;  // generate
};

struct Suite {
  std::string name;
  int version = 1;
  std::string title;
  std::filesystem::path file;  // the TOML file it was read from
  Ask ask = Ask::kGenerate;
  std::string reader;                         // how a data file becomes items: a name of ReaderNames()
  Choices choices = Choices::kContinuations;  // choose
  DataFile data;
  DataFile shot_data;        // empty path: shots are drawn from `data` and then not asked
  int shots = 0;             // default number
  bool first_shots = false;  // shots are the first of their file, in its order, and not drawn
  bool same_ids = false;     // an item whose id a shot has is that shot's own, and is not asked after it
  std::optional<Replaced> replaced;
  std::vector<Part> parts;  // by name; where there are any, `data` and `shot_data` are templates of paths
  std::vector<DerivedField> derived;
  Wording completion, chat;
  std::string shot_separator;           // between shots in completion format
  std::string gold;                     // generate: template of the reference answer that graders are given
  int max_new_tokens = 0;               // generate
  std::vector<std::string> graders;     // the first is the headline
  std::optional<AnswerWording> answer;  // generate: what [answer] tells the graders that heed it
  // Fields of the reader (its `groups`) by whose values reports break accuracy down; the last one's are a
  // table's rows. Up to two.
  std::vector<std::string> report_by;
  Execution execution;  // generate, readers of programs
  // The file as canonical JSON without what only describes it (title, origins, report): part of a run's
  // identity.
  nlohmann::json definition;

  const Wording& wording(Format format) const { return format == Format::kChat ? chat : completion; }
};

// All files that the suite reads, those with shots behind each one's data.
std::vector<DataFile> DataFiles(const Suite& suite);

// The folder of the suites that have names.
std::filesystem::path SuiteFolder();
// Their names, sorted.
std::vector<std::string> SuiteNames();
// By name, or by path to a TOML file (anything with a '/' or ending in ".toml"). Throws Error naming file,
// line and key: an unknown name or key (with near ones), a missing key, a value of the wrong type or out of
// range.
Suite LoadSuite(const std::string& name_or_path);

}  // namespace fullband
