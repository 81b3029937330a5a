// Items as tokens: what is special, what is dropped, what identifies a task.
#include "tasks/task.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "common/hash.h"
#include "tests/tasks/own_suite.h"
#include "tests/tasks/tiny_tokenizer.h"

namespace fullband {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Tokens : public ::testing::Test {
 protected:
  Tokens() : tokenizer_(TinyTokenizer(folder_.path(), {}, true)) {}

  // Turns as "<|end|>role: content\n", then "<|end|>".
  static std::string Render(const std::vector<ChatMessage>& messages) {
    std::string text;
    for (const ChatMessage& message : messages)
      text += "<|end|>" + message.role + ": " + message.content + "\n";
    return text + "<|end|>";
  }

  Task Build(const std::string& name, const TaskOptions& options) const {
    return BuildTask(LoadTaskData(own_.Load(name), options), *tokenizer_, Render, "template");
  }
  std::string Text(const std::vector<int32_t>& ids) const { return tokenizer_->Decode(ids, false); }

  OwnSuite own_;
  TempFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

TEST_F(Tokens, CompletionPromptsAreTheTextBehindBos) {
  TaskOptions options;
  options.shots = 2;
  const Task task = Build("own.toml", options);
  ASSERT_EQ(task.questions.size(), 2u);
  for (const Question& question : task.questions) {
    EXPECT_EQ(question.prompt[0], kTinyBos);
    EXPECT_EQ(Text(question.prompt), "<s>" + question.prompt_text);
    EXPECT_TRUE(question.fault.empty());
    EXPECT_EQ(question.shots_dropped, 0);
  }
  EXPECT_EQ(task.questions[1].gold, "5");
  EXPECT_EQ(task.questions[1].item, "1");
  EXPECT_THAT(task.questions[1].prompt_text, ::testing::EndsWith("\n\nQ: 2+3?\nA:"));
}

TEST_F(Tokens, GroupsStandInTheSuitesOrder) {
  const Task task = Build("own_graded.toml", {});
  ASSERT_EQ(task.questions.size(), 2u);
  EXPECT_EQ(task.questions[0].groups, R"({"kind":"sums","difficulty":2})");
  EXPECT_EQ(task.questions[1].groups, R"({"kind":"odd \"ones\"","difficulty":1})");
  own_.Write("own_graded.toml",
             Replaced(kOwnGraded, "[\"kind\", \"difficulty\"]", "[\"difficulty\", \"kind\"]"));
  EXPECT_EQ(Build("own_graded.toml", {}).questions[0].groups, R"({"difficulty":2,"kind":"sums"})");
  EXPECT_EQ(Build("own.toml", {}).questions[0].groups, "{}");
}

TEST_F(Tokens, ChoicesAreScoredBehindTheirContext) {
  TaskOptions options;
  options.shots = 0;
  const Question question = Build("own_choice.toml", options).questions[1];
  ASSERT_EQ(question.choices.size(), 3u);
  EXPECT_EQ(question.gold_choice, 1);
  EXPECT_EQ(question.gold, "green");
  EXPECT_TRUE(question.prompt.empty());
  for (const Choice& choice : question.choices) {
    EXPECT_EQ(Text(choice.context), "<s>Q: Grass?\nA:");
    EXPECT_EQ(Text(choice.continuation), choice.text);
    EXPECT_FALSE(choice.boundary_merge);
  }
  EXPECT_EQ(question.choices[2].text, " a caf\xc3\xa9");
  EXPECT_EQ(question.choices[2].characters, 6);
  EXPECT_EQ(question.choices[2].bytes, 7);
}

TEST_F(Tokens, SchemasScoreOneContinuationAfterEachContext) {
  TaskOptions options;
  options.shots = 0;
  const Question question = Build("own_schema.toml", options).questions[1];
  ASSERT_EQ(question.choices.size(), 2u);
  EXPECT_EQ(question.gold_choice, 1);
  EXPECT_EQ(question.prompt_text, "Ann thanked Bea because Ann");
  for (const Choice& choice : question.choices) {
    EXPECT_EQ(Text(choice.context), "<s>" + choice.text);
    EXPECT_EQ(Text(choice.continuation), " had helped.");
    EXPECT_EQ(choice.characters, 11);  // of the continuation, without the space before it
  }
  EXPECT_EQ(question.choices[1].text, "Ann thanked Bea because Bea");
}

TEST_F(Tokens, OneContinuationIsOneChoice) {
  const Question question = Build("own_continuation.toml", {}).questions[0];
  ASSERT_EQ(question.choices.size(), 1u);
  EXPECT_EQ(question.gold_choice, 0);
  EXPECT_EQ(question.gold, "three");
  EXPECT_EQ(Text(question.choices[0].context), "<s>One, two,");
  EXPECT_EQ(Text(question.choices[0].continuation), " three");
}

TEST_F(Tokens, PartsCountTheShotsOfOnePrompt) {
  const Task task = Build("own_parts.toml", {});
  EXPECT_EQ(task.shots, 2);
  EXPECT_THAT(task.shot_ids, ElementsAre("colours/0", "colours/1", "tiny_sums/0", "tiny_sums/2"));
  EXPECT_EQ(task.items_total, 4u);
  const std::string before = task.data_sha256;
  own_.Write("colours_test.csv", std::string(kOwnCsvHeader) + "Sea?,red,green,blue,grey,2\n");
  EXPECT_NE(Build("own_parts.toml", {}).data_sha256, before);
}

constexpr char kLookAlike[] =
    "{\"question\": \"Is <|end|> or <s> text?\", \"answer\": \"<|end|>\\n#### 1\"}\n";

TEST_F(Tokens, DataNeverBecomeSpecialTokensInCompletion) {
  own_.Write("own.jsonl", kLookAlike);
  own_.Write("own_shots.jsonl", Replaced(kLookAlike, "Is", "Are"));
  TaskOptions options;
  options.shots = 1;
  const Question question = Build("own.toml", options).questions[0];
  EXPECT_THAT(question.prompt, Not(Contains(kTinyEnd)));
  EXPECT_EQ(std::count(question.prompt.begin(), question.prompt.end(), kTinyBos), 1);
  EXPECT_EQ(Text(question.prompt), "<s>" + question.prompt_text);
}

TEST_F(Tokens, DataNeverBecomeSpecialTokensInChat) {
  own_.Write("own.jsonl", kLookAlike);
  own_.Write("own_shots.jsonl", Replaced(kLookAlike, "Is", "Are"));
  TaskOptions options;
  options.format = Format::kChat;
  options.shots = 1;
  options.system = "No <|end|> here.";
  const Question question = Build("own.toml", options).questions[0];
  // One for each of the four turns and one at the end: the template's own, and no BOS that the template has
  // not.
  EXPECT_EQ(std::count(question.prompt.begin(), question.prompt.end(), kTinyEnd), 5);
  EXPECT_THAT(question.prompt, Not(Contains(kTinyBos)));
  EXPECT_EQ(Text(question.prompt), question.prompt_text);
  EXPECT_EQ(question.prompt_text,
            "<|end|>system: No <|end|> here.\n<|end|>user: Are <|end|> or <s> text? Think.\n"
            "<|end|>assistant: <|end|>\n#### 1\n<|end|>user: Is <|end|> or <s> text? Think.\n<|end|>");
}

TEST_F(Tokens, ChatChoicesAreGuardedToo) {
  own_.Write("own_choice.jsonl", R"({"query": "Which?", "choices": ["<|end|>", "<s>"], "gold": 0})");
  TaskOptions options;
  options.format = Format::kChat;
  options.shots = 0;
  const Question question = Build("own_choice.toml", options).questions[0];
  EXPECT_EQ(question.prompt_text, "<|end|>user: Which?\n<|end|>");
  EXPECT_EQ(question.choices[0].text, "<|end|>");
  EXPECT_EQ(question.choices[0].characters, 7);
  EXPECT_EQ(Text(question.choices[0].continuation), "<|end|>");
  EXPECT_THAT(question.choices[0].continuation, Not(Contains(kTinyEnd)));
  EXPECT_EQ(std::count(question.choices[0].context.begin(), question.choices[0].context.end(), kTinyEnd), 2);
}

// Three shots of 30 tokens each, a question of 12 with BOS, 7 new tokens: 109.
class TooLong : public Tokens {
 protected:
  TooLong() {
    const auto line = [](const std::string& question, const std::string& answer) {
      return fmt::format("{{\"question\": \"{}\", \"answer\": \"#### {}\"}}\n", question, answer);
    };
    own_.Write("own.jsonl", line("12345", "1"));
    std::string shots;
    for (int i = 0; i < 3; ++i) shots += line(fmt::format("shot{}", i), "12345678901");
    own_.Write("own_shots.jsonl", shots);
  }

