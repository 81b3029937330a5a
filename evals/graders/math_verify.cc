// The library math-verify, in the worker.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "common/worker.h"
#include "evals/graders/grading_workers.h"
#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

// The library ends its own work after five seconds of each of two parsings and of each comparison, and says
// that the answers differ. This limit is for what its alarm does not reach.
constexpr std::chrono::seconds kTimeLimit{30};

}  // namespace

Verdict GradeMathVerify(const TextSample& sample) {
  const nlohmann::json request{
      {"job", "math_verify"}, {"completion", sample.completion}, {"gold", sample.gold}};
  nlohmann::json answer;
  try {
    answer = CallGradingWorker(request, kTimeLimit);
  } catch (const WorkerTimeout&) {
    return {Outcome::kTimeout, 0, "", "library"};
  } catch (const WorkerLimit& limit) {
    return {Outcome::kTimeout, 0, "", limit.which + "_limit"};
  }
  if (!answer.at("gold_found").get<bool>()) return {Outcome::kFault, 0, "", "gold_not_understood"};
  const bool correct = answer.at("correct").get<bool>();
  const std::string extracted = answer.at("extracted").get<std::string>();
  const bool found = answer.at("found").get<bool>();
  if (!correct && !found) return {Outcome::kNoAnswer, 0, "", "no_answer"};
  return {correct ? Outcome::kCorrect : Outcome::kIncorrect, correct ? 1.0 : 0.0, extracted, ""};
}

}  // namespace fullband
