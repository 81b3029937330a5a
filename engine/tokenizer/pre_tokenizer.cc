#include "engine/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <iterator>

#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

std::vector<Stretch> FindDigits(std::string_view text) {
  std::vector<Stretch> out;
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!IsNumeric(NextCharacter(text, &at))) continue;
    if (covered < begin) out.push_back({covered, begin, false});
    out.push_back({begin, at, true});
    covered = at;
  }
  if (covered < text.size()) out.push_back({covered, text.size(), false});
  return out;
}

// A match joins the gap before it, but not the match before it.
std::vector<Stretch> MergeWithPrevious(const std::vector<Stretch>& found) {
  std::vector<Stretch> out;
  bool after_match = false;
  for (const Stretch& stretch : found) {
    if (stretch.match && !after_match && !out.empty()) {
      out.back().end = stretch.end;
    } else {
      out.push_back(stretch);
    }
    after_match = stretch.match;
  }
  return out;
}

std::vector<Stretch> MergeWithNext(const std::vector<Stretch>& found) {
  std::vector<Stretch> out;
  bool before_match = false;
  for (auto stretch = found.rbegin(); stretch != found.rend(); ++stretch) {
    if (stretch->match && !before_match && !out.empty()) {
      out.back().begin = stretch->begin;
    } else {
      out.push_back(*stretch);
    }
    before_match = stretch->match;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Stretch> MergeEqual(const std::vector<Stretch>& found) {
  std::vector<Stretch> out;
  for (const Stretch& stretch : found) {
    if (!out.empty() && out.back().match == stretch.match) {
      out.back().end = stretch.end;
    } else {
      out.push_back(stretch);
    }
  }
  return out;
}

// A space before every piece that does not begin with one.
void AddPrefixSpaces(Pieces* pieces) {
  Pieces out;
  for (const Stretch& stretch : pieces->stretches) {
    const size_t begin = out.text.size();
    if (pieces->text[stretch.begin] != ' ') out.text += ' ';
    out.text.append(pieces->text, stretch.begin, stretch.end - stretch.begin);
    out.stretches.push_back({begin, out.text.size(), false});
  }
  *pieces = std::move(out);
}

}  // namespace

std::vector<Stretch> Behave(const std::vector<Stretch>& found, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::kIsolated:
      return found;
    case SplitBehavior::kMergedWithPrevious:
      return MergeWithPrevious(found);
    case SplitBehavior::kMergedWithNext:
      return MergeWithNext(found);
    case SplitBehavior::kContiguous:
      return MergeEqual(found);
    case SplitBehavior::kRemoved:
      break;
  }
  std::vector<Stretch> out;
  std::copy_if(found.begin(), found.end(), std::back_inserter(out),
               [](const Stretch& s) { return !s.match; });
  return out;
}

PreTokenizer::PreTokenizer(const std::vector<PreTokenizerPart>& parts) {
  for (const PreTokenizerPart& part : parts) {
    Stage stage{part, nullptr};
    if (!part.pattern.empty()) stage.regex = std::make_unique<SplitRegex>(part.pattern, part.place);
    stages_.push_back(std::move(stage));
  }
}

Pieces PreTokenizer::Split(std::string_view text) const {
  Pieces pieces;
  if (text.empty()) return pieces;
  pieces.text = text;
  pieces.stretches.push_back({0, text.size(), false});
  std::string for_expressions = ForExpressions(pieces.text);
  for (const Stage& stage : stages_) {
    if (stage.part.add_prefix_space) {
      AddPrefixSpaces(&pieces);
      for_expressions = ForExpressions(pieces.text);
    }
    Apply(stage, for_expressions, &pieces);
  }
  return pieces;
}

size_t PreTokenizer::Settled(std::string_view text) const {
  const bool spaces = std::any_of(stages_.begin(), stages_.end(),
                                  [](const Stage& stage) { return stage.part.add_prefix_space; });
  if (spaces) return 0;  // where a piece begins, its text changes
  size_t settled = 0;
  for (const Stage& stage : stages_) {
    if (stage.part.kind == PreTokenizerPart::Kind::kDigits && stage.part.individual_digits) {
      // What stands before a digit has ended, and so has the digit. Any place behind it is as good.
      for (size_t at = settled; at < text.size();)
        if (IsNumeric(NextCharacter(text, &at))) settled = at;
    } else if (stage.regex) {
      const bool apart =
          stage.part.behavior == SplitBehavior::kIsolated || stage.part.behavior == SplitBehavior::kRemoved;
      // The stages behind it see what this one has cut, a piece at a time.
      return apart ? settled + stage.regex->Settled(ForExpressions(text.substr(settled))) : 0;
    } else if (stage.part.kind == PreTokenizerPart::Kind::kDigits) {
      return 0;  // runs of digits may go on
    }
  }
  return settled;
}

void PreTokenizer::Apply(const Stage& stage, const std::string& for_expressions, Pieces* pieces) {
  const bool digits = stage.part.kind == PreTokenizerPart::Kind::kDigits;
  if (!stage.regex && !digits) return;
  SplitBehavior behavior = stage.part.behavior;
  if (digits) behavior = stage.part.individual_digits ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
  std::vector<Stretch> out;
  for (const Stretch& piece : pieces->stretches) {
    // An expression sees one piece at a time: to its look-aheads, the piece's end is the text's.
    const std::string& whole = digits ? static_cast<const std::string&>(pieces->text) : for_expressions;
    const std::string_view seen = std::string_view(whole).substr(piece.begin, piece.end - piece.begin);
    std::vector<Stretch> found = digits ? FindDigits(seen) : stage.regex->Search(seen);
    if (stage.part.invert)
      for (Stretch& stretch : found) stretch.match = !stretch.match;
    for (const Stretch& stretch : Behave(found, behavior))
      if (stretch.begin != stretch.end)
        out.push_back({piece.begin + stretch.begin, piece.begin + stretch.end, false});
  }
  pieces->stretches = std::move(out);
}

}  // namespace fullband
