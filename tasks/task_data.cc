#include "tasks/task_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/data_file.h"
#include "tasks/fewshot.h"
#include "tasks/readers.h"
#include "tasks/text_template.h"

namespace fullband {
namespace {

std::map<std::string, std::string> TextFields(const Item& item) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : item.fields.items())
    if (value.is_string()) texts[name] = value.get<std::string>();
  return texts;
}

// Up to where the model goes on; with the context of `choice` where that is what differs.
std::string QuestionText(const Suite& suite, Format format, const Item& item, size_t choice) {
  std::map<std::string, std::string> fields = TextFields(item);
  if (suite.ask == Ask::kChoose && suite.choices == Choices::kContexts)
    fields["choice"] = ChoiceTexts(item).at(choice);
  return FillTemplate(suite.wording(format).question, fields);
}

// The answer as a shot has it, or as choice `choice` is scored.
std::string AnswerText(const Suite& suite, Format format, const Item& item, size_t choice) {
  std::map<std::string, std::string> fields = TextFields(item);
  if (suite.ask == Ask::kChoose && suite.choices != Choices::kContexts)
    fields["choice"] = ChoiceTexts(item).at(choice);
  return FillTemplate(suite.wording(format).answer, fields);
}

size_t ShotChoice(const Suite& suite, const Item& shot) {
  return suite.ask == Ask::kChoose ? GoldChoice(shot) : 0;
}

std::string ShotQuestion(const Suite& suite, Format format, const Item& shot) {
  return QuestionText(suite, format, shot, ShotChoice(suite, shot));
}

std::string ShotAnswer(const Suite& suite, Format format, const Item& shot) {
  return AnswerText(suite, format, shot, ShotChoice(suite, shot));
}

std::string Preamble(const Suite& suite, Format format, const Item& item) {
  return FillTemplate(suite.wording(format).preamble, TextFields(item));
}

// What makes a question the one it is. Of contexts that differ it is all of them: a pair of items that have
// the same two, with opposite answers, are twins.
std::vector<std::string> NormalisedQuestions(const Suite& suite, const std::vector<Item>& items) {
  std::vector<std::string> questions;
  questions.reserve(items.size());
  for (const Item& item : items) {
    const bool contexts = suite.ask == Ask::kChoose && suite.choices == Choices::kContexts;
    std::string text;
    for (size_t choice = 0; choice < (contexts ? ChoiceTexts(item).size() : 1); ++choice)
      text += QuestionText(suite, Format::kCompletion, item, choice) + "\n";
    questions.push_back(NormalisedQuestion(text));
  }
  return questions;
}

Error TooFew(const Suite& suite, const std::string& path, size_t found, size_t count) {
  return UsageError(suite.name,
                    fmt::format("only {} of the items of {} can be shots, not {}", found, path, count),
                    "ask for fewer with --shots");
}

std::vector<Item> WithIdsIn(const IdRange& range, std::vector<Item> items,
                            const std::filesystem::path& path) {
  std::vector<Item> kept;
  for (size_t row = 0; row < items.size(); ++row) {
    int64_t id = 0;
    const std::string& text = items[row].id;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size())
      throw Error(fmt::format("{}, line {}, id", path.string(), row + 1),
                  fmt::format("is {}, and the suite selects whole numbers", text),
                  "take first_id and last_id away from the suite, or correct the line");
    if (id >= range.first && id <= range.last) kept.push_back(std::move(items[row]));
  }
  if (kept.empty())
    throw Error(path.string(), fmt::format("has no item from {} to {}", range.first, range.last),
                "is the file complete?");
  return kept;
}

// Items of one file as templates see them: with the fields of their part and those derived.
std::vector<Item> ReadFile(const Suite& suite, const DataFile& file, const DataBytes& bytes, size_t part) {
  std::vector<Item> items = ReadItems(*FindReader(suite.reader), bytes.bytes, bytes.path);
  if (file.ids) items = WithIdsIn(*file.ids, std::move(items), bytes.path);
  for (Item& item : items) {
    if (!suite.parts.empty()) {
      item.part = part;
      for (const auto& [field, text] : suite.parts[part].fields) item.fields[field] = text;
    }
    for (const DerivedField& field : suite.derived) {
      const std::string from = item.fields.at(field.from);
      const std::vector<RegexMatch> matches = field.pattern->FindAll(from);
      if (matches.empty())
        throw Error(
            fmt::format("{}, item {}, {}", bytes.path.string(), item.id, field.from),
            fmt::format("is not of the form that fields.{} of suite {} needs", field.name, suite.name),
            "correct the item, or the pattern");
      item.fields[field.name] =
          from.substr(matches[0].group_begin, matches[0].group_end - matches[0].group_begin);
    }
    if (!suite.parts.empty()) item.id = suite.parts[part].name + "/" + item.id;
  }
  return items;
}

