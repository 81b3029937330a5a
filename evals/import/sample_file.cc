#include "evals/import/sample_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "common/error.h"
#include "common/hash.h"
#include "evals/import/line_file.h"
#include "evals/import/lm_eval_line.h"
#include "evals/store/imported.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr int kMostSamples = 1'000'000;
constexpr int64_t kMostTokens = INT32_MAX;

const std::set<std::string>& CommonFields() {
  static const std::set<std::string> fields = {"item",    "sample",  "fault",        "prompt",
                                               "verdict", "seconds", "prompt_tokens"};
  return fields;
}

const std::set<std::string>& FieldsOf(Ask ask) {
  static const std::set<std::string> generate = {"completion", "tokens", "generated_tokens", "trace_tokens",
                                                 "stop_reason"};
  static const std::set<std::string> choose = {"logprobs", "choice_tokens", "greedy", "chosen"};
  return ask == Ask::kGenerate ? generate : choose;
}

std::string OneOf(const LineFile& file, const std::string& field, const std::set<std::string>& known) {
  const std::string text = file.Text(field);
  if (!known.contains(text))
    file.Fail(fmt::format("\"{}\" is \"{}\"", field, text),
              fmt::format("write one of {}", fmt::join(known, ", ")));
  return text;
}

std::string Verdict(const LineFile& file) {
  if (file.line().at("verdict").is_boolean())
    return file.line().at("verdict").get<bool>() ? "correct" : "incorrect";
  return OneOf(file, "verdict", {"correct", "incorrect", "no_answer", "timeout"});
}

// What a suite that generates has beside the common fields.
void ReadTrace(const LineFile& file, ImportedLine* line) {
  if (file.Has("completion")) line->completion = file.Text("completion");
  if (file.Has("tokens")) {
    std::vector<int32_t>& tokens = line->tokens.emplace();
    for (const int64_t id : file.Wholes("tokens", 0, kMostTokens)) tokens.push_back(static_cast<int32_t>(id));
    line->generated_tokens = static_cast<int64_t>(tokens.size());
    line->fields.insert("generated_tokens");
  }
  if (file.Has("generated_tokens")) {
    const int64_t count = file.Whole("generated_tokens", 0, kMostTokens);
    if (line->tokens && count != line->generated_tokens)
      file.Fail(
          fmt::format("\"generated_tokens\" is {}, and \"tokens\" are {}", count, line->tokens->size()));
    line->generated_tokens = count;
  }
  if (file.Has("trace_tokens")) {
    line->trace_tokens = file.Whole("trace_tokens", 0, kMostTokens);
    if (line->fields.contains("generated_tokens") && line->trace_tokens > line->generated_tokens)
      file.Fail(fmt::format("\"trace_tokens\" is {}, more than the {} that were generated",
                            line->trace_tokens, line->generated_tokens));
  }
  if (file.Has("stop_reason"))
    line->stop_reason = OneOf(file, "stop_reason", {"end", "stop_string", "length", "context"});
}

void ReadChoices(const LineFile& file, size_t choices, ImportedLine* line) {
  const auto check = [&](const char* field, size_t size) {
    if (size != choices)
      file.Fail(fmt::format("\"{}\" has {} entries, and the item has {} choices", field, size, choices));
  };
  if (file.Has("logprobs")) {
    line->logprobs = file.Numbers("logprobs");
    check("logprobs", line->logprobs.size());
  }
  if (file.Has("choice_tokens")) {
    for (const int64_t count : file.Wholes("choice_tokens", 1, kMostTokens))
      line->choice_tokens.push_back(static_cast<int>(count));
    check("choice_tokens", line->choice_tokens.size());
  }
  if (file.Has("greedy")) {
    line->greedy = file.Flags("greedy");
    check("greedy", line->greedy.size());
  }
  if (file.Has("chosen"))
    line->chosen = static_cast<int>(file.Whole("chosen", 0, static_cast<int64_t>(choices) - 1));
}

