// Prompts as text: the exact bytes, templates, options that do not fit together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "common/error.h"
#include "tasks/task_data.h"
#include "tasks/text_template.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextTemplate, FillsHolesOnce) {
  EXPECT_EQ(FillTemplate("a {x} b {y}{x}", {{"x", "1"}, {"y", "{x}"}}), "a 1 b {x}1");
  EXPECT_EQ(FillTemplate("\\boxed{{}} {{{x}}}", {{"x", "1"}}), "\\boxed{} {1}");
  EXPECT_EQ(FillTemplate("", {}), "");
}

TEST(TextTemplate, RefusesWhatIsNone) {
  for (const char* text : {"{", "}", "{x", "x}", "{}", "{{x}", "{x}}"})
    EXPECT_THROW(FillTemplate(text, {{"x", "1"}}), std::invalid_argument) << text;
  EXPECT_THROW(FillTemplate("{y}", {{"x", "1"}}), std::invalid_argument);
}

TaskData Data(const Suite& suite, int shots, Format format = Format::kCompletion,
              const std::string& system = "") {
  TaskOptions options;
  options.shots = shots;
  options.format = format;
  options.system = system;
  return LoadTaskData(suite, options);
}

TEST(Prompt, CompletionOfWordProblems) {
  const OwnSuite own;
  EXPECT_EQ(CompletionPrompt(Data(own.Load(), 0), Data(own.Load(), 0).items[1], 0), "Q: 2+3?\nA:");
  const TaskData data = Data(own.Load(), 2);
  const auto shot = [&](size_t i) {
    return "Q: " + data.shots[i].fields["question"].get<std::string>() +
           "\nA: " + data.shots[i].fields["answer"].get<std::string>() + "\n\n";
  };
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 2), shot(0) + shot(1) + "Q: 1+1?\nA:");
  // With fewer shots the oldest go.
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 1), shot(1) + "Q: 1+1?\nA:");
  EXPECT_EQ(GoldText(data, data.items[0]), "2");
}

TEST(Prompt, CompletionOfChoices) {
  const OwnSuite own;
  const TaskData data = Data(own.Load("own_choice.toml"), 0);
  EXPECT_EQ(CompletionPrompt(data, data.items[1], 0), "Q: Grass?\nA:");
  EXPECT_THAT(Continuations(data, data.items[1]), ElementsAre(" blue", " green", " a caf\xc3\xa9"));
  EXPECT_EQ(GoldText(data, data.items[1]), "green");
  TaskData shown = data;
  shown.shots = {data.items[1]};
  EXPECT_EQ(CompletionPrompt(shown, data.items[0], 1), "Q: Grass?\nA: green\n\nQ: Sky?\nA:");
}

TEST(Prompt, CompletionOfSchemas) {
  const OwnSuite own;
  const TaskData data = Data(own.Load("own_schema.toml"), 0);
  EXPECT_EQ(CompletionPrompt(data, data.items[1], 0, 0), "Ann thanked Bea because Ann");
  EXPECT_EQ(CompletionPrompt(data, data.items[1], 0, 1), "Ann thanked Bea because Bea");
  EXPECT_THAT(Continuations(data, data.items[1]), ElementsAre(" had helped.", " had helped."));
  EXPECT_EQ(GoldText(data, data.items[1]), "Ann thanked Bea because Bea");
  TaskData shown = data;
  shown.shots = {data.items[0]};
  EXPECT_EQ(CompletionPrompt(shown, data.items[1], 1, 1),
            "The cup fell on the plate, so the cup broke it.\n\nAnn thanked Bea because Bea");
}

// The two questions about Ann and Bea have opposite answers, so that neither may stand before the other.
TEST(Prompt, SchemasWithTwinsAreNoShots) {
  const OwnSuite own;
  TaskOptions options;
  for (options.fewshot_seed = 0; options.fewshot_seed < 20; ++options.fewshot_seed) {
    const TaskData data = LoadTaskData(own.Load("own_schema.toml"), options);
    ASSERT_EQ(data.shots.size(), 1u);
    EXPECT_EQ(data.shots[0].id, "0");
  }
}