  Question Ask(int max_context, int shots = 3) const {
    TaskOptions options;
    options.shots = shots;
    options.max_context = max_context;
    return Build("own.toml", options).questions[0];
  }
};

TEST_F(TooLong, WholeShotsGoOldestFirstNeverTheQuestion) {
  const Question whole = Ask(0);
  ASSERT_EQ(whole.prompt.size(), 102u);
  EXPECT_EQ(Ask(109).shots_dropped, 0);
  EXPECT_EQ(Ask(109).prompt, whole.prompt);
  for (const auto& [context, dropped] :
       std::vector<std::pair<int, int>>{{108, 1}, {79, 1}, {78, 2}, {49, 2}, {48, 3}, {19, 3}}) {
    const Question question = Ask(context);
    EXPECT_EQ(question.shots_dropped, dropped) << context;
    EXPECT_EQ(question.prompt_text, whole.prompt_text.substr(static_cast<size_t>(dropped) * 30)) << context;
    EXPECT_EQ(question.prompt.size(), static_cast<size_t>(102 - dropped * 30)) << context;
    EXPECT_EQ(question.prompt[0], kTinyBos);
    EXPECT_TRUE(question.fault.empty()) << context;
  }
}

// A reported fault (L11): truncation from the left took BOS, the instruction or the question. BOS 1,
// instruction 6, three shots of 10, question 9, room for 4.
TEST_F(TooLong, TheInstructionStaysWhereShotsGo) {
  std::string toml = kOwnGenerate;
  for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
           {"[completion]\n", "[completion]\npreamble = \"Sums.\\n\"\n"},
           {"Q: {question}\\nA:", "{question}=?"},
           {"\" {answer}\"", "\"{answer}\""},
           {"separator = \"\\n\\n\"", "separator = \"\\n\""},
           {"max_new_tokens = 7", "max_new_tokens = 4"}})
    toml = Replaced(toml, from, to);
  own_.Write("own.toml", toml);
  own_.Write("own.jsonl", "{\"question\": \"1234567\", \"answer\": \"#### 1\"}\n");
  std::string shots;
  for (int i = 0; i < 3; ++i)
    shots += fmt::format("{{\"question\": \"{}\", \"answer\": \"#### {}\"}}\n", i, i);
  own_.Write("own_shots.jsonl", shots);
  const Question whole = Ask(0);
  ASSERT_EQ(whole.prompt.size(), 1u + 6 + 3 * 10 + 9);
  const Question question = Ask(32);
  EXPECT_EQ(question.shots_dropped, 2);
  EXPECT_EQ(question.prompt.size(), 26u);
  EXPECT_EQ(question.prompt[0], kTinyBos);
  EXPECT_THAT(question.prompt_text, ::testing::StartsWith("Sums.\n"));
  EXPECT_THAT(question.prompt_text, ::testing::EndsWith("1234567=?"));
  EXPECT_EQ(Ask(30).shots_dropped, 2);
  EXPECT_EQ(Ask(29).shots_dropped, 3);
}

