// Graders: a completion and a reference answer in, a verdict out. Pure functions behind one small table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/regex.h"
#include "evals/graders/thoughts.h"

namespace fullband {

enum class Outcome { kCorrect, kIncorrect, kNoAnswer, kTimeout, kFault };
const char* OutcomeName(Outcome outcome);  // "correct", "incorrect", "no_answer", "timeout", "fault"

struct Verdict {
  Outcome outcome = Outcome::kNoAnswer;
  double score = 0;
  std::string extracted;  // the answer as it was found; empty where none was
  std::string detail;     // the finer reason, from a small fixed vocabulary; may be empty
};

// Where a suite says that answers are, and how they are compared; for graders that know no answer's form.
struct AnswerRule {
  // The answer is what the last match's first group captured (the whole match where there is no group).
  std::optional<Regex> pattern;
  bool ignore_case = false;  // of ASCII letters
};

// What a text grader is given. `completion` is the kept text (already cut at the stop string), valid UTF-8.
struct TextSample {
  std::string_view completion;
  std::string_view gold;
  const AnswerRule* rule = nullptr;  // the suite's, where it has one
  // Without its thoughts, where the caller knows the model's markers; null: by the usual ones. Graders that
  // mirror other programs take the whole completion, as those do.
  const VisibleText* visible = nullptr;

  VisibleText Visible() const { return visible ? *visible : WithoutThoughts(completion); }
};

struct Grader {
  std::string name;
  int version = 1;  // raised whenever a verdict may change
  Verdict (*grade)(const TextSample& sample);
  bool takes_rule = false;  // whether it heeds a suite's AnswerRule
};

// Throws a usage Error with near names for an unknown grader.
const Grader& FindGrader(std::string_view name);
std::vector<std::string> GraderNames();

// Likelihood suites: how a choice's score is normalised before the best is picked, ties to the first.
enum class ChoiceNorm { kSum, kCharacters, kBytes, kTokens };

}  // namespace fullband
