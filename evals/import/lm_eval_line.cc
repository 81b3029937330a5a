#include "evals/import/lm_eval_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "evals/store/imported.h"

namespace fullband {
namespace {

using nlohmann::json;

// A text of so many characters that two items share is no accident.
constexpr size_t kTelling = 20;

constexpr const char* kOtherData =
    "name the suite that was asked; where the harness has other data, write "
    "lines of {\"item\", \"completion\"} instead";

// Without the white space, in which data sets differ.
std::string Packed(const std::string& text) {
  std::string packed;
  for (const char c : text)
    if (static_cast<unsigned char>(c) > 0x20) packed += c;
  return packed;
}

void CollectTexts(const json& value, std::vector<std::string>* texts) {
  if (value.is_string()) texts->push_back(Packed(value.get<std::string>()));
  if (value.is_structured())
    for (const json& inner : value) CollectTexts(inner, texts);
}

// Whether a telling text of one is part of one of the other; where the document has none that long, whether
// its longest text is one of the item's.
bool SameItem(const json& doc, const Item& item) {
  std::vector<std::string> theirs, ours;
  CollectTexts(doc, &theirs);
  CollectTexts(item.fields, &ours);
  std::string longest;
  for (const std::string& text : theirs)
    if (text.size() > longest.size()) longest = text;
  for (const std::string& a : theirs) {
    for (const std::string& b : ours) {
      if (a.size() >= kTelling && b.find(a) != std::string::npos) return true;
      if (b.size() >= kTelling && a.find(b) != std::string::npos) return true;
      if (longest.size() < kTelling && !a.empty() && a == longest && a == b) return true;
    }
  }
  return false;
}

// Lines that Fullband exported (reports/lm_eval/) name the item and the data's hash.
bool IsOurs(const json& line, const TaskData& data) {
  const auto doc = line.find("doc");
  return doc != line.end() && doc->is_object() && doc->value("data_sha256", json()) == data.data_sha256 &&
         doc->contains("item") && doc->at("item").is_string();
}

size_t RowOfOurs(const LineFile& file, const TaskData& data) {
  const auto id = file.line().at("doc").at("item").get<std::string>();
  // Behind the row that it was asked as, where only some items of each part were.
  const auto row = static_cast<size_t>(file.Whole("doc_id", 0, INT32_MAX));
  for (size_t i = std::min(row, data.items.size()); i < data.items.size(); ++i)
    if (data.items[i].id == id) return i;
  file.Fail(fmt::format("the suite {} has no item \"{}\" from row {} on", data.suite.name, id, row),
            kOtherData);
}

size_t RowOf(const LineFile& file, const TaskData& data) {
  if (IsOurs(file.line(), data)) return RowOfOurs(file, data);
  const auto row = static_cast<size_t>(file.Whole("doc_id", 0, INT32_MAX));
  if (row >= data.items.size())
    file.Fail(fmt::format("\"doc_id\" is {}, and the suite {} has {} items", row, data.suite.name,
                          data.items.size()),
              kOtherData);
  if (!file.Has("doc")) file.Fail("has no field \"doc\", which tells the item", "log whole samples");
  if (!SameItem(file.line().at("doc"), data.items[row]))
    file.Fail(
        fmt::format("its \"doc\" is not the suite {}'s item \"{}\"", data.suite.name, data.items[row].id),
        kOtherData);
  return row;
}

// The first argument of the first request: what was asked. Empty where the line has none.
std::string PromptOf(const json& line) {
  const auto arguments = line.find("arguments");
  if (arguments == line.end() || !arguments->is_structured() || arguments->empty()) return "";
  const json& first = *arguments->begin();
  if (!first.is_structured() || first.empty() || !first.begin()->is_string()) return "";
  return first.begin()->get<std::string>();
}

// What is scored after the context of request `i`; nothing where the line does not say.
std::optional<std::string> ContinuationOf(const json& line, size_t i) {
  const auto arguments = line.find("arguments");
  if (arguments == line.end() || !arguments->is_object()) return std::nullopt;
  const json::json_pointer place(fmt::format("/gen_args_{}/arg_1", i));
  if (!arguments->contains(place) || !arguments->at(place).is_string()) return std::nullopt;
  return arguments->at(place).get<std::string>();
}

// A number as it is, or as the harness writes it out: "-8.375".
std::optional<double> NumberIn(const json& value) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  } else {
    return std::nullopt;
  }
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool IsTrue(const json& value) {
  return value.is_boolean() ? value.get<bool>() : value.is_string() && value.get<std::string>() == "True";
}

// 0 or 1, as some metrics of single items are.
std::optional<bool> VerdictIn(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_number() || (value.get<double>() != 0 && value.get<double>() != 1)) return std::nullopt;
  return value.get<double>() == 1;
}

