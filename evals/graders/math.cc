// The headline grader of mathematics.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/worker.h"
#include "evals/graders/grading_workers.h"
#include "evals/graders/math_answer.h"
#include "evals/graders/math_extract.h"
#include "evals/graders/text_graders.h"
#include "evals/graders/thoughts.h"

namespace fullband {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeLimit{5000};  // of a pair, all questions together
constexpr size_t kMaxNodes = 300;                      // of a tree that the worker is sent
constexpr size_t kMaxDigits = 60;                      // of a number in it
constexpr size_t kMaxExponentDigits = 3;

// What is beyond the bounds of what the worker may be asked.
struct TooLarge {};

// As nested arrays: ["add", part, ...], ["number", "2.5"], ["symbol", "x"], ["function", "sin", part].
json AsJson(const MathNode& node, bool in_exponent, size_t* nodes) {
  if (++*nodes > kMaxNodes) throw TooLarge();
  json tree = json::array();
  bool exponent = in_exponent;
  switch (node.kind) {
    case MathKind::kNumber:
      if (node.text.size() > (in_exponent ? kMaxExponentDigits : kMaxDigits)) throw TooLarge();
      return {"number", node.text};
    case MathKind::kSymbol:
      return {"symbol", node.text};
    case MathKind::kUnit:
      return AsJson(node.parts[0], in_exponent, nodes);
    case MathKind::kFunction:
      tree = {"function", node.text};
      // A factorial grows as an exponent does.
      exponent = exponent || node.text == "factorial" || node.text == "binomial" || node.text == "exp";
      break;
    case MathKind::kAdd:
      tree = {"add"};
      break;
    case MathKind::kMultiply:
      tree = {"multiply"};
      break;
    case MathKind::kDivide:
      tree = {"divide"};
      break;
    case MathKind::kPower:
      return {"power", AsJson(node.parts[0], in_exponent, nodes), AsJson(node.parts[1], true, nodes)};
    case MathKind::kPercent:
      return {"divide", AsJson(node.parts[0], in_exponent, nodes), {"number", "100"}};
    default:
      throw TooLarge();  // no scalar: never asked about
  }
  for (const MathNode& part : node.parts) tree.push_back(AsJson(part, exponent, nodes));
  return tree;
}

// Asks about one pair's parts, all within one time limit.
class SymbolicQuestion {
 public:
  bool operator()(const MathNode& a, const MathNode& b) {
    size_t nodes = 0;
    json request{{"job", "same_expression"}};
    try {
      request["left"] = AsJson(a, false, &nodes);
      request["right"] = AsJson(b, false, &nodes);
    } catch (const TooLarge&) {
      too_large_ = true;
      return false;
    }
    if (left_ <= std::chrono::milliseconds(0)) throw WorkerTimeout();
    const auto start = Clock::now();
    const bool same = CallGradingWorker(request, left_).get<bool>();
    left_ -= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return same;
  }
  bool too_large() const { return too_large_; }

 private:
  std::chrono::milliseconds left_ = kTimeLimit;
  bool too_large_ = false;
};

}  // namespace

Verdict GradeMath(const TextSample& sample) {
  const std::string gold = MathGold(sample.gold);
  if (gold.empty()) return {Outcome::kFault, 0, "", "gold_is_empty"};
  const VisibleText visible = sample.Visible();
  const std::optional<MathAnswer> answer = FindMathAnswer(visible.text);
  // Without a mark, what stands before a thought that never ended is no answer.
  if (!answer || (visible.ends_in_thought && !answer->marked)) {
    const bool blank = visible.text.find_first_not_of(" \t\r\n") == std::string::npos;
    return {Outcome::kNoAnswer, 0, "",
            visible.ends_in_thought ? "truncated_in_thought"
            : blank                 ? "empty"
                                    : "no_answer"};
  }
  SymbolicQuestion question;
  MathComparison comparison;
  try {
    comparison =
        SameAnswer(answer->text, gold, [&](const MathNode& a, const MathNode& b) { return question(a, b); });
  } catch (const WorkerTimeout&) {
    return {Outcome::kTimeout, 0, answer->text, "symbolic"};
  } catch (const WorkerLimit& limit) {
    return {Outcome::kTimeout, 0, answer->text, limit.which + "_limit"};
  }
  std::string detail = comparison.detail;
  if (!comparison.same && question.too_large()) detail = "too_large";
  if (detail.empty() && !answer->marked) detail = "unmarked";
  if (answer->unfinished) detail = "unfinished_box";
  const Outcome outcome = comparison.same ? Outcome::kCorrect : Outcome::kIncorrect;
  return {outcome, comparison.same ? 1.0 : 0.0, answer->text, std::move(detail)};
}

}  // namespace fullband