// A reported fault (T05): a vocabulary that does not cover all bytes, and has no unknown token. Hugging Face
// leaves such bytes out; a question that the model does not see whole is not asked.
TEST_F(Tokens, TextWithoutTokensIsAFaultThatSaysWhere) {
  const auto without = [&](const char* unknown) {
    TempFolder folder;
    TinyTokenizer(folder.path());
    std::ifstream in(folder / "tokenizer.json");
    nlohmann::json file = nlohmann::json::parse(in);
    file["model"]["vocab"].erase(ByteCharacter(0xF0));
    if (unknown != nullptr) file["model"]["unk_token"] = unknown;
    std::ofstream(folder / "tokenizer.json") << file.dump();
    return Tokenizer::Load(folder.path());
  };
  own_.Write("own.jsonl",
             "{\"question\": \"Is \xF0\x9F\x99\x82 one?\", \"answer\": \"#### 1\"}\n"
             "{\"question\": \"Is \xE2\x82\xAC one?\", \"answer\": \"#### 1\"}\n");
  own_.Write("own_choice.jsonl",
             "{\"query\": \"Which?\", \"choices\": [\"a\", \"\xF0\x9F\x99\x82\"], \"gold\": 0}\n");
  TaskOptions options;
  options.shots = 0;
  const auto faults = [&](const char* suite, const Tokenizer& tokenizer) {
    std::vector<std::string> all;
    for (const Question& question : BuildTask(own_.Load(suite), options, tokenizer, nullptr).questions)
      all.push_back(question.fault);
    return all;
  };
  EXPECT_THAT(
      faults("own.toml", *without(nullptr)),
      ::testing::ElementsAre("the tokenizer has no token for byte 0xF0 at offset 6 of the prompt", ""));
  EXPECT_THAT(faults("own_choice.toml", *without(nullptr)),
              ::testing::ElementsAre(HasSubstr("byte 0xF0 at offset 1 of choice 1")));
  const auto with_unknown = without("<s>");
  for (const Tokenizer* other : {with_unknown.get(), tokenizer_.get()}) {
    EXPECT_THAT(faults("own.toml", *other), ::testing::ElementsAre("", ""));
    EXPECT_THAT(faults("own_choice.toml", *other), ::testing::ElementsAre(""));
  }
}