// One data file's items and the shots before them.
class Loader {
 public:
  Loader(const Suite& suite, const TaskOptions& options, size_t part)
      : suite_(suite),
        options_(options),
        part_(part),
        data_(suite.parts.empty() ? suite.data : suite.parts[part].data),
        shot_data_(suite.parts.empty() ? suite.shot_data : suite.parts[part].shot_data),
        count_(static_cast<size_t>(options.shots.value_or(suite.shots))) {}

  // Adds them to `data`, and returns the file's SHA-256.
  std::string Load(TaskData* data) {
    const DataBytes bytes = ReadData(suite_, data_, options_.data_folder);
    items_ = ReadFile(suite_, data_, bytes, part_);
    const std::string sha256 = suite_.replaced ? Replace(bytes) : bytes.sha256;
    if (count_ > 0 && shot_data_.path.empty())
      DrawFromItems(bytes.path.string());
    else if (count_ > 0)
      DrawFromShotData();
    std::move(items_.begin(), items_.end(), std::back_inserter(data->items));
    std::move(shots_.begin(), shots_.end(), std::back_inserter(data->shots));
    return sha256;
  }

 private:
  // Puts the items of suite.replaced in their places. Returns the hash that stands for both files.
  std::string Replace(const DataBytes& bytes) {
    const Replaced& replaced = *suite_.replaced;
    const DataBytes other = ReadData(suite_, replaced.data, options_.data_folder);
    std::vector<Item> better = ReadFile(suite_, replaced.data, other, part_);
    const auto find = [](std::vector<Item>& items, const std::string& id, const DataBytes& file) -> Item& {
      for (Item& item : items)
        if (item.id == id) return item;
      throw Error(file.path.string(), fmt::format("has no item {}, which the suite replaces", id),
                  "correct replaced.ids in the suite");
    };
    for (const std::string& id : replaced.ids) find(items_, id, bytes) = find(better, id, other);
    return Sha256HexOfJson({{"data", bytes.sha256}, {"replaced", other.sha256}});
  }

  // From a file of its own, without the questions that are asked.
  void DrawFromShotData() {
    const DataBytes bytes = ReadData(suite_, shot_data_, options_.data_folder);
    const std::vector<Item> pool = ReadFile(suite_, shot_data_, bytes, part_);
    const std::vector<std::string> asked = NormalisedQuestions(suite_, Others(pool)),
                                   questions = NormalisedQuestions(suite_, pool);
    const std::unordered_set<std::string> excluded{asked.begin(), asked.end()};
    const std::vector<size_t> drawn = suite_.first_shots
                                          ? FirstShots(questions, excluded, count_)
                                          : DrawShots(questions, excluded, options_.fewshot_seed, count_);
    if (drawn.size() < count_) throw TooFew(suite_, bytes.path.string(), drawn.size(), count_);
    for (const size_t row : drawn) shots_.push_back(pool[row]);
    if (suite_.same_ids) LeaveOutShots();
  }

  // The items that are none of the pool's by id, where ids tell.
  std::vector<Item> Others(const std::vector<Item>& pool) const {
    if (!suite_.same_ids) return items_;
    std::unordered_set<std::string> ids;
    for (const Item& item : pool) ids.insert(item.id);
    std::vector<Item> others;
    for (const Item& item : items_)
      if (!ids.contains(item.id)) others.push_back(item);
    return others;
  }

  void LeaveOutShots() {
    std::unordered_set<std::string> ids;
    for (const Item& shot : shots_) ids.insert(shot.id);
    std::erase_if(items_, [&](const Item& item) { return ids.contains(item.id); });
  }

  // From the asked items themselves, which are then asked no more. A question that stands there twice is no
  // shot: its twin would be asked with the answer in view.
  void DrawFromItems(const std::string& path) {
    const std::vector<std::string> questions = NormalisedQuestions(suite_, items_);
    std::unordered_map<std::string, int> seen;
    for (const std::string& question : questions) ++seen[question];
    std::unordered_set<std::string> twins;
    for (const auto& [question, times] : seen)
      if (times > 1) twins.insert(question);
    const std::vector<size_t> drawn = DrawShots(questions, twins, options_.fewshot_seed, count_);
    if (drawn.size() < count_ || drawn.size() == items_.size())
      throw TooFew(suite_, path, std::min(drawn.size(), items_.size() - 1), count_);
    for (const size_t row : drawn) shots_.push_back(items_[row]);
    const std::unordered_set<size_t> taken(drawn.begin(), drawn.end());
    std::vector<Item> left;
    for (size_t row = 0; row < items_.size(); ++row)
      if (!taken.count(row)) left.push_back(std::move(items_[row]));
    items_ = std::move(left);
  }

  const Suite& suite_;
  const TaskOptions& options_;
  const size_t part_;
  const DataFile &data_, &shot_data_;
  const size_t count_;
  std::vector<Item> items_, shots_;
};

