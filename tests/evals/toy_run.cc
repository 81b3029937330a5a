#include "tests/evals/toy_run.h"

#include <fmt/format.h>

#include <cstdio>
#include <random>

#include "evals/store/store.h"

namespace fullband {
namespace {

std::vector<int32_t> RandomTokens(std::mt19937* random, size_t count) {
  std::vector<int32_t> tokens;
  while (tokens.size() < count) tokens.push_back(static_cast<int32_t>((*random)() % 16));
  return tokens;
}

Task EmptyTask(Ask ask) {
  Task task;
  task.suite.name = ask == Ask::kGenerate ? "toy" : "toy_choices";
  task.suite.ask = ask;
  task.suite.definition = {{"name", task.suite.name}};
  task.suite.graders = ask == Ask::kGenerate ? std::vector<std::string>{"number", "lmeval_strict"}
                                             : std::vector<std::string>{"acc", "acc_norm"};
  task.data_sha256 = "data";
  task.max_new_tokens = ask == Ask::kGenerate ? 9 : 0;
  return task;
}

}  // namespace

Task ToyTask(int count) {
  Task task = EmptyTask(Ask::kGenerate);
  task.items_total = static_cast<size_t>(count);
  std::mt19937 random(5);
  for (int i = 0; i < count; ++i) {
    Question& question = task.questions.emplace_back();
    question.item = fmt::format("toy/{}", i);
    question.prompt_text = fmt::format("prompt {}", i);
    question.prompt = RandomTokens(&random, 3 + random() % 12);
    question.gold = fmt::format("{}", i);
  }
  return task;
}

Task ToyChoices(int count) {
  Task task = EmptyTask(Ask::kChoose);
  task.items_total = static_cast<size_t>(count);
  std::mt19937 random(6);
  for (int i = 0; i < count; ++i) {
    Question& question = task.questions.emplace_back();
    question.item = fmt::format("choice/{}", i);
    question.prompt_text = fmt::format("prompt {}", i);
    const std::vector<int32_t> context = RandomTokens(&random, 4 + random() % 9);
    for (int c = 0; c < 3; ++c)
      question.choices.push_back({fmt::format(" choice {}", c), context,
                                  RandomTokens(&random, 1 + random() % 3), 8 + c, 8 + 2 * c, false});
    question.gold_choice = i % 3;
    question.gold = question.choices[i % 3].text;
  }
  return task;
}

ToyRun::ToyRun(std::filesystem::path store) {
  options.store = std::move(store);
  options.engine.batch = 4;
  options.engine.chunk = 8;
}

RunResult ToyRun::Run(const Task& task) {
  Engine engine(std::make_unique<ToyBackend>(backend), nullptr, options.engine);
  Progress progress(stderr, false, true);
  Runner runner(engine, DescribeModel(engine, "models/toy", "weights"), options, progress);
  return runner.Run(task, Setting::Parse(setting), sampling);
}

std::map<std::string, std::string> Content(const std::filesystem::path& store) {
  const auto opened = OpenStore(store, StoreMode::kReadOnly);
  std::map<std::string, std::string> content;
  for (const RunRecord& run : opened->Runs()) {
    std::map<int64_t, std::string> names;
    for (const SampleRecord& sample : opened->Samples(run.id, true)) {
      names[sample.id] = fmt::format("{} {} {}", run.key, sample.item, sample.sample);
      content[names[sample.id]] = ContentSha256(sample);
    }
    for (const GradeRecord& grade : opened->Grades(run.id))
      content[names.at(grade.sample_id)] +=
          fmt::format(" {}/{}: {} {} {} {};", grade.grader, grade.version, grade.outcome, grade.score,
                      grade.extracted, grade.detail);
  }
  return content;
}

}  // namespace fullband
