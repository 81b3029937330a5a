#include "evals/votes.h"

#include <exception>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "evals/graders/grader.h"
#include "evals/graders/lmeval_match.h"
#include "evals/graders/math_answer.h"
#include "evals/graders/numbers.h"

namespace fullband {
namespace {

using Same = std::function<bool(const std::string& a, const std::string& b)>;

bool SameByMath(const std::string& a, const std::string& b) {
  try {
    return SameAnswer(a, b, [](const MathNode&, const MathNode&) { return false; }).same;
  } catch (const std::exception&) {  // beyond the bounds: equal only to itself
    return false;
  }
}

bool SameByLmEval(const std::string& a, const std::string& b) {
  return LmEvalExactMatch(a, b).outcome == Outcome::kCorrect;
}

// What the grader `exact` does beyond comparing bytes is up to the suite.
Same SameByExact(const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  const nlohmann::json::json_pointer key("/suite/definition/answer/ignore_case");
  if (!identity.is_object() || !identity.contains(key) || identity.at(key) != true)
    return [](const std::string&, const std::string&) { return false; };
  return [](const std::string& a, const std::string& b) {
    const auto lower = [](std::string text) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      return text;
    };
    return lower(a) == lower(b);
  };
}

// Of two texts that differ; empty where the grader compares none.
Same SameOf(const RunRecord& run) {
  const std::string& grader = run.headline;
  if (run.ask != "generate") return {};
  if (grader == "number") return SameNumber;
  if (grader == "math") return SameByMath;
  if (grader == "exact") return SameByExact(run);
  if (grader == "lmeval_strict" || grader == "lmeval_flexible") return SameByLmEval;
  return {};
}

}  // namespace

std::optional<std::vector<int>> NumberAnswers(const RunRecord& run, const std::vector<GradeRecord>& grades) {
  const Same same = SameOf(run);
  if (!same) return std::nullopt;
  std::vector<int> numbers;
  std::map<std::string, int, std::less<>> known;  // spelling -> number
  std::vector<std::string> first;                 // of each wrong answer the spelling it came in
  for (const GradeRecord& grade : grades) {
    if (grade.outcome == OutcomeName(Outcome::kCorrect)) {
      numbers.push_back(0);
      continue;
    }
    if (grade.outcome == OutcomeName(Outcome::kNoAnswer) || grade.outcome == OutcomeName(Outcome::kFault) ||
        grade.extracted.empty()) {
      numbers.push_back(-1);
      continue;
    }
    const auto [at, fresh] = known.try_emplace(grade.extracted, 0);
    if (fresh) {
      size_t i = 0;
      while (i < first.size() && !same(grade.extracted, first[i])) ++i;
      if (i == first.size()) first.push_back(grade.extracted);
      at->second = static_cast<int>(i) + 1;
    }
    numbers.push_back(at->second);
  }
  return numbers;
}

}  // namespace fullband
