#include "evals/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/error.h"

namespace fullband {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD
constexpr char kLength[] = "length", kContext[] = "context", kStopString[] = "stop_string";

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

void AddOnce(std::string text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(std::move(text));
}

// The whole text of the trace, as far as it may have been: where it was cut at a stop string, with each of
// those that it may have been.
std::vector<std::string> WholeTexts(const SampleRecord& sample,
                                    const std::vector<std::string>& stop_strings) {
  const size_t count = sample.text_ends.size();
  const auto length = static_cast<size_t>(sample.text_ends.back());
  if (sample.stop_reason != kStopString || length <= sample.text.size()) return {sample.text};
  // The last token of a trace of ours completed its stop string; one of another engine may go on behind it.
  const auto before_last = count < 2 ? 0 : static_cast<size_t>(std::max(sample.text_ends[count - 2], 0));
  std::vector<std::string> texts, longer;
  for (const std::string& stop : stop_strings) {
    const size_t end = sample.text.size() + stop.size();
    if (end <= length) AddOnce(sample.text + stop, end > before_last ? &texts : &longer);
  }
  if (!texts.empty()) return texts;
  return longer.empty() ? std::vector<std::string>{sample.text} : longer;
}

// What stands before `end` of a text, which may be cut short of it.
std::string Before(const std::string& text, size_t end) {
  end = std::min(end, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// The texts that a run with the limit may have stored, the likeliest first.
std::vector<std::string> CutTexts(const SampleRecord& sample, size_t end,
                                  const std::vector<std::string>& stop_strings) {
  std::vector<std::string> texts, broken;
  for (const std::string& whole : WholeTexts(sample, stop_strings)) {
    // A stop string that is all there has ended the text already.
    const bool stopped = whole.size() > sample.text.size() && end >= whole.size();
    AddOnce(stopped ? sample.text : Before(whole, end), &texts);
    if (!stopped && end < whole.size() && !IsAscii(whole[end]))
      AddOnce(Before(whole, end) + kReplacement, &broken);
  }
  for (std::string& text : broken) AddOnce(std::move(text), &texts);
  return texts;
}

}  // namespace

Cut CutAt(const SampleRecord& sample, int64_t budget, const std::vector<std::string>& stop_strings) {
  Cut cut;
  cut.sample = sample;
  cut.truncated = sample.stop_reason == kLength || sample.stop_reason == kContext;
  const auto tokens = static_cast<int64_t>(sample.text_ends.size());
  if (!sample.fault.empty()) return cut;
  if (budget > tokens && sample.stop_reason == kLength)
    throw Error(
        fmt::format("item {}, sample {}", sample.item, sample.sample),
        fmt::format("ended by its limit after {} tokens, so that nothing is known of {}", tokens, budget),
        "ask for smaller budgets");
  if (budget >= tokens) return cut;
  const auto kept = static_cast<size_t>(budget);
  const size_t end = kept == 0 ? 0 : static_cast<size_t>(std::max(sample.text_ends[kept - 1], 0));
  std::vector<std::string> texts = CutTexts(sample, end, stop_strings);
  cut.truncated = true;
  SampleRecord& short_one = cut.sample;
  short_one.text = std::move(texts.front());
  texts.erase(texts.begin());
  cut.other_texts = std::move(texts);
  short_one.stop_reason = kLength;
  short_one.tokens.resize(std::min(short_one.tokens.size(), kept));
  short_one.text_ends.resize(kept);
  short_one.generated_tokens = budget;
  return cut;
}

int64_t LongestBudget(Store& store, const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  if (identity.is_object() && identity.contains("max_new_tokens"))
    return identity.at("max_new_tokens").get<int64_t>();
  int64_t longest = 0, cut = 0;
  store.ForEachSample(run.id, false, [&](const SampleRecord& sample) {
    longest = std::max(longest, sample.generated_tokens);
    if (sample.stop_reason == kLength)
      cut = cut == 0 ? sample.generated_tokens : std::min(cut, sample.generated_tokens);
  });
  return cut > 0 ? cut : longest;
}

std::vector<int64_t> UsualBudgets(int64_t limit) {
  constexpr int64_t kLeastShare = 32;
  std::vector<int64_t> budgets;
  for (int64_t power = 1; power < limit; power *= 2)
    if (power * kLeastShare >= limit) budgets.push_back(power);
  if (limit > 0) budgets.push_back(limit);
  return budgets;
}

}  // namespace fullband
