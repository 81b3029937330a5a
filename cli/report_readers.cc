#include "cli/report_readers.h"

#include <algorithm>

#include "evals/sample_thoughts.h"
#include "evals/votes.h"
#include "tasks/suite.h"

namespace fullband {

ReadOptions ReportReaders() {
  ReadOptions options;
  options.answers = NumberAnswers;
  options.thoughts = [](const RunRecord& run) {
    return [markers = MarkersOfRun(run)](const SampleRecord& sample) {
      const ThoughtCounts counts = CountThoughts(sample, markers);
      return ThoughtTokens{counts.thought, counts.unfinished};
    };
  };
  return options;
}

bool IsSuiteName(const std::string& suite) {
  const std::vector<std::string> names = SuiteNames();
  return std::find(names.begin(), names.end(), suite) != names.end();
}

}  // namespace fullband
