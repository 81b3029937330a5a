// Everything that can change an answer changes a run's key; nothing else does.
#include "evals/identity.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "evals/store/store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/random_model.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

RunIdentity SomeIdentity() {
  RunIdentity identity;
  identity.model = {"w", ConfigIdentity(TinyConfig()), {2}, "t", "n", "cpu", "AVX2", "bfloat16", "float32",
                    {}};
  identity.task = {"gsm8k", 1, {{"reader", "r"}}, "d", {"3", "4"}, "s", "chat", "c", "be brief", 64, {"Q:"}};
  identity.setting = "latent";
  identity.sampling = {0.5, 10, 0.9, 7};
  return identity;
}

TEST(RunKey, EveryFieldCounts) {
  using Change = std::function<void(RunIdentity&)>;
  const std::pair<const char*, Change> changes[] = {
      {"weights", [](RunIdentity& i) { i.model.weights_sha256 = std::string("other"); }},
      {"config", [](RunIdentity& i) { i.model.config["rope"]["theta"] = 5e5; }},
      {"end tokens", [](RunIdentity& i) { i.model.end_tokens.push_back(9); }},
      {"tokenizer", [](RunIdentity& i) { i.model.tokenizer_sha256 = std::string("other"); }},
      {"numerics", [](RunIdentity& i) { i.model.numerics = std::string("other"); }},
      {"thoughts", [](RunIdentity& i) { i.model.thoughts.open = "<thought>"; }},
      {"device", [](RunIdentity& i) { i.model.device = "cuda"; }},
      {"target", [](RunIdentity& i) { i.model.target = "AVX3"; }},
      {"weights' dtype", [](RunIdentity& i) { i.model.weights_dtype = "float32"; }},
      {"activations' dtype", [](RunIdentity& i) { i.model.activations_dtype = "bfloat16"; }},
      {"keys' and values' dtype", [](RunIdentity& i) { i.model.kv_dtype = "bf16"; }},
      {"suite", [](RunIdentity& i) { i.task.suite = std::string("other"); }},
      {"suite version", [](RunIdentity& i) { i.task.suite_version = 2; }},
      {"definition", [](RunIdentity& i) { i.task.definition["reader"] = std::string("other"); }},
      {"data", [](RunIdentity& i) { i.task.data_sha256 = std::string("other"); }},
      {"shot ids",
       [](RunIdentity& i) {
         i.task.shot_ids = {"4", "3"};
       }},
      {"number of shots", [](RunIdentity& i) { i.task.shot_ids = {"3"}; }},
      {"shot text", [](RunIdentity& i) { i.task.shot_text_sha256 = std::string("other"); }},
      {"format", [](RunIdentity& i) { i.task.format = "completion"; }},
      {"chat template", [](RunIdentity& i) { i.task.chat_template_sha256 = std::string("other"); }},
      {"system prompt", [](RunIdentity& i) { i.task.system = ""; }},
      {"token limit", [](RunIdentity& i) { i.task.max_new_tokens = 65; }},
      {"stop strings", [](RunIdentity& i) { i.task.stop_strings = {}; }},
      {"stop strings' order",
       [](RunIdentity& i) {
         i.task.stop_strings = {"Q", ":"};
       }},
      {"setting", [](RunIdentity& i) { i.setting = "latent@2"; }},
      {"temperature", [](RunIdentity& i) { i.sampling.temperature = 0.6; }},
      {"top k", [](RunIdentity& i) { i.sampling.top_k = 0; }},
      {"top p", [](RunIdentity& i) { i.sampling.top_p = 1; }},
      {"seed", [](RunIdentity& i) { i.sampling.seed = 8; }},
  };
  std::set<std::string> keys = {RunKey(SomeIdentity())};
  for (const auto& [name, change] : changes) {
    RunIdentity identity = SomeIdentity();
    change(identity);
    EXPECT_TRUE(keys.insert(RunKey(identity)).second) << name;
  }
  EXPECT_EQ(RunKey(SomeIdentity()), RunKey(SomeIdentity()));
  EXPECT_EQ(RunKey(SomeIdentity()).size(), 64u);
}

