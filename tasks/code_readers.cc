#include "tasks/code_readers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/regex.h"
#include "tasks/data_line.h"

namespace fullband {
namespace {

constexpr size_t kShownTests = 3;

// A name of Python's; of letters beyond ASCII all pass.
bool IsIdentifier(const std::string& text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), is_word);
}

// Names at the beginning of lines that `code` defines as functions or classes.
std::set<std::string> Defined(const std::string& code) {
  static const Regex definition(R"((?m)^(?:async\s+def|def|class)\s+(\w+))", "definitions");
  std::set<std::string> names;
  for (const RegexMatch& match : definition.FindAll(code))
    names.insert(code.substr(match.group_begin, match.group_end - match.group_begin));
  return names;
}

// What is tested: the first name called in the tests that the solution defines; empty where there is none.
std::string EntryPoint(const std::string& solution, const std::vector<std::string>& tests) {
  static const Regex call(R"((\w+)\s*\()", "calls");
  const std::set<std::string> defined = Defined(solution);
  for (const std::string& test : tests) {
    for (const RegexMatch& match : call.FindAll(test)) {
      const std::string name = test.substr(match.group_begin, match.group_end - match.group_begin);
      if (defined.contains(name)) return name;
    }
  }
  return "";
}

std::vector<std::string> Tests(const DataLine& line) {
  std::vector<std::string> tests = line.Texts("test_list");
  if (tests.empty()) line.Fail("test_list", "has no test");
  return tests;
}

// The fields that both layouts of MBPP have; `text` is the name of the task's text in the line.
nlohmann::json MbppFields(const DataLine& line, const std::string& text,
                          const std::vector<std::string>& tests) {
  const std::vector<std::string> shown(tests.begin(), tests.begin() + std::min(tests.size(), kShownTests));
  return {{"task_id", std::to_string(line.Integer("task_id"))},
          {"text", line.Text(text)},
          {"code", line.Text("code")},
          {"entry_point", EntryPoint(line.Text("code"), tests)},
          {"shown_tests", fmt::format("{}", fmt::join(shown, "\n"))}};
}

std::vector<Item> UnderTheirOwnIds(std::vector<Item> items) {
  for (Item& item : items) item.id = item.fields["task_id"];
  return items;
}

}  // namespace

std::vector<Item> ReadHumanEval(std::string_view bytes, const std::filesystem::path& path) {
  return UnderTheirOwnIds(ReadLines(bytes, path, [](const DataLine& line) {
    nlohmann::json fields{{"task_id", line.Text("task_id")},
                          {"prompt", line.Text("prompt")},
                          {"canonical_solution", line.Text("canonical_solution")},
                          {"entry_point", line.Text("entry_point")}};
    if (!IsIdentifier(fields["entry_point"])) line.Fail("entry_point", "is not a function's name");
    const nlohmann::json program{
        {"prompt", fields["prompt"]}, {"test", line.Text("test")}, {"entry_point", fields["entry_point"]}};
    fields["program"] = program.dump();
    return fields;
  }));
}

std::vector<Item> ReadMbpp(std::string_view bytes, const std::filesystem::path& path) {
  return UnderTheirOwnIds(ReadLines(bytes, path, [](const DataLine& line) {
    const std::vector<std::string> tests = Tests(line);
    nlohmann::json fields = MbppFields(line, "text", tests);
    const nlohmann::json program{
        {"setup", line.AnyText("test_setup_code")}, {"tests", tests}, {"entry_point", fields["entry_point"]}};
    fields["program"] = program.dump();
    return fields;
  }));
}

std::vector<Item> ReadMbppPlus(std::string_view bytes, const std::filesystem::path& path) {
  return UnderTheirOwnIds(ReadLines(bytes, path, [](const DataLine& line) {
    nlohmann::json fields = MbppFields(line, "prompt", Tests(line));
    const std::string imports = fmt::format("{}", fmt::join(line.Texts("test_imports"), "\n"));
    const nlohmann::json program{
        {"setup", imports}, {"tests", {line.Text("test")}}, {"entry_point", fields["entry_point"]}};
    fields["program"] = program.dump();
    return fields;
  }));
}

}  // namespace fullband
