// Cuts normalized text into the pieces that are merged on their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/definition.h"
#include "engine/tokenizer/split_regex.h"

namespace fullband {

// Non-empty stretches of a text, in order.
struct Pieces {
  std::string text;
  std::vector<Stretch> stretches;
};

class PreTokenizer {
 public:
  // Throws Error where an expression is malformed or means something else to Hugging Face's library
  // (CheckPattern).
  explicit PreTokenizer(const std::vector<PreTokenizerPart>& parts);

  // `text` is valid UTF-8. Throws Error where an expression needs too many steps for it. Thread-safe.
  Pieces Split(std::string_view text) const;

  // Whatever follows `text`, its pieces up to here are the same, one of them ends here, and the rest is cut
  // as if it stood alone. 0 where there is no such place. Thread-safe.
  size_t Settled(std::string_view text) const;

 private:
  struct Stage {
    PreTokenizerPart part;
    std::unique_ptr<SplitRegex> regex;  // where the part has an expression
  };
  static void Apply(const Stage& stage, const std::string& for_expressions, Pieces* pieces);
  std::vector<Stage> stages_;
};

// The stretches that remain of matches and gaps under a behaviour; some may be empty.
std::vector<Stretch> Behave(const std::vector<Stretch>& found, SplitBehavior behavior);

}  // namespace fullband
