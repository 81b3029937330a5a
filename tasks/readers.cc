#include "tasks/readers.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "common/error.h"
#include "common/json_text.h"

namespace fullband {
namespace {

// Byte of the first sequence that is not UTF-8 (Unicode 15, table 3-7), or nothing.
std::optional<size_t> FirstBadByte(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = byte(i);
    size_t length = lead < 0x80   ? 1
                    : lead < 0xc2 ? 0
                    : lead < 0xe0 ? 2
                    : lead < 0xf0 ? 3
                    : lead < 0xf5 ? 4
                                  : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return i;
    if (length > 2) {
      const unsigned char second = byte(i + 1);
      const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
      const bool surrogate = lead == 0xed && second > 0x9f;
      const bool too_large = lead == 0xf4 && second > 0x8f;
      if (overlong || surrogate || too_large) return i;
    }
    i += length;
  }
  return std::nullopt;
}

// One line of a JSONL file, with checked access to its fields.
class Line {
 public:
  Line(std::string_view text, const std::filesystem::path& path, size_t number)
      : where_(fmt::format("{}, line {}", path.string(), number)) {
    if (const auto bad = FirstBadByte(text))
      throw Error(where_, fmt::format("is not UTF-8: byte {} of the line", *bad + 1),
                  "convert the file to UTF-8");
    if (text.find_first_not_of(" \t\r") == std::string_view::npos)
      throw Error(where_, "is empty", "each line of a JSONL file is one JSON object");
    try {
      value_ = ParseJson(text);
    } catch (const JsonFault& fault) {
      throw Error(where_, fmt::format("is not valid JSON: {}", fault.what()),
                  "is the file complete? each line is one JSON object");
    }
    if (!value_.is_object()) throw Error(where_, "is not a JSON object", "each line is one {...}");
  }

  const std::string& where() const { return where_; }

  [[noreturn]] void Fail(const std::string& field, const std::string& why) const {
    throw Error(where_ + ", " + field, why, "correct the line, or fetch the file again");
  }

  const nlohmann::json& Field(const std::string& field) const {
    const auto found = value_.find(field);
    if (found == value_.end()) Fail(field, "is missing");
    return *found;
  }

  std::string Text(const std::string& field) const {
    const nlohmann::json& value = Field(field);
    if (!value.is_string()) Fail(field, fmt::format("is of type {}, not a string", value.type_name()));
    return CheckText(field, value);
  }

  std::vector<std::string> Texts(const std::string& field) const {
    const nlohmann::json& value = Field(field);
    if (!value.is_array())
      Fail(field, fmt::format("is of type {}, not an array of strings", value.type_name()));
    std::vector<std::string> texts;
    for (const nlohmann::json& element : value) {
      const std::string name = fmt::format("{}[{}]", field, texts.size());
      if (!element.is_string()) Fail(name, fmt::format("is of type {}, not a string", element.type_name()));
      texts.push_back(CheckText(name, element));
    }
    return texts;
  }

  int64_t Integer(const std::string& field) const {
    const nlohmann::json& value = Field(field);
    if (!value.is_number_integer()) Fail(field, fmt::format("is {}, not a whole number", value.dump()));
    if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) Fail(field, "is out of range");
    return value.get<int64_t>();
  }

  // The line's own id where it has one, else its row.
  std::string Id(size_t row) const {
    const auto found = value_.find("id");
    if (found == value_.end()) return std::to_string(row);
    if (found->is_number_integer()) return found->dump();
    return Text("id");
  }

 private:
  std::string CheckText(const std::string& field, const nlohmann::json& value) const {
    std::string text = value.get<std::string>();
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) Fail(field, "is empty");
    return text;
  }

  std::string where_;
  nlohmann::json value_;
};

template <typename ReadFields>
std::vector<Item> ReadLines(std::string_view bytes, const std::filesystem::path& path,
                            ReadFields read_fields) {
  std::vector<Item> items;
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = bytes.find('\n', begin);
    if (end == std::string_view::npos) end = bytes.size();
    const Line line(bytes.substr(begin, end - begin), path, items.size() + 1);
    items.push_back({line.Id(items.size()), read_fields(line)});
    begin = end + 1;
  }
  return items;
}

std::string Trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// GSM8K's lines: `question`, and `answer` whose worked steps end with `#### N`. That N is the field `final`.
std::vector<Item> ReadGsm8k(std::string_view bytes, const std::filesystem::path& path) {
  return ReadLines(bytes, path, [](const Line& line) {
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
  return ReadLines(bytes, path, [](const Line& line) {
    const std::vector<std::string> choices = line.Texts("choices");
    if (choices.size() < 2) line.Fail("choices", "has fewer than two choices");
    const int64_t gold = line.Integer("gold");
    if (gold < 0 || gold >= static_cast<int64_t>(choices.size()))
      line.Fail("gold", fmt::format("is {}, but the choices are 0 to {}", gold, choices.size() - 1));
    return nlohmann::json{{"query", line.Text("query")}, {"choices", choices}, {"gold", gold}};
  });
}

// Questions by kind and difficulty: `question`, `answer`, `kind`, `difficulty` (0 or more); with steps also
// `working`, the whole of what leads to the answer and says it.
std::vector<Item> ReadGraded(std::string_view bytes, const std::filesystem::path& path, bool steps) {
  return ReadLines(bytes, path, [steps](const Line& line) {
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

}  // namespace

const std::vector<Reader>& Readers() {
  static const std::vector<Reader> readers = {
      {"gsm8k_jsonl", Ask::kGenerate, {"question", "answer", "final"}, {}, ReadGsm8k},
      {"multiple_choice_jsonl", Ask::kChoose, {"query"}, {}, ReadMultipleChoice},
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
