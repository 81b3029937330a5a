#include "cli/report_readers.h"

#include "evals/sample_thoughts.h"
#include "evals/votes.h"

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

}  // namespace fullband
