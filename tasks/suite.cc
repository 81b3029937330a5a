#include "tasks/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/error.h"
#include "common/names.h"
#include "common/paths.h"
#include "common/toml_table.h"
#include "tasks/groups.h"
#include "tasks/json_toml.h"
#include "tasks/readers.h"
#include "tasks/suite_data.h"
#include "tasks/suite_definition.h"
#include "tasks/text_template.h"

namespace fullband {
namespace {

constexpr int64_t kMostNewTokens = 1 << 20;
constexpr size_t kMostGroups = 2;
constexpr char kProgramGold[] = "{program}";
constexpr char kSuiteFile[] = "suite file";

// Lower-case words joined by '_' (and '@', as in pass@1): what names and graders look like.
bool IsName(const std::string& text, bool with_at = false) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (with_at && c == '@');
  });
}

// Checks that a template is one and has only holes that are filled, `wanted` among them where that is not
// empty.
void CheckTemplate(const TomlTable& table, const std::string& key, const std::string& text,
                   const std::vector<std::string>& fields, const std::string& wanted) {
  TextTemplate parsed;
  try {
    parsed = ParseTemplate(text);
  } catch (const std::invalid_argument& error) {
    throw table.Wrong(key, error.what());
  }
  for (const std::string& hole : parsed.holes)
    if (std::find(fields.begin(), fields.end(), hole) == fields.end())
      throw table.Wrong(key, fmt::format("has a hole {{{}}} that this suite's reader does not fill", hole),
                        DidYouMean(hole, fields));
  const bool has = wanted.empty()
                       ? !parsed.holes.empty()
                       : std::find(parsed.holes.begin(), parsed.holes.end(), wanted) != parsed.holes.end();
  if (!has)
    throw table.Wrong(key, wanted.empty() ? "has no hole" : fmt::format("has no hole {{{}}}", wanted));
}

// The preamble, if there is one, comes before any item, so that only what all items of a part share fills it.
void ReadPreamble(TomlTable& table, const Reader& reader, Wording* wording) {
  wording->preamble = table.Text("preamble", "");
  if (wording->preamble.empty()) return;
  try {
    if (ParseTemplate(wording->preamble).holes.empty()) return;
  } catch (const std::invalid_argument&) {  // CheckTemplate says so
  }
  CheckTemplate(table, "preamble", wording->preamble, reader.part_fields, "");
}

Wording ReadWording(TomlTable& table, const Reader& reader, const Suite& suite) {
  Wording wording;
  ReadPreamble(table, reader, &wording);
  wording.question = table.Text("question");
  wording.answer = table.Text("answer");
  const std::vector<std::string> fields = TemplateFields(suite, reader);
  std::vector<std::string> with_choice = fields;
  with_choice.emplace_back("choice");
  if (reader.ask == Ask::kChoose && reader.choices == Choices::kContexts) {
    CheckTemplate(table, "question", wording.question, with_choice, "choice");
    CheckTemplate(table, "answer", wording.answer, fields, "");
  } else if (reader.ask == Ask::kChoose) {
    CheckTemplate(table, "question", wording.question, fields, "");
    CheckTemplate(table, "answer", wording.answer, with_choice, "choice");
  } else {
    CheckTemplate(table, "question", wording.question, fields, "");
    CheckTemplate(table, "answer", wording.answer, fields, "");
    wording.stop_strings = table.Texts("stop", {});
  }
  return wording;
}

const Reader& ReadReader(TomlTable& table) {
  const std::string name = table.Text("reader");
  const Reader* reader = FindReader(name);
  if (!reader)
    throw table.Wrong("reader", fmt::format("{} is not a reader", name), DidYouMean(name, ReaderNames()));
  const std::string ask = table.Text("ask");
  if (ask != "generate" && ask != "choose")
    throw table.Wrong("ask", fmt::format("{} is not a way to ask", ask),
                      DidYouMean(ask, {"generate", "choose"}));
  if (ask != AskName(reader->ask))
    throw table.Wrong("ask",
                      fmt::format("is {}, but items of {} are asked as {}", ask, name, AskName(reader->ask)));
  return *reader;
}

std::vector<std::string> ReadGraders(TomlTable& table) {
  std::vector<std::string> graders = table.Texts("graders");
  if (graders.empty()) throw table.Wrong("graders", "names no grader", "the first one named is the headline");
  std::set<std::string> seen;
  for (const std::string& grader : graders) {
    if (!IsName(grader, true)) throw table.Wrong("graders", fmt::format("{} is not a grader's name", grader));
    if (!seen.insert(grader).second) throw table.Wrong("graders", fmt::format("names {} twice", grader));
  }
  return graders;
}

void ReadGenerate(TomlTable& file, const Reader& reader, Suite* suite) {
  TomlTable table = file.Table("generate");
  suite->max_new_tokens = static_cast<int>(table.Integer("max_new_tokens", 1, kMostNewTokens));
  suite->gold = table.Text("gold");
  CheckTemplate(table, "gold", suite->gold, TemplateFields(*suite, reader), "");
  if (reader.programs && suite->gold != kProgramGold)
    throw table.Wrong("gold",
                      fmt::format("must be \"{}\": items of {} ask for programs", kProgramGold, reader.name));
  table.Finish();
}

void ReadAnswer(TomlTable& file, Suite* suite) {
  std::optional<TomlTable> table = file.OptionalTable("answer");
  if (!table) return;
  suite->answer = AnswerWording{table->Text("pattern", ""), table->Boolean("ignore_case", false)};
  table->Finish();
}