std::vector<std::string> MetricNames(const LineFile& file) {
  const auto listed = file.line().find("metrics");
  if (listed != file.line().end() && listed->is_array()) {
    std::vector<std::string> names;
    for (const json& name : *listed)
      if (name.is_string()) names.push_back(name.get<std::string>());
    return names;
  }
  // Older versions do not list them.
  return {"exact_match", "acc", "acc_norm", "acc_bytes", "pass@1", "pass_at_1", "math_verify"};
}

std::map<std::string, std::string> VerdictsOf(const LineFile& file) {
  const std::string filter = file.Has("filter") ? file.Text("filter") : "none";
  std::map<std::string, std::string> verdicts;
  for (const std::string& metric : MetricNames(file)) {
    const auto value = file.line().find(metric);
    if (value == file.line().end()) continue;
    const std::optional<bool> right = VerdictIn(*value);
    if (!right) continue;
    const std::string name =
        fmt::format("{}:{}{}", kImportedGrader, metric, filter == "none" ? "" : "/" + filter);
    verdicts[name] = *right ? "correct" : "incorrect";
  }
  return verdicts;
}

// `resps` of a suite that generates: for its one request the texts, one a repeat.
std::vector<ImportedLine> Completions(const LineFile& file, const json& answers, const ImportedLine& common) {
  if (answers.size() != 1) file.Fail(fmt::format("\"resps\" answers {} requests, not one", answers.size()));
  std::vector<ImportedLine> lines;
  for (const json& text : answers.front()) {
    if (!text.is_string()) file.Fail(fmt::format("\"resps\" holds {}, not a text", text.type_name()));
    ImportedLine& line = lines.emplace_back(common);
    line.sample = static_cast<int>(lines.size()) - 1;
    line.completion = text.get<std::string>();
    line.fields.insert("completion");
  }
  if (lines.size() == 1) lines.front().verdicts = VerdictsOf(file);
  return lines;
}

// `resps` of a suite that chooses: for each choice its log-probability and whether it is greedy.
ImportedLine Scores(const LineFile& file, const json& answers, const TaskData& data, ImportedLine line) {
  const Item& item = data.items[line.row];
  const std::vector<std::string> choices = ChoiceTexts(item);
  // Some metrics ask for more than the choices; those come behind.
  if (answers.size() < choices.size())
    file.Fail(fmt::format("\"resps\" answers {} requests, and the item has {} choices", answers.size(),
                          choices.size()));
  for (size_t i = 0; i < choices.size(); ++i) {
    const json& pair = answers[i].front();
    if (!pair.is_array() || pair.size() != 2 || !NumberIn(pair[0]))
      file.Fail(fmt::format("\"resps\" of choice {} is {}, not a log-probability and whether it is greedy", i,
                            pair.dump()));
    const std::optional<std::string> scored = ContinuationOf(file.line(), i);
    if (data.suite.choices == Choices::kContinuations && scored &&
        Packed(*scored) != Packed(Continuations(data, item)[i]))
      file.Fail(fmt::format("choice {} was scored as \"{}\", and is \"{}\" in the suite", i, *scored,
                            Continuations(data, item)[i]),
                kOtherData);
    line.logprobs.push_back(*NumberIn(pair[0]));
    line.greedy.push_back(IsTrue(pair[1]));
  }
  line.fields.insert({"logprobs", "greedy"});
  line.verdicts = VerdictsOf(file);
  return line;
}

}  // namespace

bool IsLmEvalLine(const json& line) { return line.contains("doc_id") && line.contains("resps"); }

std::vector<ImportedLine> ReadLmEvalLine(const LineFile& file, const TaskData& data) {
  if (!data.suite.parts.empty() && !IsOurs(file.line(), data))
    file.Fail(fmt::format("samples of lm-evaluation-harness are of one subject, and {} has several",
                          data.suite.name),
              "write lines of {\"item\", \"logprobs\"} instead");
  ImportedLine common;
  common.number = file.number();
  common.row = RowOf(file, data);
  common.prompt = PromptOf(file.line());
  if (!file.Has("resps")) file.Fail("has no field \"resps\"");
  const json& answers = file.line().at("resps");
  const bool lists = answers.is_array() && !answers.empty() &&
                     std::all_of(answers.begin(), answers.end(),
                                 [](const json& one) { return one.is_array() && !one.empty(); });
  if (!lists) file.Fail("\"resps\" is not a list of lists of answers");
  if (data.suite.ask == Ask::kGenerate) return Completions(file, answers, common);
  return {Scores(file, answers, data, common)};
}

}  // namespace fullband