// Reads a file's lines in either layout and checks them against each other.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const TaskData& data) : file_(path), data_(data) {
    for (size_t row = 0; row < data.items.size(); ++row) rows_[data.items[row].id] = row;
    read_.sha256 = Sha256HexOfFile(path);
  }

  SampleFile Read() {
    while (file_.Next()) {
      if (file_.number() == 1) read_.layout = IsLmEvalLine(file_.line()) ? "lm_eval" : "fullband";
      if (read_.layout == "fullband")
        Take(OwnLine());
      else
        TakeLmEval();
    }
    CheckSame();
    return std::move(read_);
  }

 private:
  bool generates() const { return data_.suite.ask == Ask::kGenerate; }

  ImportedLine OwnLine() {
    std::set<std::string> known = CommonFields(), more = FieldsOf(data_.suite.ask);
    for (const std::string& other : FieldsOf(generates() ? Ask::kChoose : Ask::kGenerate))
      if (file_.Has(other))
        file_.Fail(fmt::format("has \"{}\", and items of {} are {}", other, data_.suite.name,
                               generates() ? "completed" : "chosen among"),
                   fmt::format("give {}", fmt::join(more, ", ")));
    known.insert(more.begin(), more.end());
    file_.CheckFields(known);
    ImportedLine line;
    line.number = file_.number();
    const std::string id = file_.Id("item");
    const auto found = rows_.find(id);
    if (found == rows_.end())
      file_.Fail(fmt::format("the suite {} has no item \"{}\"", data_.suite.name, id),
                 fmt::format("ids are as in its data, e.g. \"{}\"", data_.items.front().id));
    line.row = found->second;
    for (const std::string& field : known)
      if (file_.Has(field) && field != "item" && field != "sample" && field != "prompt" && field != "fault")
        line.fields.insert(field);
    if (file_.Has("sample")) line.sample = static_cast<int>(file_.Whole("sample", 0, kMostSamples));
    if (file_.Has("prompt")) line.prompt = file_.Text("prompt");
    if (file_.Has("fault")) line.fault = file_.Text("fault");
    if (file_.Has("seconds")) line.seconds = file_.Number("seconds", 0);
    if (file_.Has("prompt_tokens")) line.prompt_tokens = file_.Whole("prompt_tokens", 0, kMostTokens);
    if (generates())
      ReadTrace(file_, &line);
    else
      ReadChoices(file_, ChoiceTexts(data_.items[line.row]).size(), &line);
    ReadVerdict(&line);
    return line;
  }

  void ReadVerdict(ImportedLine* line) {
    if (file_.Has("verdict") && line->chosen)
      file_.Fail("has both \"verdict\" and \"chosen\"", "leave one out");
    if (file_.Has("verdict")) line->verdicts[kImportedGrader] = Verdict(file_);
    if (!line->chosen) return;
    const bool right = static_cast<size_t>(*line->chosen) == GoldChoice(data_.items[line->row]);
    line->verdicts[kImportedGrader] = right ? "correct" : "incorrect";
  }

  void TakeLmEval() {
    std::vector<ImportedLine> lines = ReadLmEvalLine(file_, data_);
    for (ImportedLine& line : lines) {
      const auto place = places_.find({line.row, line.sample});
      if (place == places_.end()) {
        Take(std::move(line));
        continue;
      }
      // The same answer under another filter.
      ImportedLine& earlier = read_.lines[place->second];
      if (earlier.completion != line.completion || earlier.logprobs != line.logprobs)
        file_.Fail(fmt::format("answers doc_id {} otherwise than line {}", line.row, earlier.number),
                   "import runs one by one");
      for (const auto& [grader, outcome] : line.verdicts) {
        if (!earlier.verdicts.emplace(grader, outcome).second)
          file_.Fail(
              fmt::format("repeats line {}: doc_id {} under the same filter", earlier.number, line.row),
              "import runs one by one");
      }
    }
  }

  void Take(ImportedLine line) {
    if (!places_.emplace(std::pair(line.row, line.sample), read_.lines.size()).second)
      file_.Fail(line.sample == 0 ? fmt::format("the item \"{}\" stands twice", data_.items[line.row].id)
                                  : fmt::format("sample {} of the item \"{}\" stands twice", line.sample,
                                                data_.items[line.row].id),
                 "number several samples of an item by \"sample\"");
    if (line.fault.empty()) CheckFields(line);
    read_.lines.push_back(std::move(line));
  }

  // Every line has what the first has that is no fault.
  void CheckFields(const ImportedLine& line) {
    if (!first_) {
      const bool answers = line.completion || line.tokens || !line.logprobs.empty() || !line.verdicts.empty();
      if (!answers)
        file_.Fail("has no answer and no verdict",
                   fmt::format("give {}, or why there is none as \"fault\"",
                               generates() ? "\"completion\", \"tokens\" or \"verdict\""
                                           : "\"logprobs\", \"chosen\" or \"verdict\""));
      first_ = line.number;
      read_.fields = line.fields;
      return;
    }
    for (const std::string& field : read_.fields)
      if (!line.fields.contains(field))
        file_.Fail(fmt::format("has no \"{}\", as line {} has", field, *first_),
                   "give every line the same fields, or a \"fault\"");
    for (const std::string& field : line.fields)
      if (!read_.fields.contains(field))
        file_.Fail(fmt::format("has \"{}\", which line {} has not", field, *first_),
                   "give every line the same fields, or a \"fault\"");
  }

  // Of files of the harness: every item came under every filter.
  void CheckSame() {
    if (!first_) throw Error(file_.path().string(), "holds faults alone", "there is nothing to import");
    const ImportedLine* first = nullptr;
    for (const ImportedLine& line : read_.lines) {
      if (!line.fault.empty()) continue;
      if (!first) first = &line;
      for (const auto& [grader, outcome] : first->verdicts)
        if (!line.verdicts.contains(grader))
          throw Error(fmt::format("{}, line {}", file_.path().string(), line.number),
                      fmt::format("the item \"{}\" has no verdict {}", data_.items[line.row].id, grader),
                      "is the file complete?");
    }
  }

  LineFile file_;
  const TaskData& data_;
  std::unordered_map<std::string, size_t> rows_;     // by the item's id
  std::map<std::pair<size_t, int>, size_t> places_;  // in lines, by row and sample
  std::optional<size_t> first_;                      // number of the first line that is no fault
  SampleFile read_;
};

}  // namespace

SampleFile ReadSampleFile(const std::filesystem::path& path, const TaskData& data) {
  return Reader(path, data).Read();
}

}  // namespace fullband