void ReadExecution(TomlTable& file, const Reader& reader, Suite* suite) {
  constexpr int64_t kMostSeconds = 3600, kMostMemory = 1 << 20;
  std::optional<TomlTable> table = file.OptionalTable("execute");
  if (!table) return;
  if (!reader.programs)
    throw file.Wrong("execute", fmt::format("is for programs, and items of {} have none", reader.name));
  const auto read = [&](const char* key, int64_t most, int* limit) {
    table->MayHave({key});
    if (table->Has(key)) *limit = static_cast<int>(table->Integer(key, 1, most));
  };
  read("wall_seconds", kMostSeconds, &suite->execution.wall_seconds);
  read("cpu_seconds", kMostSeconds, &suite->execution.cpu_seconds);
  read("memory_mib", kMostMemory, &suite->execution.memory_mib);
  suite->execution.modules = table->Texts("modules", {});
  for (const std::string& module : suite->execution.modules)
    if (!IsName(module)) throw table->Wrong("modules", fmt::format("{} is not a module's name", module));
  table->Finish();
}

void ReadReport(TomlTable& file, const Reader& reader, Suite* suite) {
  std::optional<TomlTable> found = file.OptionalTable("report");
  if (!found) return;
  TomlTable& table = *found;
  suite->report_by = table.Texts("by");
  if (suite->report_by.empty() || suite->report_by.size() > kMostGroups)
    throw table.Wrong("by", fmt::format("names {} fields", suite->report_by.size()),
                      "one or two are possible");
  if (suite->report_by.front() == suite->report_by.back() && suite->report_by.size() > 1)
    throw table.Wrong("by", fmt::format("names {} twice", suite->report_by.front()));
  std::vector<std::string> groups = reader.groups;
  groups.insert(groups.end(), reader.part_fields.begin(), reader.part_fields.end());
  for (const std::string& field : suite->report_by) {
    if (std::find(groups.begin(), groups.end(), field) != groups.end()) continue;
    throw table.Wrong("by",
                      fmt::format("{} is not a field that items of {} are grouped by", field, reader.name),
                      groups.empty() ? "they have none" : DidYouMean(field, groups));
  }
  table.Finish();
}

// What describes and never changes an answer is no part of a run's identity.
nlohmann::json Definition(const toml::table& table) {
  nlohmann::json definition = TomlAsJson(table);
  definition.erase("title");
  definition.erase("report");
  for (const char* name : {"data", "shots", "replaced"})
    if (definition.contains(name)) definition[name].erase("origin");
  return definition;
}

Suite ReadSuite(const toml::table& parsed, const std::filesystem::path& path) {
  TomlTable table(parsed, path, kSuiteFile);
  Suite suite;
  suite.file = path;
  suite.name = table.Text("name");
  if (!IsName(suite.name)) throw table.Wrong("name", "is not a name", "use a-z, 0-9 and _, a letter first");
  suite.version = static_cast<int>(table.Integer("version", 1, 1000000));
  suite.title = table.Text("title");
  const Reader& reader = ReadReader(table);
  suite.reader = reader.name;
  suite.ask = reader.ask;
  suite.graders = ReadGraders(table);
  suite.choices = reader.choices;
  ReadSuiteData(table, reader, &suite);
  TomlTable completion = table.Table("completion");
  suite.completion = ReadWording(completion, reader, suite);
  suite.shot_separator = completion.Text("separator");
  completion.Finish();
  TomlTable chat = table.Table("chat");
  suite.chat = ReadWording(chat, reader, suite);
  chat.Finish();
  if (reader.ask == Ask::kGenerate) ReadGenerate(table, reader, &suite);
  if (reader.ask == Ask::kGenerate) ReadAnswer(table, &suite);
  if (reader.ask == Ask::kGenerate) ReadExecution(table, reader, &suite);
  ReadReport(table, reader, &suite);
  table.Finish();
  suite.definition = Definition(parsed);
  return suite;
}

Suite ReadSuite(const std::filesystem::path& path) {
  Suite suite = ReadSuite(ParseTomlFile(path, kSuiteFile), path);
  suite.file = std::filesystem::absolute(path);
  return suite;
}

}  // namespace

const char* AskName(Ask ask) { return ask == Ask::kGenerate ? "generate" : "choose"; }

const char* FormatName(Format format) { return format == Format::kChat ? "chat" : "completion"; }

Format ParseFormat(const std::string& text) {
  for (const Format format : {Format::kCompletion, Format::kChat})
    if (text == FormatName(format)) return format;
  throw UsageError(text, "is not a prompt format", DidYouMean(text, {"completion", "chat"}));
}

std::filesystem::path SuiteFolder() { return HomeFolder() / "tasks"; }

std::vector<std::string> SuiteNames() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(SuiteFolder(), ignored))
    if (entry.path().extension() == ".toml" && entry.path().filename() != kGroupFile)
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Suite LoadSuite(const std::string& name_or_path) {
  const bool path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml");
  if (path) return ReadSuite(name_or_path);
  const std::vector<std::string> names = SuiteNames();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end())
    return ReadSuite(SuiteFolder() / (name_or_path + ".toml"));
  if (names.empty())
    throw Error(SuiteFolder().string(), "holds no suites",
                "point $FULLBAND_HOME at the folder that has tasks/");
  std::vector<std::string> known = names;
  for (const SuiteGroup& group : SuiteGroups()) {
    if (group.name == name_or_path)
      throw UsageError(name_or_path, "is a group of suites, and one suite is asked for here",
                       fmt::format("name one of {}", fmt::join(group.suites, ", ")));
    known.push_back(group.name);
  }
  throw UsageError(name_or_path, "is not a suite or a group",
                   DidYouMean(name_or_path, known) + "; a path to a TOML file works too");
}

Suite SuiteOfDefinition(const nlohmann::json& definition, const std::string& where) {
  toml::table table = JsonAsToml(definition);
  table.insert("title", "as it was asked");
  return ReadSuite(table, where);
}

}  // namespace fullband