void CheckOptions(const TaskOptions& options) {
  if (options.shots && *options.shots < 0) throw UsageError("--shots", "is negative", "0 or more");
  if (options.max_new_tokens && *options.max_new_tokens < 1)
    throw UsageError("--max-new", "is below 1", "1 or more");
  if (!options.system.empty() && options.format != Format::kChat)
    throw UsageError("--system", "needs the prompt format chat", "add --format chat");
  for (const std::string& stop : options.extra_stop_strings)
    if (stop.empty()) throw UsageError("--stop", "is empty", "name at least one character");
}

}  // namespace

TaskData LoadTaskData(const Suite& suite, const TaskOptions& options) {
  CheckOptions(options);
  TaskData data{suite, options, "", {}, {}};
  if (suite.parts.empty()) {
    data.data_sha256 = Loader(suite, options, 0).Load(&data);
    return data;
  }
  nlohmann::json hashes;
  for (size_t part = 0; part < suite.parts.size(); ++part)
    hashes[suite.parts[part].name] = Loader(suite, options, part).Load(&data);
  data.data_sha256 = Sha256HexOfJson(hashes);
  return data;
}

std::vector<size_t> AskedRows(const TaskData& data) {
  std::vector<size_t> rows(data.items.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  if (data.options.limit == 0 || data.options.limit >= rows.size()) return rows;
  std::vector<size_t> ranks(rows.size()), sizes(std::max<size_t>(data.suite.parts.size(), 1));
  for (const size_t row : rows) ranks[row] = sizes[data.items[row].part]++;
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  rows.resize(data.options.limit);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::span<const Item> ShotsOf(const TaskData& data, const Item& item) {
  const auto other = [&](const Item& shot) { return shot.part != item.part; };
  const auto begin = std::find_if_not(data.shots.begin(), data.shots.end(), other);
  return {begin, std::find_if(begin, data.shots.end(), other)};
}

std::string ShotsText(const TaskData& data, const Item& item, size_t shots) {
  const Format format = Format::kCompletion;
  const std::span<const Item> all = ShotsOf(data, item);
  std::string text = Preamble(data.suite, format, item);
  for (const Item& shot : all.last(std::min(shots, all.size())))
    text += ShotQuestion(data.suite, format, shot) + ShotAnswer(data.suite, format, shot) +
            data.suite.shot_separator;
  return text;
}

std::string CompletionPrompt(const TaskData& data, const Item& item, size_t shots, size_t choice) {
  return ShotsText(data, item, shots) + QuestionText(data.suite, Format::kCompletion, item, choice);
}

std::vector<ChatMessage> ChatPrompt(const TaskData& data, const Item& item, size_t shots, size_t choice) {
  const Format format = Format::kChat;
  std::vector<ChatMessage> messages;
  std::string system = data.options.system;
  const std::string preamble = Preamble(data.suite, format, item);
  if (!system.empty() && !preamble.empty()) system += "\n\n";
  system += preamble;
  if (!system.empty()) messages.push_back({"system", system});
  const std::span<const Item> all = ShotsOf(data, item);
  for (const Item& shot : all.last(std::min(shots, all.size()))) {
    messages.push_back({"user", ShotQuestion(data.suite, format, shot)});
    messages.push_back({"assistant", ShotAnswer(data.suite, format, shot)});
  }
  messages.push_back({"user", QuestionText(data.suite, format, item, choice)});
  return messages;
}

std::vector<std::string> Continuations(const TaskData& data, const Item& item) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < ChoiceTexts(item).size(); ++i)
    texts.push_back(AnswerText(data.suite, data.options.format, item, i));
  return texts;
}

std::string ShotAnswer(const TaskData& data, const Item& item) {
  return ShotAnswer(data.suite, data.options.format, item);
}

std::string GoldText(const TaskData& data, const Item& item) {
  if (data.suite.ask == Ask::kChoose) return ChoiceTexts(item).at(GoldChoice(item));
  return FillTemplate(data.suite.gold, TextFields(item));
}

std::string GroupsText(const Suite& suite, const Item& item) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (const std::string& field : suite.report_by) groups[field] = item.fields.at(field);
  return groups.dump();
}

std::vector<std::string> ChoiceTexts(const Item& item) {
  return item.fields.at("choices").get<std::vector<std::string>>();
}

size_t GoldChoice(const Item& item) { return item.fields.at("gold").get<size_t>(); }

std::string ShotTextSha256(const TaskData& data) {
  nlohmann::json texts = nlohmann::json::array();
  for (const Item& shot : data.shots)
    texts.push_back({ShotQuestion(data.suite, data.options.format, shot),
                     ShotAnswer(data.suite, data.options.format, shot)});
  return Sha256HexOfJson(texts);
}

}  // namespace fullband
