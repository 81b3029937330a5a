#include "evals/sample_thoughts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include "common/error.h"

namespace fullband {
namespace {

using nlohmann::json;

// Those of models that are in use. Which comes first matters only for a tokenizer that has several.
constexpr std::array<std::pair<const char*, const char*>, 8> kKnownMarkers = {{
    {"<think>", "</think>"},
    {"[THINK]", "[/THINK]"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"<seed:think>", "</seed:think>"},
    {"<|begin_of_thought|>", "<|end_of_thought|>"},
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<reasoning>", "</reasoning>"},
}};

void CheckMarkers(const ThoughtMarkers& markers, const std::string& name, ExitCode code) {
  const auto wrong = [&](const std::string& why) {
    return Error(name, why, "name two different texts, e.g. <think>,</think>", code);
  };
  if (markers.open.empty() || markers.close.empty()) throw wrong("a marker is empty");
  if (markers.open.find(markers.close) != std::string::npos ||
      markers.close.find(markers.open) != std::string::npos)
    throw wrong("one marker is part of the other");
}

ThoughtMarkers KnownMarkers(const Tokenizer& tokenizer) {
  for (const auto& [open, close] : kKnownMarkers) {
    if (!tokenizer.Id(open) || !tokenizer.Id(close)) continue;
    ThoughtMarkers markers;
    markers.open = open;
    markers.close = close;
    return markers;
  }
  return {};
}

int32_t SpecialId(const Tokenizer& tokenizer, const std::string& marker) {
  const std::optional<int32_t> id = tokenizer.Id(marker);
  return id && tokenizer.IsSpecial(*id) ? *id : -1;
}

// Length of the kept text before token i.
size_t BeginOf(const SampleRecord& sample, size_t i) {
  return i == 0 ? 0 : static_cast<size_t>(std::max(sample.text_ends[i - 1], 0));
}

// Markers that are special tokens stand in the trace, the others in the text.
std::vector<MarkerPlace> PlacesIn(const SampleRecord& sample, const ThoughtMarkers& markers) {
  std::vector<MarkerPlace> places;
  for (const MarkerPlace& place : FindMarkers(sample.text, markers))
    if ((place.opens ? markers.open_token : markers.close_token) < 0) places.push_back(place);
  if (markers.open_token < 0 && markers.close_token < 0) return places;
  const size_t count = std::min(sample.tokens.size(), sample.text_ends.size());
  for (size_t i = 0; i < count; ++i) {
    const int32_t id = sample.tokens[i];
    if (id < 0 || (id != markers.open_token && id != markers.close_token)) continue;
    const size_t at = std::min(BeginOf(sample, i), sample.text.size());
    places.push_back({at, at, id == markers.open_token});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const MarkerPlace& a, const MarkerPlace& b) { return a.begin < b.begin; });
  return places;
}

// Tokens of which something is in the kept text, though no character ends with them: the store does not tell
// them from special tokens, but how many there are.
int64_t PartialTokens(const SampleRecord& sample) {
  int64_t whole = 0;
  for (size_t i = 0; i < sample.text_ends.size(); ++i) {
    const size_t begin = BeginOf(sample, i);
    whole += begin < sample.text.size() && static_cast<size_t>(sample.text_ends[i]) > begin;
  }
  return sample.trace_tokens - whole;
}

}  // namespace

ThoughtMarkers ParseMarkers(const std::string& pair, const std::string& name) {
  const size_t comma = pair.find(',');
  if (comma == std::string::npos || pair.find(',', comma + 1) != std::string::npos)
    throw UsageError(name, fmt::format("'{}' is not two texts with a comma between", pair),
                     "e.g. <think>,</think>");
  ThoughtMarkers markers;
  markers.open = pair.substr(0, comma);
  markers.close = pair.substr(comma + 1);
  CheckMarkers(markers, name, ExitCode::kUsage);
  return markers;
}

std::optional<ThoughtMarkers> MarkersInFolder(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "tokenizer_config.json";
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  const json config = json::parse(stream, nullptr, false);
  const json::json_pointer key("/fullband/think");
  if (!config.is_object() || !config.contains(key)) return std::nullopt;
  const json& pair = config.at(key);
  const std::string name = file.string() + ", fullband.think";
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
    throw Error(name, "is not an array of two texts", "e.g. [\"<think>\", \"</think>\"]");
  ThoughtMarkers markers;
  markers.open = pair[0].get<std::string>();
  markers.close = pair[1].get<std::string>();
  CheckMarkers(markers, name, ExitCode::kFailed);
  return markers;
}

ThoughtMarkers MarkersOfModel(const std::optional<ThoughtMarkers>& given, const Tokenizer& tokenizer) {
  ThoughtMarkers markers = given ? *given : KnownMarkers(tokenizer);
  markers.open_token = SpecialId(tokenizer, markers.open);
  markers.close_token = SpecialId(tokenizer, markers.close);
  return markers;
}

json MarkersJson(const ThoughtMarkers& markers) {
  if (markers == ThoughtMarkers()) return nullptr;
  return {{"open", markers.open},
          {"close", markers.close},
          {"open_token", markers.open_token},
          {"close_token", markers.close_token}};
}

ThoughtMarkers MarkersOfRun(const RunRecord& run) {
  const json identity = json::parse(run.identity, nullptr, false);
  if (!identity.is_object() || !identity.contains("thoughts")) return {};
  const json& kept = identity.at("thoughts");
  ThoughtMarkers markers;
  markers.open = kept.value("open", markers.open);
  markers.close = kept.value("close", markers.close);
  markers.open_token = kept.value("open_token", -1);
  markers.close_token = kept.value("close_token", -1);
  return markers;
}

bool BeginsInThought(const SampleRecord& sample, const ThoughtMarkers& markers) {
  std::string_view prompt = sample.prompt_end;
  while (!prompt.empty() && std::string_view(" \t\r\n").find(prompt.back()) != std::string_view::npos)
    prompt.remove_suffix(1);
  return prompt.ends_with(markers.open);
}

Thoughts FindThoughts(const SampleRecord& sample, const ThoughtMarkers& markers) {
  return FindThoughts(sample.text, PlacesIn(sample, markers), BeginsInThought(sample, markers));
}

ThoughtCounts CountThoughts(const SampleRecord& sample, const ThoughtMarkers& markers) {
  const Thoughts thoughts = FindThoughts(sample, markers);
  ThoughtCounts counts;
  counts.unfinished = thoughts.unfinished;
  int64_t partial = PartialTokens(sample);
  auto span = thoughts.spans.begin();
  for (size_t i = 0; i < sample.text_ends.size() && span != thoughts.spans.end(); ++i) {
    const size_t begin = BeginOf(sample, i);
    if (begin >= sample.text.size()) break;
    const bool whole = static_cast<size_t>(sample.text_ends[i]) > begin;
    // A part of a character stands before one of several bytes.
    if (!whole && (partial <= 0 || static_cast<unsigned char>(sample.text[begin]) < 0x80)) continue;
    partial -= !whole;
    while (span != thoughts.spans.end() && span->end <= begin) ++span;
    counts.thought += span != thoughts.spans.end() && span->begin <= begin;
  }
  counts.thought = std::min(counts.thought, sample.trace_tokens);
  counts.visible = sample.trace_tokens - counts.thought;
  return counts;
}

}  // namespace fullband
