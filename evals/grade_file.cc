#include "evals/grade_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/error.h"
#include "evals/execute.h"
#include "evals/grading.h"
#include "evals/import/kept_text.h"
#include "evals/import/line_file.h"

namespace fullband {
namespace {

using nlohmann::json;

Judge JudgeOf(const std::string& name, const GradingOptions& options) {
  if (name == kExecute) return ExecuteJudge({}, options, "--grader execute");
  const Grader& grader = FindGrader(name);
  return {grader.name, grader.version,
          [grade = grader.grade, markers = options.thoughts](const SampleRecord& sample,
                                                             const std::string& gold) {
            const VisibleText visible = WithoutThoughts(sample.text, markers);
            return grade({sample.text, gold, nullptr, &visible});
          }};
}

// A text to grade.
struct Text {
  std::string item, completion, gold;
};

GradedFile NewGradedFile() {
  GradedFile graded;
  for (const Outcome outcome :
       {Outcome::kCorrect, Outcome::kIncorrect, Outcome::kNoAnswer, Outcome::kTimeout, Outcome::kFault})
    graded.outcomes[OutcomeName(outcome)] = 0;
  return graded;
}

// In the texts' order, as many at once as the judge is good for.
GradedFile GradeAll(const std::vector<Text>& texts, const Judge& judge) {
  GradedFile graded = NewGradedFile();
  graded.items.resize(texts.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < texts.size();) {
      SampleRecord sample;
      sample.text = texts[i].completion;
      graded.items[i] = {texts[i].item, GradeSample(judge, sample, texts[i].gold)};
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min<size_t>(judge.at_once, texts.size()); ++i) helpers.emplace_back(work);
    work();
  }
  for (const GradedItem& item : graded.items) ++graded.outcomes[item.grade.outcome];
  return graded;
}

GradedFile GradePairs(const GradeRequest& request) {
  if (request.grader.empty()) throw UsageError("--pairs", "needs a grader", "add --grader NAME");
  const Judge judge = JudgeOf(request.grader, request.grading);
  std::vector<Text> texts;
  LineFile file(request.pairs);
  while (file.Next()) {
    file.CheckFields({"completion", "gold"});
    texts.push_back({std::to_string(file.number() - 1),
                     TextUpTo(request.stop_strings, file.Text("completion")), file.Text("gold")});
  }
  return GradeAll(texts, judge);
}

Judge SuiteJudge(const Suite& suite, const std::string& grader, const GradingOptions& options) {
  if (suite.ask != Ask::kGenerate)
    throw UsageError("--suite " + suite.name, "its items are chosen among, not completed",
                     "name a suite of texts");
  std::vector<Judge> judges = JudgesOf(suite, options);
  if (grader.empty()) return judges.at(0);
  const auto found =
      std::find_if(judges.begin(), judges.end(), [&](const Judge& judge) { return judge.name == grader; });
  return found != judges.end() ? *found : JudgeOf(grader, options);
}

GradedFile GradeCompletions(const GradeRequest& request) {
  if (request.suite.empty()) throw UsageError("--completions", "needs a suite", "add --suite NAME");
  const Suite suite = LoadSuite(request.suite);
  const Judge judge = SuiteJudge(suite, request.grader, request.grading);
  TaskOptions options = request.task;
  options.shots = 0;  // the items that shots are drawn from may have been answered, too
  const TaskData data = LoadTaskData(suite, options);
  std::map<std::string, const Item*> items;
  for (const Item& item : data.items) items[item.id] = &item;
  const std::vector<std::string> stops = StopStrings(suite, options.format, request.stop_strings);
  std::vector<Text> texts;
  std::set<std::string> seen;
  LineFile file(request.completions);
  while (file.Next()) {
    file.CheckFields({"item", "completion"});
    const std::string id = file.Id("item");
    const auto item = items.find(id);
    if (item == items.end()) file.Fail(fmt::format("the suite {} has no item \"{}\"", suite.name, id));
    if (!seen.insert(id).second) file.Fail(fmt::format("the item \"{}\" stands twice", id));
    const std::string completion = file.Text("completion"), gold = GoldText(data, *item->second);
    texts.push_back({id, KeptCompletion(suite, stops, completion, gold), gold});
  }
  return GradeAll(texts, judge);
}

}  // namespace

GradedFile GradeFile(const GradeRequest& request) {
  if (request.pairs.empty() == request.completions.empty())
    throw UsageError("grade", "needs one of --pairs and --completions",
                     "fullband grade --grader NAME --pairs FILE, or --suite NAME --completions FILE");
  for (const std::string& stop : request.stop_strings) {
    if (stop.empty()) throw UsageError("--stop", "is empty", "name a text that ends completions");
  }
  if (!request.completions.empty()) return GradeCompletions(request);
  if (!request.suite.empty())
    throw UsageError("--suite", "does not go with --pairs", "use --completions FILE");
  return GradePairs(request);
}

json AsJson(const GradedFile& graded) {
  json items = json::array();
  for (const GradedItem& one : graded.items) {
    items.push_back({{"item", one.item},
                     {"outcome", one.grade.outcome},
                     {"score", one.grade.score},
                     {"extracted", one.grade.extracted},
                     {"detail", one.grade.detail}});
  }
  return {{"n", graded.items.size()},
          {"correct", graded.outcomes.at("correct")},
          {"outcomes", graded.outcomes},
          {"items", std::move(items)}};
}

}  // namespace fullband
