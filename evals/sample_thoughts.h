// The thoughts of a run's samples: which markers its model has, where they stand, how many tokens they take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/tokenizer/tokenizer.h"
#include "evals/graders/thoughts.h"
#include "evals/store/store.h"

namespace fullband {

// Two texts with a comma between, as --think takes them; `name` is what a usage Error calls them.
ThoughtMarkers ParseMarkers(const std::string& pair, const std::string& name);
// What a model's tokenizer_config.json says ("fullband": {"think": [OPEN, CLOSE]}). Throws Error where that
// is no such pair.
std::optional<ThoughtMarkers> MarkersInFolder(const std::filesystem::path& folder);
// The markers of a model: those given; else the first pair that thinking models are known to have and that
// are both tokens of its own; else <think> and </think>. With the ids of those that are special tokens.
ThoughtMarkers MarkersOfModel(const std::optional<ThoughtMarkers>& given, const Tokenizer& tokenizer);

// As a run's identity keeps them; null for the usual ones, which it leaves out.
nlohmann::json MarkersJson(const ThoughtMarkers& markers);
ThoughtMarkers MarkersOfRun(const RunRecord& run);

// Whether the prompt ends with the opening marker, so that the completion begins inside a thought.
bool BeginsInThought(const SampleRecord& sample, const ThoughtMarkers& markers);
Thoughts FindThoughts(const SampleRecord& sample, const ThoughtMarkers& markers);

// Of a sample's trace_tokens, those whose text begins inside a thought (its markers included), and the
// others.
struct ThoughtCounts {
  int64_t thought = 0;
  int64_t visible = 0;
  bool unfinished = false;  // the trace ends inside a thought
};
// The sample comes with its blobs.
ThoughtCounts CountThoughts(const SampleRecord& sample, const ThoughtMarkers& markers);

}  // namespace fullband