TEST_F(TooLong, ABareQuestionNeedsRoomForOneToken) {
  EXPECT_TRUE(Ask(18).fault.empty());
  EXPECT_TRUE(Ask(13).fault.empty());
  EXPECT_EQ(Ask(13).shots_dropped, 3);
  EXPECT_THAT(Ask(12).fault, HasSubstr("too long"));
  EXPECT_THAT(Ask(12).fault, HasSubstr("12"));
  EXPECT_THAT(Ask(12, 0).fault, HasSubstr("too long"));
}

TEST_F(TooLong, ChoicesNeedRoomForTheLongest) {
  TaskOptions options;
  options.shots = 1;
  const auto ask = [&](int max_context) {
    options.max_context = max_context;
    return Build("own_choice.toml", options).questions[0];
  };
  const Question whole = ask(0);
  size_t longest = 0;
  for (const Choice& choice : whole.choices)
    longest = std::max(longest, choice.context.size() + choice.continuation.size());
  EXPECT_EQ(ask(static_cast<int>(longest)).shots_dropped, 0);
  const Question dropped = ask(static_cast<int>(longest) - 1);
  EXPECT_EQ(dropped.shots_dropped, 1);
  EXPECT_TRUE(dropped.fault.empty());
  EXPECT_EQ(dropped.choices.size(), whole.choices.size());
  EXPECT_THAT(ask(5).fault, HasSubstr("too long"));
}

