#include "evals/graders/grader.h"

#include "common/error.h"
#include "common/names.h"
#include "evals/graders/text_graders.h"

namespace fullband {

namespace {

// Every grader of texts. A version is raised whenever a verdict may change.
const std::vector<Grader>& Graders() {
  static const std::vector<Grader> graders = {
      {"number", 3, GradeNumber},
      {"lmeval_strict", 1, GradeLmEvalStrict},
      {"lmeval_flexible", 1, GradeLmEvalFlexible},
      {"exact", 2, GradeExact, true},
      {"math", 3, GradeMath},
      {"math_verify", 2, GradeMathVerify},
  };
  return graders;
}

}  // namespace

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCorrect:
      return "correct";
    case Outcome::kIncorrect:
      return "incorrect";
    case Outcome::kNoAnswer:
      return "no_answer";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kFault:
      return "fault";
  }
  return "fault";
}

const Grader& FindGrader(std::string_view name) {
  for (const Grader& grader : Graders()) {
    if (grader.name == name) return grader;
  }
  throw UsageError("grader '" + std::string(name) + "'", "there is no such grader",
                   DidYouMean(name, GraderNames()));
}

std::vector<std::string> GraderNames() {
  std::vector<std::string> names;
  for (const Grader& grader : Graders()) names.push_back(grader.name);
  return names;
}

}  // namespace fullband