TEST(Prompt, CompletionOfOneContinuation) {
  const OwnSuite own;
  const TaskData data = Data(own.Load("own_continuation.toml"), 1);
  ASSERT_EQ(data.items.size(), 1u);
  const std::string shots[] = {"One, two, three\n\n", "Red and \n\nblue\n\n"};
  const size_t shot = data.shots[0].id == "0" ? 0 : 1;
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 1), shots[shot] + (shot == 0 ? "Red and" : "One, two,"));
  EXPECT_THAT(Continuations(data, data.items[0]), ElementsAre(shot == 0 ? " \n\nblue" : " three"));
}

TEST(Prompt, EachPartHasItsOwnPreambleAndShots) {
  const OwnSuite own;
  const TaskData data = Data(own.Load("own_parts.toml"), 2);
  ASSERT_EQ(data.items.size(), 4u);
  EXPECT_EQ(data.items[0].id, "colours/0");
  EXPECT_EQ(data.items[2].id, "tiny_sums/1");
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 2),
            "About colours.\n\n"
            "Grass?\nA. red\nB. green\nC. blue\nD. grey\nAnswer: B\n\n"
            "Snow\nat night?\nA. red\nB. green\nC. blue\nD. grey\nAnswer: D\n\n"
            "Sky?\nA. red\nB. green\nC. blue\nD. grey\nAnswer:");
  // In the order of the file, without the question that is asked ("1+1?").
  const std::string sums = "\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:";
  EXPECT_EQ(CompletionPrompt(data, data.items[3], 2),
            "About tiny sums.\n\n0+1?" + sums + " A\n\n1+2?" + sums + " C\n\n3+1?" + sums);
  // With fewer shots the oldest go, and the preamble stays.
  EXPECT_EQ(CompletionPrompt(data, data.items[3], 1),
            "About tiny sums.\n\n1+2?" + sums + " C\n\n3+1?" + sums);
  EXPECT_EQ(GroupsText(data.suite, data.items[3]), R"({"category":"numbers","subject":"tiny sums"})");
  EXPECT_EQ(GoldText(data, data.items[3]), "D");
}

TEST(Prompt, ChatPreamblesAreTheSystemPromptOrFollowIt) {
  const OwnSuite own;
  const TaskData data = Data(own.Load("own_parts.toml"), 1, Format::kChat, "Be brief.");
  const std::vector<ChatMessage> messages = ChatPrompt(data, data.items[0], 1);
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[0].content, "Be brief.\n\nAbout colours.");
  EXPECT_EQ(messages[2].content, "B");
  const TaskData bare = Data(own.Load("own_parts.toml"), 0, Format::kChat);
  EXPECT_EQ(ChatPrompt(bare, data.items[0], 0)[0].content, "About colours.");
}

// A limit goes round the parts, and a larger one asks what a smaller one did.
TEST(Prompt, ALimitTakesOfAllPartsAlike) {
  const OwnSuite own;
  TaskData data = Data(own.Load("own_parts.toml"), 0);
  const auto asked = [&](size_t limit) {
    data.options.limit = limit;
    std::vector<std::string> ids;
    for (const size_t row : AskedRows(data)) ids.push_back(data.items[row].id);
    return ids;
  };
  EXPECT_THAT(asked(1), ElementsAre("colours/0"));
  EXPECT_THAT(asked(2), ElementsAre("colours/0", "tiny_sums/0"));
  EXPECT_THAT(asked(3), ElementsAre("colours/0", "tiny_sums/0", "tiny_sums/1"));
  EXPECT_EQ(asked(0).size(), 4u);
  EXPECT_EQ(asked(99), asked(0));
}