TEST_F(TooLong, SchemasAndPartsLoseWholeShotsToo) {
  TaskOptions options;
  const auto ask = [&](const char* name, int max_context) {
    options.max_context = max_context;
    const std::vector<Question> questions = Build(name, options).questions;
    return questions.back();
  };
  const auto longest = [](const Question& question) {
    size_t most = 0;
    for (const Choice& choice : question.choices)
      most = std::max(most, choice.context.size() + choice.continuation.size());
    return static_cast<int>(most);
  };
  for (const char* name : {"own_schema.toml", "own_parts.toml"}) {
    const Question whole = ask(name, 0);
    const int size = longest(whole);
    EXPECT_EQ(ask(name, size).shots_dropped, 0) << name;
    const Question dropped = ask(name, size - 1);
    EXPECT_EQ(dropped.shots_dropped, 1) << name;
    EXPECT_TRUE(dropped.fault.empty()) << name;
    EXPECT_LT(longest(dropped), size) << name;
    EXPECT_THAT(ask(name, 9).fault, HasSubstr("too long")) << name;
  }
  EXPECT_THAT(ask("own_parts.toml", longest(ask("own_parts.toml", 0)) - 1).prompt_text,
              ::testing::StartsWith("About tiny sums.\n\n1+2?"));
}

TEST_F(Tokens, ALimitTakesTheFirstItemsUnchanged) {
  TaskOptions all;
  TaskOptions few = all;
  few.limit = 1;
  const Task whole = Build("own_choice.toml", all), part = Build("own_choice.toml", few);
  EXPECT_EQ(whole.questions.size(), 2u);  // one item is the shot
  ASSERT_EQ(part.questions.size(), 1u);
  EXPECT_EQ(part.items_total, 2u);
  EXPECT_EQ(part.questions[0].prompt_text, whole.questions[0].prompt_text);
  few.limit = 99;
  EXPECT_EQ(Build("own_choice.toml", few).questions.size(), 2u);
}

TEST_F(Tokens, StopsAndLimitsAreTheSuitesAndTheCallers) {
  TaskOptions options;
  EXPECT_THAT(Build("own.toml", options).stop_strings, ElementsAre("Q:"));
  EXPECT_EQ(Build("own.toml", options).max_new_tokens, 7);
  options.extra_stop_strings = {"\n\n", "Q:"};
  options.max_new_tokens = 3;
  EXPECT_THAT(Build("own.toml", options).stop_strings, ElementsAre("Q:", "\n\n"));
  EXPECT_EQ(Build("own.toml", options).max_new_tokens, 3);
  EXPECT_TRUE(Build("own_choice.toml", options).stop_strings.empty());
  EXPECT_EQ(Build("own_choice.toml", options).max_new_tokens, 0);
  options.format = Format::kChat;
  EXPECT_THAT(Build("own.toml", options).stop_strings, ElementsAre("\n\n", "Q:"));
}

TEST_F(Tokens, ATaskSaysWhatIdentifiesIt) {
  TaskOptions options;
  options.shots = 2;
  const Task task = Build("own.toml", options);
  EXPECT_EQ(task.data_sha256, Sha256Hex(kOwnItems));
  EXPECT_EQ(task.shot_ids.size(), 2u);
  EXPECT_EQ(task.shot_text_sha256.size(), 64u);
  EXPECT_TRUE(task.chat_template_sha256.empty());
  options.format = Format::kChat;
  options.system = "Be brief.";
  const Task chat = Build("own.toml", options);
  EXPECT_EQ(chat.chat_template_sha256, "template");
  EXPECT_EQ(chat.system, "Be brief.");
  EXPECT_EQ(chat.shot_ids, task.shot_ids);
  EXPECT_NE(chat.shot_text_sha256, task.shot_text_sha256);
}

TEST_F(Tokens, ChatNeedsATemplate) {
  TaskOptions options;
  options.format = Format::kChat;
  EXPECT_THROW(BuildTask(own_.Load(), options, *tokenizer_, nullptr), Error);
}

}  // namespace
}  // namespace fullband
