// One item as runs answered it: prompt, trace token by token, choices, grades, and where the traces part.
// Reads only the store.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/imported.h"
#include "evals/store/store.h"

namespace fullband {

struct ShowRequest {
  std::vector<std::string> runs;      // prefixes of their keys; at least one
  std::vector<std::string> settings;  // other settings of the first run, all else being equal
  std::string item;                   // the data set's id
  int sample = 0;
};

struct ShownToken {
  int32_t id = 0;
  std::string text;     // what of the kept text it ends; may be empty
  bool hidden = false;  // it has bytes or a meaning that the text does not show: a special token, a piece of
                        // a character, text behind a stop string
  bool end = false;     // one of the model's end tokens
  float logprob = 0;
};

struct ShownRun {
  RunRecord run;
  std::string model;
  std::string tokenizer;  // SHA-256
  ItemRecord item;
  int samples = 0;                           // that the item has
  std::optional<SampleRecord> sample;        // nothing where it was not asked yet
  std::vector<ShownToken> trace;             // of generated text
  std::vector<GradeRecord> grades;           // the newest of each grader
  std::optional<ImportedRun> imported = {};  // where another engine made it
};

struct Shown {
  std::vector<ShownRun> runs;
  // The first token in which the traces are not all the same; one may have ended before it. Nothing where
  // they are the same, or cannot be compared: fewer than two traces, or tokenizers that differ.
  std::optional<size_t> first_difference;
};

// Throws a usage Error for a run, setting, item or sample that is not there, and for runs of different
// suites.
Shown ReadShown(Store& store, const ShowRequest& request);

nlohmann::ordered_json ShownAsJson(const Shown& shown);

// For people: side by side where `width` columns suffice for that, else one run after the other. Control
// characters are written out.
std::string RenderShown(const Shown& shown, int width);

}  // namespace fullband