TEST(Prompt, DerivedFieldsAreWhatTheirPatternCaptures) {
  const OwnSuite own;
  own.Write("own_choice.toml",
            Replaced(Replaced(kOwnChoose, "Q: {query}", "{stem}"), "[chat]",
                     "[fields.stem]\nfrom = \"query\"\npattern = '\\A(.*)\\?\\z'\n\n[chat]"));
  const TaskData data = Data(own.Load("own_choice.toml"), 0);
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 0), "Sky\nA:");
  own.Write("own_choice.jsonl",
            std::string(kOwnChoices) + R"({"query": "No question", "choices": ["a", "b"], "gold": 0})");
  try {
    Data(own.Load("own_choice.toml"), 0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("own_choice.jsonl, item 3, query: is not of the form that fields.stem"));
  }
}

TEST(Prompt, ChatHasShotsAsTurns) {
  const OwnSuite own;
  const TaskData data = Data(own.Load(), 1, Format::kChat, "Be brief.");
  const std::vector<ChatMessage> messages = ChatPrompt(data, data.items[0], 1);
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[0].content, "Be brief.");
  EXPECT_EQ(messages[1].role, "user");
  EXPECT_EQ(messages[1].content, data.shots[0].fields["question"].get<std::string>() + " Think.");
  EXPECT_EQ(messages[2].role, "assistant");
  EXPECT_EQ(messages[2].content, data.shots[0].fields["answer"].get<std::string>());
  EXPECT_EQ(messages[3].content, "1+1? Think.");
  EXPECT_EQ(ChatPrompt(Data(own.Load(), 0, Format::kChat), data.items[0], 0).size(), 1u);
}

TEST(Prompt, MiniSuitesReadAsTheirLargeSiblings) {
  const TaskData problems = Data(LoadSuite("mini_gsm8k"), 0);
  EXPECT_EQ(CompletionPrompt(problems, problems.items[0], 0),
            "Question: " + problems.items[0].fields["question"].get<std::string>() + "\nAnswer:");
  EXPECT_THAT(problems.items[0].fields["answer"].get<std::string>(),
              ::testing::EndsWith("\n#### " + GoldText(problems, problems.items[0])));
  const TaskData choices = Data(LoadSuite("mini_choice"), 0);
  EXPECT_THAT(CompletionPrompt(choices, choices.items[0], 0), ::testing::StartsWith("Question: "));
  EXPECT_THAT(CompletionPrompt(choices, choices.items[0], 0), ::testing::EndsWith("?\nAnswer:"));
  EXPECT_EQ(LoadSuite("gsm8k").completion.question, LoadSuite("mini_gsm8k").completion.question);
  EXPECT_EQ(LoadSuite("gsm8k").completion.stop_strings, LoadSuite("mini_gsm8k").completion.stop_strings);
}

// The shots' hash tells other shots, another order and another wording apart.
TEST(Prompt, ShotTextIsIdentified) {
  const OwnSuite own;
  const TaskData two = Data(own.Load(), 2);
  EXPECT_EQ(ShotTextSha256(two), ShotTextSha256(Data(own.Load(), 2)));
  EXPECT_NE(ShotTextSha256(two), ShotTextSha256(Data(own.Load(), 1)));
  EXPECT_NE(ShotTextSha256(two), ShotTextSha256(Data(own.Load(), 2, Format::kChat)));
  TaskData turned = two;
  std::swap(turned.shots[0], turned.shots[1]);
  EXPECT_NE(ShotTextSha256(two), ShotTextSha256(turned));
}

TEST(Prompt, OptionsThatMakeNoSenseAreUsageErrors) {
  const OwnSuite own;
  const auto fails = [&](auto change) {
    TaskOptions options;
    change(options);
    try {
      LoadTaskData(own.Load(), options);
    } catch (const Error& error) {
      return error.code() == ExitCode::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(fails([](TaskOptions& o) { o.shots = -1; }));
  EXPECT_TRUE(fails([](TaskOptions& o) { o.max_new_tokens = 0; }));
  EXPECT_TRUE(fails([](TaskOptions& o) { o.system = "Be brief."; }));
  EXPECT_TRUE(fails([](TaskOptions& o) { o.extra_stop_strings = {""}; }));
  EXPECT_FALSE(fails([](TaskOptions&) {}));
}

}  // namespace
}  // namespace fullband
