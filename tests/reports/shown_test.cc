#include "reports/shown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/hash.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kEnd = 2;  // the model's end token

struct Trace {
  std::vector<int32_t> tokens, text_ends;
  std::string text;
  std::string stop_reason = "end";
};

// A store whose runs each answer one item, "7".
struct ShownItem : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);

  // Returns the run's key. `identity` is merged into the run's.
  std::string AddRun(const std::string& setting, nlohmann::json identity = {},
                     const std::string& suite = "sums", const std::string& ask = "generate",
                     const std::string& prompt = "Q: 3+4?\nA:") {
    nlohmann::json all = {{"setting", setting}, {"suite", suite}, {"tokenizer", "t"}, {"end_tokens", {kEnd}}};
    if (!identity.is_null()) all.update(identity);
    ModelRecord model;
    model.name = "toy";
    model.config = "{}";
    RunRecord run;
    run.identity = all.dump();
    run.key = Sha256HexOfJson(all);
    run.model_id = store->AddModel(model);
    run.suite = suite;
    run.ask = ask;
    run.format = "completion";
    run.setting = setting;
    const int64_t id = store->AddRun(run);
    store->AddItems(id, {{0, "7", 0, prompt, "7", 1}, {0, "8", 1, "Q: 4+4?\nA:", "8", 0}});
    store->ReplaceLease(id, "", {"host", 1, "process", "token", UtcNow()});
    return run.key;
  }

  int64_t AddSample(const std::string& key, SampleRecord sample) {
    const int64_t run = store->FindRun(key).id;
    SessionRecord session;
    session.run_id = run;
    session.id = store->AddSession(session);
    sample.item_id = store->Items(run).at(0).id;
    return store->AddSample(sample, "token", session);
  }

  int64_t AddTrace(const std::string& key, const Trace& trace, int number = 0) {
    SampleRecord sample;
    sample.sample = number;
    sample.text = trace.text;
    sample.stop_reason = trace.stop_reason;
    sample.tokens = sample.runner_ups = trace.tokens;
    sample.text_ends = trace.text_ends;
    sample.logprobs.assign(trace.tokens.size(), -0.5F);
    sample.runner_up_logprobs = sample.logprobs;
    sample.generated_tokens = static_cast<int64_t>(trace.tokens.size());
    sample.trace_tokens = sample.generated_tokens - 1;
    return AddSample(key, sample);
  }

  Shown Read(const ShowRequest& request) { return ReadShown(*store, request); }

  std::string ErrorOf(const ShowRequest& request) {
    try {
      Read(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    return "(no error)";
  }
};

// " It is 7." as four tokens and the end.
const Trace kSeven{{10, 11, 12, 13, kEnd}, {3, 6, 8, 9, 9}, " It is 7."};
const Trace kEight{{10, 11, 14, kEnd}, {3, 6, 8, 8}, " It is 8"};

TEST_F(ShownItem, OneRun) {
  const std::string key = AddRun("standard");
  const int64_t sample = AddTrace(key, kSeven);
  store->AddGrades(
      {{sample, "number", 1, "incorrect", 0, "6", ""}, {sample, "number", 2, "correct", 1, "7", "exact"}});
  const std::string text = RenderShown(Read({{key.substr(0, 10)}, {}, "7"}), 80);
  EXPECT_EQ(text, "sums, item 7, 1 shots dropped\n\nQ: 3+4?\nA:\n\ngold: 7\n\nstandard (toy, run " +
                      key.substr(0, 8) +
                      ")\n\n It is 7.<end 2>\n-- 5 tokens (4 of text), stopped by end\n\n"
                      "number: correct, exact, extracted: 7\n\n");
}

TEST_F(ShownItem, SettingsSideBySideWithTheFirstDifferenceMarked) {
  const std::string key = AddRun("standard");
  AddTrace(key, kSeven);
  AddTrace(AddRun("latent"), kEight);
  const Shown shown = Read({{key}, {"standard", "latent"}, "7"});
  ASSERT_EQ(shown.runs.size(), 2u);  // the first run's own setting is no other run
  EXPECT_EQ(shown.first_difference, 2u);
  const std::string wide = RenderShown(shown, 90);
  EXPECT_THAT(wide, HasSubstr("first difference: token 2 (counted from 0)"));
  EXPECT_THAT(wide, HasSubstr(" It is» 7.<end 2>" + std::string(26, ' ') + " |  It is» 8<end 2>\n"));
  const std::string narrow = RenderShown(shown, 74);
  EXPECT_THAT(narrow, Not(HasSubstr("|")));
  EXPECT_THAT(narrow, HasSubstr("\n It is» 7.<end 2>\n"));
  EXPECT_LT(narrow.find("standard (toy"), narrow.find("latent (toy"));
}

TEST_F(ShownItem, ATraceThatEndsEarlierPartsWhereItEnds) {
  const std::string key = AddRun("standard");
  AddTrace(key, {{10, 11}, {3, 6}, " It is", "length"});
  AddTrace(AddRun("latent"), kSeven);
  const Shown shown = Read({{key}, {"latent"}, "7"});
  EXPECT_EQ(shown.first_difference, 2u);
  EXPECT_THAT(RenderShown(shown, 60), HasSubstr(" It is»(ends here)\n"));
}

TEST_F(ShownItem, EqualTracesAndThoseOfOtherTokenizersHaveNoDifference) {
  const std::string key = AddRun("standard");
  AddTrace(key, kSeven);
  const std::string same = AddRun("latent"), other = AddRun("latent@2", {{"tokenizer", "u"}});
  AddTrace(same, kSeven);
  AddTrace(other, kEight);
  EXPECT_EQ(Read({{key, same}, {}, "7"}).first_difference, std::nullopt);
  EXPECT_EQ(Read({{key, other}, {}, "7"}).first_difference, std::nullopt);
}

TEST_F(ShownItem, TokensThatTheTextDoesNotShowAreVisible) {
  const std::string key = AddRun("standard");
  // A special token, "é" in two pieces, and a stop string whose token has text before it.
  AddTrace(key, {{5, 20, 21, 22, 23}, {0, 0, 2, 3, 9}, "\xc3\xa9 x", "stop_string"});
  const Shown shown = Read({{key}, {}, "7"});
  std::vector<std::string> pieces;
  std::vector<bool> hidden;
  for (const ShownToken& token : shown.runs[0].trace) {
    pieces.push_back(token.text);
    hidden.push_back(token.hidden);
  }
  EXPECT_THAT(pieces, ElementsAre("", "", "\xc3\xa9", " ", "x"));
  EXPECT_THAT(hidden, ElementsAre(true, true, false, false, true));
  EXPECT_THAT(RenderShown(shown, 80), HasSubstr("<token 5><token 20>\xc3\xa9 x<token 23>\n"));
}

TEST_F(ShownItem, WhatModelsWriteDoesNotSteerTheTerminal) {
  const std::string key = AddRun("standard", {}, "sums", "generate", "\x1b]0;title\x07");
  const int64_t sample = AddTrace(key, {{9, kEnd}, {4, 4}, "\x1b[2J"});
  store->AddGrades({{sample, "number", 1, "no_answer", 0, "\x1b", "\x1b"}});
  EXPECT_THAT(RenderShown(Read({{key}, {}, "7"}), 80), Not(HasSubstr("\x1b")));
}

TEST_F(ShownItem, OfALongGoldAnswerItsBeginning) {
  const std::string key = AddRun("standard");
  AddTrace(key, kSeven);
  Shown shown = Read({{key}, {}, "7"});
  shown.runs[0].item.gold = "begin" + std::string(1994, 'x') + "\xc3\xa9" + std::string(9000, 'y');
  const std::string text = RenderShown(shown, 80);
  EXPECT_THAT(text, HasSubstr("\nbeginxxx"));
  EXPECT_THAT(text, HasSubstr("11001"));
  EXPECT_LT(text.size(), 3000u);
  EXPECT_THAT(text, Not(HasSubstr("\xc3")));  // half of a character
  EXPECT_EQ(ShownAsJson(shown)["runs"][0]["gold"], shown.runs[0].item.gold);
}

TEST_F(ShownItem, Choices) {
  const std::string key = AddRun("standard", {}, "pick", "choose");
  SampleRecord sample;
  sample.choices = {{" blue", 1, 5, 5, -1.25, {-1.25F}, true, false},
                    {" green", 1, 6, 6, -2.5, {-2.5F}, false, true}};
  AddSample(key, sample);
  const Shown shown = Read({{key}, {}, "7"});
  EXPECT_THAT(RenderShown(shown, 80), HasSubstr(">    -1.2500\n   blue\n     -2.5000 gold\n   green\n"));
  const auto json = ShownAsJson(shown);
  EXPECT_EQ(json["runs"][0]["sample"]["choices"][1]["gold"], true);
  EXPECT_EQ(json["runs"][0]["sample"]["choices"][0]["logprob"], -1.25);
}

TEST_F(ShownItem, FaultsAndWhatIsNotDone) {
  const std::string key = AddRun("standard"), open = AddRun("latent");
  SampleRecord fault;
  fault.fault = "a state is not finite";
  AddSample(key, fault);
  const std::string text = RenderShown(Read({{key, open}, {}, "7"}), 60);
  EXPECT_THAT(text, HasSubstr("\nfault: a state is not finite\n"));
  EXPECT_THAT(text, HasSubstr("\nnot asked yet\n"));
  EXPECT_TRUE(ShownAsJson(Read({{open}, {}, "7"}))["runs"][0]["sample"].is_null());
}

TEST_F(ShownItem, Samples) {
  const std::string key = AddRun("standard");
  AddTrace(key, kSeven, 0);
  AddTrace(key, kEight, 1);
  EXPECT_THAT(RenderShown(Read({{key}, {}, "7", 1}), 80), HasSubstr("), sample 1 of 2\n\n It is 8<end 2>"));
  EXPECT_THAT(ErrorOf({{key}, {}, "7", 2}), HasSubstr("it has 2, counted from 0"));
}

TEST_F(ShownItem, PromptsThatDifferAreShownWithTheirRuns) {
  const std::string key = AddRun("standard");
  const std::string other = AddRun("latent", {}, "sums", "generate", "Question: 3+4?");
  const std::string text = RenderShown(Read({{key, other}, {}, "7"}), 100);
  EXPECT_THAT(text, HasSubstr("| Question: 3+4?\n"));
  EXPECT_THAT(text, StartsWith("sums, item 7, 1 shots dropped\n\ngold: 7\n"));
}

TEST_F(ShownItem, JsonHasItAll) {
  const std::string key = AddRun("standard");
  const int64_t sample = AddTrace(key, kSeven);
  store->AddGrades({{sample, "number", 2, "correct", 1, "7", ""}});
  const std::string other = AddRun("latent");
  AddTrace(other, kEight);
  const auto json = ShownAsJson(Read({{key}, {"latent"}, "7"}));
  EXPECT_EQ(json["item"], "7");
  EXPECT_EQ(json["first_difference"], 2);
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["run"], key);
  EXPECT_EQ(run["prompt"], "Q: 3+4?\nA:");
  EXPECT_EQ(run["sample"]["text"], " It is 7.");
  EXPECT_EQ(run["sample"]["tokens"][4],
            nlohmann::ordered_json::parse(
                R"({"id": 2, "text": "", "hidden": true, "end": true, "logprob": -0.5})"));
  EXPECT_EQ(run["grades"][0]["extracted"], "7");
  EXPECT_EQ(json["runs"][1]["setting"], "latent");
}

TEST_F(ShownItem, WhatIsNotThereIsNamed) {
  const std::string key = AddRun("standard"), other = AddRun("standard", {}, "other");
  AddRun("latent", {{"seed", 7}});  // differs in more than its setting
  AddRun("latent@2");
  EXPECT_THAT(ErrorOf({{"zz"}, {}, "7"}), HasSubstr("run zz"));
  EXPECT_THAT(ErrorOf({{key}, {}, "70"}), HasSubstr("--item 70"));
  EXPECT_THAT(ErrorOf({{key}, {"latent"}, "7"}), HasSubstr("did you mean latent@2?"));
  EXPECT_THAT(ErrorOf({{key, other}, {}, "7"}), HasSubstr("is of other, not of sums"));
}

}  // namespace
}  // namespace fullband
