#include "tasks/readers.h"

#include <fmt/format.h>

#include <unordered_map>

#include "common/error.h"
#include "tasks/code_readers.h"
#include "tasks/csv.h"
#include "tasks/data_line.h"

namespace fullband {
namespace {

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// GSM8K's lines: `question`, and `answer` whose worked steps end with `#### N`. That N is the field `final`.
std::vector<Item> ReadGsm8k(std::string_view bytes, const std::filesystem::path& path) {
  return ReadLines(bytes, path, [](const DataLine& line) {
    nlohmann::json fields{{"question", line.Text("question")}, {"answer", line.Text("answer")}};
    const std::string answer = fields["answer"];
    const size_t marker = answer.rfind("####");
    const std::string final = marker == std::string::npos ? "" : Trimmed(answer.substr(marker + 4));
    if (final.empty()) line.Fail("answer", "does not end with its final answer, `#### N`");
    fields["final"] = final;
    return fields;
  });
}

// The multiple-choice layout of MosaicML's in-context-learning files: `query`, `choices`, `gold` (an index).
std::vector<Item> ReadMultipleChoice(std::string_view bytes, const std::filesystem::path& path) {
  return ReadLines(bytes, path, [](const DataLine& line) {
    const std::vector<std::string> choices = line.Texts("choices");
    if (choices.size() < 2) line.Fail("choices", "has fewer than two choices");
    return nlohmann::json{
        {"query", line.Text("query")}, {"choices", choices}, {"gold", line.Gold("gold", choices.size())}};
  });
}

// The schema layout of the same files: `context_options`, the `continuation` that stands after each of them,
// and `gold`, an index of the option after which it is right.
std::vector<Item> ReadSchema(std::string_view bytes, const std::filesystem::path& path) {
  return ReadLines(bytes, path, [](const DataLine& line) {
    const std::vector<std::string> options = line.Texts("context_options");
    if (options.size() < 2) line.Fail("context_options", "has fewer than two options");
    return nlohmann::json{{"choices", options},
                          {"continuation", line.Text("continuation")},
                          {"gold", line.Gold("gold", options.size())}};
  });
}

// The language-modelling layout of the same files: `context`, `continuation`.
std::vector<Item> ReadContinuation(std::string_view bytes, const std::filesystem::path& path) {
  return ReadLines(bytes, path, [](const DataLine& line) {
    return nlohmann::json{
        {"context", line.Text("context")}, {"choices", {line.Text("continuation")}}, {"gold", 0}};
  });
}

// MATH's lines, as the 500-item split has them. Its own ids are `unique_id`.
std::vector<Item> ReadMath(std::string_view bytes, const std::filesystem::path& path) {
  std::vector<Item> items = ReadLines(bytes, path, [](const DataLine& line) {
    const int64_t level = line.Integer("level");
    if (level < 1 || level > 5) line.Fail("level", fmt::format("is {}, not 1 to 5", level));
    return nlohmann::json{{"problem", line.Text("problem")},     {"solution", line.Text("solution")},
                          {"answer", line.Text("answer")},       {"subject", line.Text("subject")},
                          {"unique_id", line.Text("unique_id")}, {"level", level}};
  });
  for (Item& item : items) item.id = item.fields["unique_id"];
  return items;
}

// MMLU's tables with a header: `question`, `choice0` to `choice3`, `answer` (0 to 3). The choices are shown
// under letters, and the letters are chosen from.
std::vector<Item> ReadMmlu(std::string_view bytes, const std::filesystem::path& path) {
  const std::vector<std::string> columns = {"question", "choice0", "choice1", "choice2", "choice3", "answer"};
  std::vector<Item> items;
  for (const CsvRow& row : ReadCsv(bytes, path, columns)) {
    const std::string& answer = row.values.back();
    if (answer.size() != 1 || answer[0] < '0' || answer[0] > '3')
      row.Fail("answer", fmt::format("is {}, not 0 to 3", answer.empty() ? "empty" : answer));
    const std::string question = Trimmed(row.values[0]);
    if (question.empty()) row.Fail("question", "is empty");
    for (size_t i = 1; i <= 4; ++i)
      if (Trimmed(row.values[i]).empty()) row.Fail(columns[i], "is empty");
    items.push_back({std::to_string(items.size()),
                     {{"question", question},
                      {"a", row.values[1]},
                      {"b", row.values[2]},
                      {"c", row.values[3]},
                      {"d", row.values[4]},
                      {"choices", {"A", "B", "C", "D"}},
                      {"gold", answer[0] - '0'}}});
  }
  return items;
}

// Questions by kind and difficulty: `question`, `answer`, `kind`, `difficulty` (0 or more); with steps also
// `working`, the whole of what leads to the answer and says it.
std::vector<Item> ReadGraded(std::string_view bytes, const std::filesystem::path& path, bool steps) {
  return ReadLines(bytes, path, [steps](const DataLine& line) {
    const int64_t difficulty = line.Integer("difficulty");
    if (difficulty < 0) line.Fail("difficulty", fmt::format("is {}, below 0", difficulty));
    nlohmann::json fields{{"question", line.Text("question")},
                          {"answer", line.Text("answer")},
                          {"kind", line.Text("kind")},
                          {"difficulty", difficulty}};
    if (steps) fields["working"] = line.Text("working");
    return fields;
  });
}

// Questions about a long text: `context`, `question`, `stem` (how the sentence begins that the answer ends),
// `answer`, `length` (words of the context) and `level`: the name of a second whole number, 0 or more.
std::vector<Item> ReadLong(std::string_view bytes, const std::filesystem::path& path,
                           const std::string& level) {
  return ReadLines(bytes, path, [&level](const DataLine& line) {
    nlohmann::json fields{{"context", line.Text("context")},
                          {"question", line.Text("question")},
                          {"stem", line.Text("stem")},
                          {"answer", line.Text("answer")}};
    for (const std::string& name : {std::string("length"), level}) {
      const int64_t value = line.Integer(name);
      if (value < 0) line.Fail(name, fmt::format("is {}, below 0", value));
      fields[name] = value;
    }
    return fields;
  });
}

}  // namespace

const std::vector<Reader>& Readers() {
  static const std::vector<Reader> readers = {
      {"gsm8k_jsonl", Ask::kGenerate, {"question", "answer", "final"}, {}, ReadGsm8k},
      {"multiple_choice_jsonl", Ask::kChoose, {"query"}, {}, ReadMultipleChoice},
      {"schema_jsonl", Ask::kChoose, {"continuation"}, {}, ReadSchema, {}, Choices::kContexts},
      {"continuation_jsonl", Ask::kChoose, {"context"}, {}, ReadContinuation, {}, Choices::kOne},
      {"mmlu_csv",
       Ask::kChoose,
       {"question", "a", "b", "c", "d"},
       {},
       ReadMmlu,
       {"category", "subject"},
       Choices::kContinuations},
      {"math_jsonl",
       Ask::kGenerate,
       {"problem", "solution", "answer", "subject", "unique_id"},
       {"subject", "level"},
       ReadMath},
      {"graded_jsonl",
       Ask::kGenerate,
       {"question", "answer", "kind"},
       {"kind", "difficulty"},
       [](std::string_view bytes, const std::filesystem::path& path) {
         return ReadGraded(bytes, path, false);
       }},
      {"graded_steps_jsonl",
       Ask::kGenerate,
       {"question", "answer", "kind", "working"},
       {"kind", "difficulty"},
       [](std::string_view bytes, const std::filesystem::path& path) {
         return ReadGraded(bytes, path, true);
       }},
      {"humaneval_jsonl",
       Ask::kGenerate,
       {"task_id", "prompt", "canonical_solution", "entry_point", "program"},
       {},
       ReadHumanEval,
       {},
       Choices::kContinuations,
       true},
      {"mbpp_jsonl",
       Ask::kGenerate,
       {"task_id", "text", "code", "shown_tests", "entry_point", "program"},
       {},
       ReadMbpp,
       {},
       Choices::kContinuations,
       true},
      {"mbpp_plus_jsonl",
       Ask::kGenerate,
       {"task_id", "text", "code", "shown_tests", "entry_point", "program"},
       {},
       ReadMbppPlus,
       {},
       Choices::kContinuations,
       true},
      {"needle_jsonl",
       Ask::kGenerate,
       {"context", "question", "stem", "answer"},
       {"length", "depth"},
       [](std::string_view bytes, const std::filesystem::path& path) {
         return ReadLong(bytes, path, "depth");
       }},
      {"documents_jsonl",
       Ask::kGenerate,
       {"context", "question", "stem", "answer"},
       {"length", "moves"},
       [](std::string_view bytes, const std::filesystem::path& path) {
         return ReadLong(bytes, path, "moves");
       }},
  };
  return readers;
}

std::vector<std::string> ReaderNames() {
  std::vector<std::string> names;
  for (const Reader& reader : Readers()) names.push_back(reader.name);
  return names;
}

const Reader* FindReader(std::string_view name) {
  for (const Reader& reader : Readers())
    if (reader.name == name) return &reader;
  return nullptr;
}

std::vector<Item> ReadItems(const Reader& reader, std::string_view bytes, const std::filesystem::path& path) {
  if (bytes.substr(0, 3) == "\xef\xbb\xbf")
    throw Error(path.string(), "begins with a byte order mark", "remove it");
  std::vector<Item> items = reader.read(bytes, path);
  if (items.empty()) throw Error(path.string(), "holds no items", "is the file complete?");
  std::unordered_map<std::string, size_t> rows;
  for (size_t row = 0; row < items.size(); ++row) {
    const auto [first, fresh] = rows.emplace(items[row].id, row);
    if (!fresh)
      throw Error(fmt::format("{}, line {}, id", path.string(), row + 1),
                  fmt::format("is {}, as on line {}", items[row].id, first->second + 1), "ids must differ");
  }
  return items;
}

}  // namespace fullband
