// Prompts and tokens against lm-evaluation-harness: hashes recorded by
// scripts/peers/lm_eval_prompts.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/hash.h"
#include "common/paths.h"
#include "tasks/task.h"
#include "tests/support/shared_data.h"

namespace fullband {
namespace {

std::string Short(std::string_view bytes) { return Sha256Hex(bytes).substr(0, 16); }

std::string HashOfIds(const std::vector<int32_t>& ids) {
  std::string bytes;
  for (const int32_t id : ids)
    for (int shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(static_cast<uint32_t>(id) >> shift & 0xff);
  return Short(bytes);
}

// SmolLM2's template: a system turn of its own where the conversation has none, then the turns.
std::string RenderSmolLm2(const std::vector<ChatMessage>& messages) {
  std::string text;
  if (messages[0].role != "system")
    text +=
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
        "Face<|im_end|>\n";
  for (const ChatMessage& message : messages)
    text += "<|im_start|>" + message.role + "\n" + message.content + "<|im_end|>\n";
  return text + "<|im_start|>assistant\n";
}

class LmEvalPrompts : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = HomeFolder() / "models" / "smollm2-135m-instruct";
    if (!Tokenizer::Exists(folder))
      GTEST_SKIP() << folder << " is not there (scripts/fetch_smollm2 makes it)";
    datasets_ = SharedDatasets();
    if (!datasets_) GTEST_SKIP() << "the public data files are not at hand";
    recorded_ = nlohmann::json::parse(
        std::ifstream(std::filesystem::path(FULLBAND_TEST_DATA) / "peers" / "lm_eval_prompts.json"));
    tokenizer_ = Tokenizer::Load(folder);
  }

  Task Build(const nlohmann::json& run) const {
    TaskOptions options;
    options.format = ParseFormat(run["format"]);
    options.shots = run["shots"].get<int>();
    options.fewshot_seed = run["fewshot_seed"].get<uint64_t>();
    options.data_folder = *datasets_;
    options.limit = run["items"].size();
    const Task task =
        BuildTask(LoadTaskData(LoadSuite(run["suite"]), options), *tokenizer_, RenderSmolLm2, "by hand");
    EXPECT_EQ(task.shot_ids, run["shot_ids"].get<std::vector<std::string>>());
    EXPECT_EQ(task.questions.size(), run["items"].size());
    return task;
  }

  std::optional<std::filesystem::path> datasets_;
  nlohmann::json recorded_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

TEST_F(LmEvalPrompts, GeneratedSuitesAreTokenIdentical) {
  size_t compared = 0;
  for (const nlohmann::json& run : recorded_["runs"]) {
    if (run["suite"] == "arc_easy") continue;
    const Task task = Build(run);
    EXPECT_EQ(task.stop_strings, run["stop"].get<std::vector<std::string>>());
    for (size_t i = 0; i < task.questions.size(); ++i) {
      const Question& question = task.questions[i];
      const nlohmann::json ours{question.item, Short(question.prompt_text), question.prompt.size(),
                                HashOfIds(question.prompt)};
      EXPECT_EQ(ours, run["items"][i])
          << run["suite"] << ", " << run["shots"] << " shots, item " << question.item;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 600u);
}

TEST_F(LmEvalPrompts, ChoicesAreTokenIdentical) {
  size_t compared = 0;
  for (const nlohmann::json& run : recorded_["runs"]) {
    if (run["suite"] != "arc_easy") continue;
    const Task task = Build(run);
    for (size_t i = 0; i < task.questions.size(); ++i) {
      const Question& question = task.questions[i];
      nlohmann::json choices = nlohmann::json::array();
      for (const Choice& choice : question.choices)
        choices.push_back({choice.context.size(), HashOfIds(choice.context), choice.continuation.size(),
                           HashOfIds(choice.continuation)});
      const nlohmann::json ours{question.item, Short(question.prompt_text), choices};
      EXPECT_EQ(ours, run["items"][i]) << run["format"] << ", item " << question.item;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 200u);
}

}  // namespace
}  // namespace fullband
