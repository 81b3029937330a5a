#include "evals/requests.h"

#include <string>
#include <utility>

#include "common/hash.h"

namespace fullband {

GenerateRequest RequestOf(const Task& task, const Question& question, const Setting& setting,
                          const Sampling& sampling, int sample) {
  GenerateRequest request;
  request.prompt = question.prompt;
  request.setting = setting;
  request.sampling = sampling;
  request.item_key = ItemKey(question.item);
  request.sample = sample;
  request.max_new_tokens = task.max_new_tokens;
  request.stop_strings = task.stop_strings;
  return request;
}

std::vector<ScoreRequest> RequestsOf(const Question& question, const Setting& setting) {
  std::vector<ScoreRequest> requests;
  for (const Choice& choice : question.choices) {
    ScoreRequest& request = requests.emplace_back();
    request.context = choice.context;
    request.continuation = choice.continuation;
    request.setting = setting;
  }
  return requests;
}

uint64_t ItemKey(const std::string& item) { return std::stoull(Sha256Hex(item).substr(0, 16), nullptr, 16); }

}  // namespace fullband
