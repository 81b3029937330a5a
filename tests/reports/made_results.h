// Results of a run, made in memory.
#pragma once

#include <string>
#include <vector>

#include "reports/results.h"

namespace fullband {

struct MadeSample {
  Result result = Result::kCorrect;
  int64_t length = 10;
  bool truncated = false;
  std::string trace = "same";
  int answer = -1;
};

// Items named 0, 1, 2, ...; kFault makes a faulty sample, kUngraded one without a grade.
inline RunResults MakeResults(const std::string& setting, const std::vector<std::vector<MadeSample>>& items) {
  RunResults results;
  results.run.suite = "made";
  results.run.ask = "generate";
  results.run.format = "completion";
  results.run.setting = setting;
  results.run.headline = "number";
  results.run.identity = R"({"setting":")" + setting + R"("})";
  for (const std::vector<MadeSample>& samples : items) {
    ItemResult& item = results.items.emplace_back();
    item.item = std::to_string(results.items.size() - 1);
    for (const MadeSample& made : samples) {
      SampleResult& sample = item.samples.emplace_back();
      sample.sample = static_cast<int>(item.samples.size()) - 1;
      sample.fault = made.result == Result::kFault;
      sample.truncated = made.truncated;
      sample.trace_tokens = made.length;
      sample.tokens_sha256 = made.trace;
      sample.answer = made.answer;
      if (made.result != Result::kUngraded && !sample.fault) sample.grades["number"] = {made.result, 1};
    }
    results.samples_per_item = std::max(results.samples_per_item, static_cast<int>(samples.size()));
  }
  return results;
}

}  // namespace fullband