TEST(RunKey, EveryFieldOfTheConfigurationCounts) {
  using Change = std::function<void(ModelConfig&)>;
  const Change changes[] = {
      [](ModelConfig& c) { c.architecture = std::string("other"); },
      [](ModelConfig& c) { ++c.hidden_size; },
      [](ModelConfig& c) { ++c.layers; },
      [](ModelConfig& c) { ++c.heads; },
      [](ModelConfig& c) { ++c.kv_heads; },
      [](ModelConfig& c) { ++c.head_dim; },
      [](ModelConfig& c) { ++c.intermediate_size; },
      [](ModelConfig& c) { ++c.vocab_size; },
      [](ModelConfig& c) { ++c.max_positions; },
      [](ModelConfig& c) { c.rms_norm_eps *= 2; },
      [](ModelConfig& c) { c.tied_embeddings ^= true; },
      [](ModelConfig& c) { c.qkv_bias ^= true; },
      [](ModelConfig& c) { c.output_bias ^= true; },
      [](ModelConfig& c) { c.mlp_bias ^= true; },
      [](ModelConfig& c) { c.qk_norm ^= true; },
      [](ModelConfig& c) { c.fusion = Fusion::kAdditive; },
      [](ModelConfig& c) { c.rope.type = RopeType::kLlama3; },
      [](ModelConfig& c) { c.rope.theta *= 2; },
      [](ModelConfig& c) { c.rope.factor *= 2; },
      [](ModelConfig& c) { c.rope.low_freq_factor *= 2; },
      [](ModelConfig& c) { c.rope.high_freq_factor *= 2; },
      [](ModelConfig& c) { ++c.rope.original_max_positions; },
  };
  std::set<std::string> all = {ConfigIdentity(TinyConfig()).dump()};
  for (const Change& change : changes) {
    ModelConfig config = TinyConfig();
    change(config);
    all.insert(ConfigIdentity(config).dump());
  }
  EXPECT_EQ(all.size(), std::size(changes) + 1);
}

// What never changes an answer, changed on a real run: the key stays.
TEST(RunKey, WhatNeverChangesAnAnswerDoesNotCount) {
  TempFolder folder;
  ToyRun plain(folder / "a.db");
  plain.sampling.temperature = 1;
  const std::string key = plain.Run(ToyTask(4)).run.key;
  using Change = std::function<void(ToyRun&, Task&)>;
  const std::pair<const char*, Change> changes[] = {
      {"limit", [](ToyRun&, Task& task) { task.questions.resize(2); }},
      {"samples", [](ToyRun& run, Task&) { run.options.samples = 3; }},
      {"batch", [](ToyRun& run, Task&) { run.options.engine.batch = 2; }},
      {"chunk", [](ToyRun& run, Task&) { run.options.engine.chunk = 3; }},
      {"threads", [](ToyRun& run, Task&) { run.options.engine.threads = 2; }},
      {"shuffle", [](ToyRun& run, Task&) { run.options.shuffle = 5; }},
      {"store", [&](ToyRun& run, Task&) { run.options.store = folder / "b.db"; }},
  };
  for (const auto& [name, change] : changes) {
    ToyRun run = plain;
    Task task = ToyTask(4);
    change(run, task);
    EXPECT_EQ(run.Run(task).run.key, key) << name;
  }
}

TEST(RunKey, SamplingDoesNotCountWhereNothingIsGenerated) {
  Task task = ToyChoices(2);
  const ModelIdentity model;
  const std::string plain = RunKey(Identify(model, task, Setting::Parse("latent"), {}));
  task.max_new_tokens = 99;
  task.stop_strings = {"x"};
  EXPECT_EQ(RunKey(Identify(model, task, Setting::Parse("latent"), {0.7, 5, 0.5, 9})), plain);
  EXPECT_NE(RunKey(Identify(model, task, Setting::Parse("standard"), {})), plain);
}

TEST(WeightsDtype, NamesAllThatOccur) {
  EXPECT_EQ(WeightsDtype(*RandomModel(TinyConfig(), DType::kBF16)), "bfloat16");
  EXPECT_EQ(WeightsDtype(*RandomModel(TinyLatentConfig())), "float32");
  Model mixed = *RandomModel(TinyConfig());
  mixed.weights.layers[1].down.dtype = DType::kBF16;
  EXPECT_EQ(WeightsDtype(mixed), "bfloat16+float32");
}

}  // namespace
}  // namespace fullband
