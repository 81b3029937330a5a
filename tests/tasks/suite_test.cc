#include "tasks/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/error.h"
#include "common/hash.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::string MessageOf(const std::string& name_or_path) {
  try {
    LoadSuite(name_or_path);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Suites, BundledOnesLoadUnderTheirFileNames) {
  const std::vector<std::string> names = SuiteNames();
  EXPECT_THAT(names, IsSupersetOf({"arc_easy", "gsm8k", "mini_choice", "mini_gsm8k"}));
  for (const std::string& name : names) {
    const Suite suite = LoadSuite(name);
    EXPECT_EQ(suite.name, name);
    EXPECT_EQ(suite.file.stem(), name);
    EXPECT_EQ(suite.data.sha256.size(), 64u) << name;
    EXPECT_FALSE(suite.data.origin.empty()) << name;
    EXPECT_FALSE(suite.graders.empty()) << name;
  }
}

TEST(Suites, ReadsEveryField) {
  const OwnSuite own;
  const Suite suite = own.Load();
  EXPECT_EQ(suite.name, "own");
  EXPECT_EQ(suite.version, 3);
  EXPECT_EQ(suite.ask, Ask::kGenerate);
  EXPECT_EQ(suite.shot_data.path, "own_shots.jsonl");
  EXPECT_EQ(suite.completion.question, "Q: {question}\nA:");
  EXPECT_EQ(suite.completion.stop_strings, std::vector<std::string>{"Q:"});
  EXPECT_TRUE(suite.chat.stop_strings.empty());
  EXPECT_EQ(suite.max_new_tokens, 7);
  EXPECT_EQ(suite.gold, "{final}");
  const Suite choice = own.Load("own_choice.toml");
  EXPECT_EQ(choice.ask, Ask::kChoose);
  EXPECT_TRUE(choice.shot_data.path.empty());
  EXPECT_EQ(choice.shots, 1);
}

TEST(Suites, ReadsAnswerAndReport) {
  const OwnSuite own;
  const Suite suite = own.Load("own_graded.toml");
  ASSERT_TRUE(suite.answer);
  EXPECT_EQ(suite.answer->pattern, R"(is (\w+))");
  EXPECT_TRUE(suite.answer->ignore_case);
  EXPECT_EQ(suite.report_by, (std::vector<std::string>{"kind", "difficulty"}));
  EXPECT_FALSE(own.Load().answer);
  EXPECT_TRUE(own.Load().report_by.empty());
  own.Write("own_graded.toml", Replaced(kOwnGraded, "pattern = 'is (\\w+)'\nignore_case = true\n", ""));
  EXPECT_EQ(own.Load("own_graded.toml").answer->pattern, "");
  EXPECT_FALSE(own.Load("own_graded.toml").answer->ignore_case);
}

TEST(Suites, WhatReportsGoByIsNoPartOfTheDefinitionAndWhatGradersGoByIs) {
  const OwnSuite own;
  const std::string before = Sha256HexOfJson(own.Load("own_graded.toml").definition);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"[\"kind\", \"difficulty\"]", "[\"difficulty\"]"},
           {"[report]\nby = [\"kind\", \"difficulty\"]\n", ""}}) {
    own.Write("own_graded.toml", Replaced(kOwnGraded, from, to));
    EXPECT_EQ(Sha256HexOfJson(own.Load("own_graded.toml").definition), before) << from;
  }
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"is (", "was ("}, {"ignore_case = true", "ignore_case = false"}}) {
    own.Write("own_graded.toml", Replaced(kOwnGraded, from, to));
    EXPECT_NE(Sha256HexOfJson(own.Load("own_graded.toml").definition), before) << from;
  }
}

// What only describes a suite is no part of a run's identity; all that changes a prompt is.
TEST(Suites, DefinitionLeavesOutDescriptionsOnly) {
  const OwnSuite own;
  const std::string before = Sha256HexOfJson(own.Load().definition);
  own.Write("own.toml", Replaced(kOwnGenerate, "Own sums", "Other title"));
  EXPECT_EQ(Sha256HexOfJson(own.Load().definition), before);
  own.Write("own.toml",
            Replaced(kOwnGenerate, "path = \"own.jsonl\"", "path = \"own.jsonl\"\norigin = \"me\""));
  EXPECT_EQ(Sha256HexOfJson(own.Load().definition), before);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"version = 3", "version = 4"},
                                                        {"A:", "Answer:"},
                                                        {"stop = [\"Q:\"]", "stop = []"},
                                                        {"Think.", "Go."}}) {
    own.Write("own.toml", Replaced(kOwnGenerate, from, to));
    EXPECT_NE(Sha256HexOfJson(own.Load().definition), before) << from;
  }
}

TEST(Suites, UnknownNamesGetNearOnes) {
  EXPECT_THAT(MessageOf("gsm9k"), AllOf(HasSubstr("gsm9k"), HasSubstr("did you mean gsm8k")));
  EXPECT_THAT(MessageOf("arc"), HasSubstr("arc_easy"));
  EXPECT_THAT(MessageOf("/nowhere/my.toml"), HasSubstr("/nowhere/my.toml"));
  EXPECT_THAT(MessageOf("."), HasSubstr("is not a suite"));
  try {
    LoadSuite("gsm9k");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
  }
}

TEST(Suites, FormatsAreTwo) {
  EXPECT_EQ(ParseFormat("chat"), Format::kChat);
  EXPECT_EQ(ParseFormat("completion"), Format::kCompletion);
  EXPECT_THROW(ParseFormat("Chat"), Error);
  EXPECT_THROW(ParseFormat(""), Error);
}

struct Broken {
  const char* name;
  const char* base;
  std::string from, to;
  std::vector<std::string> says;  // beside the file's name
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenSuite : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenSuite, IsRefusedByFileAndKey) {
  const Broken& broken = GetParam();
  const OwnSuite own;
  own.Write("own.toml", Replaced(broken.base, broken.from, broken.to));
  const std::string message = MessageOf(own.Path("own.toml"));
  EXPECT_THAT(message, HasSubstr(own.Path("own.toml")));
  for (const std::string& part : broken.says) EXPECT_THAT(message, HasSubstr(part));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenSuite,
    ::testing::Values(
        Broken{"not_toml", kOwnGenerate, "version = 3", "version = = 3", {"line 2"}},
        Broken{"unclosed_string", kOwnGenerate, "\"Own sums\"", "\"Own sums", {"line 3"}},
        Broken{"key_twice", kOwnGenerate, "version = 3", "version = 3\nversion = 4", {"line 3"}},
        Broken{"not_utf8", kOwnGenerate, "Own sums", "Own \xff sums", {"line 3"}},
        Broken{"unknown_key",
               kOwnGenerate,
               "version = 3",
               "version = 3\ngrader = \"x\"",
               {"line 3", "grader: is not a key", "did you mean graders"}},
        Broken{"unknown_key_in_table",
               kOwnGenerate,
               "stop = ",
               "stops = ",
               {"completion.stops", "did you mean stop?"}},
        Broken{"unknown_table", kOwnGenerate, "[chat]", "[chats]", {"chat", "is missing"}},
        Broken{"unknown_key_among_shots",
               kOwnGenerate,
               "default = 0",
               "default = 0\npaht = \"a\"",
               {"shots.paht", "did you mean path?"}},
        Broken{"missing_key", kOwnGenerate, "title = \"Own sums\"", "", {"title: is missing"}},
        Broken{"missing_key_in_table", kOwnGenerate, "gold = \"{final}\"", "", {"generate.gold: is missing"}},
        Broken{"version_is_text",
               kOwnGenerate,
               "version = 3",
               "version = \"3\"",
               {"version: is of type string"}},
        Broken{
            "version_is_zero", kOwnGenerate, "version = 3", "version = 0", {"version: is 0", "allowed: 1"}},
        Broken{"title_is_a_number",
               kOwnGenerate,
               "\"Own sums\"",
               "3",
               {"title: is of type integer, not a string"}},
        Broken{"data_is_text",
               kOwnGenerate,
               "[data]\npath = ",
               "data = ",
               {"data: is of type string, not a table"}},
        Broken{"bad_name", kOwnGenerate, "name = \"own\"", "name = \"Own suite\"", {"name: is not a name"}},
        Broken{"unknown_reader",
               kOwnGenerate,
               "gsm8k_jsonl",
               "gsm8k_json",
               {"reader", "did you mean gsm8k_jsonl?"}},
        Broken{
            "unknown_ask", kOwnGenerate, "\"generate\"", "\"generates\"", {"ask", "did you mean generate?"}},
        Broken{"ask_against_reader",
               kOwnGenerate,
               "\"generate\"",
               "\"choose\"",
               {"ask: is choose", "asked as generate"}},
        Broken{"no_graders", kOwnGenerate, "[\"number\"]", "[]", {"graders: names no grader"}},
        Broken{"graders_is_text",
               kOwnGenerate,
               "[\"number\"]",
               "\"number\"",
               {"graders: is of type string, not an array"}},
        Broken{"grader_not_a_name",
               kOwnGenerate,
               "[\"number\"]",
               "[\"Number!\"]",
               {"Number! is not a grader's name"}},
        Broken{
            "grader_twice", kOwnGenerate, "[\"number\"]", "[\"number\", \"number\"]", {"names number twice"}},
        Broken{"unknown_hole",
               kOwnGenerate,
               "{question}\\nA:",
               "{query}\\nA:",
               {"completion.question", "{query}"}},
        Broken{"no_hole", kOwnGenerate, "{question} Think.", "Think.", {"chat.question: has no hole"}},
        Broken{"open_brace",
               kOwnGenerate,
               "{question} Think.",
               "{question",
               {"chat.question", "'{' without '}'"}},
        Broken{"lone_brace",
               kOwnGenerate,
               "{question} Think.",
               "question}",
               {"chat.question", "'}' without '{'"}},
        Broken{"absolute_path", kOwnGenerate, "own.jsonl", "/etc/passwd", {"data.path", "leads out"}},
        Broken{"path_upwards", kOwnGenerate, "own.jsonl", "a/../../b.jsonl", {"data.path", "leads out"}},
        Broken{"short_sha256",
               kOwnGenerate,
               "\"own.jsonl\"",
               "\"own.jsonl\"\nsha256 = \"abc\"",
               {"data.sha256"}},
        Broken{"negative_shots", kOwnGenerate, "default = 0", "default = -1", {"shots.default: is -1"}},
        Broken{"shots_sha256_without_path",
               kOwnChoose,
               "default = 1",
               "default = 1\nsha256 = \"ab\"",
               {"shots.path: is missing"}},
        Broken{"no_new_tokens",
               kOwnGenerate,
               "max_new_tokens = 7",
               "max_new_tokens = 0",
               {"max_new_tokens: is 0"}},
        Broken{"empty_stop", kOwnGenerate, "[\"Q:\"]", "[\"\"]", {"completion.stop: holds an empty string"}},
        Broken{"stop_of_numbers", kOwnGenerate, "[\"Q:\"]", "[1]", {"completion.stop", "not only strings"}},
        Broken{"report_by_text",
               kOwnGraded,
               "[\"kind\", \"difficulty\"]",
               "\"kind\"",
               {"report.by: is of type string, not an array"}},
        Broken{"report_by_an_unknown_field",
               kOwnGraded,
               "\"difficulty\"]",
               "\"dificulty\"]",
               {"report.by: dificulty is not a field", "did you mean difficulty?"}},
        Broken{"report_by_a_field_without_groups",
               kOwnGraded,
               "\"difficulty\"]",
               "\"question\"]",
               {"report.by: question is not a field"}},
        Broken{"report_by_nothing",
               kOwnGraded,
               "[\"kind\", \"difficulty\"]",
               "[]",
               {"report.by: names 0 fields"}},
        Broken{"report_by_too_many",
               kOwnGraded,
               "\"difficulty\"]",
               "\"difficulty\", \"kind\"]",
               {"report.by: names 3 fields", "one or two"}},
        Broken{"report_by_one_twice",
               kOwnGraded,
               "\"difficulty\"]",
               "\"kind\"]",
               {"report.by: names kind twice"}},
        Broken{"report_without_by",
               kOwnGraded,
               "by = [\"kind\", \"difficulty\"]",
               "",
               {"report.by: is missing"}},
        Broken{"report_of_a_reader_without_groups",
               kOwnGenerate,
               "[generate]",
               "[report]\nby = [\"question\"]\n[generate]",
               {"report.by: question is not a field that items of gsm8k_jsonl", "they have none"}},
        Broken{"misspelt_report", kOwnGraded, "[report]", "[reports]", {"reports: is not a key", "report?"}},
        Broken{"misspelt_answer_key",
               kOwnGraded,
               "pattern =",
               "patern =",
               {"answer.patern", "did you mean pattern?"}},
        Broken{"ignore_case_is_text",
               kOwnGraded,
               "ignore_case = true",
               "ignore_case = \"yes\"",
               {"answer.ignore_case: is of type string, not true or false"}},
        Broken{"empty_pattern", kOwnGraded, "'is (\\w+)'", "''", {"answer.pattern: is empty"}},
        Broken{"choose_with_answer",
               kOwnChoose,
               "[chat]",
               "[answer]\nignore_case = true\n[chat]",
               {"answer: is not a key"}},
        Broken{"choose_without_choice",
               kOwnChoose,
               " {choice}",
               " {query}",
               {"completion.answer: has no hole {choice}"}},
        Broken{"choose_with_stop",
               kOwnChoose,
               "separator",
               "stop = []\nseparator",
               {"completion.stop: is not a key"}},
        Broken{"choose_with_generate",
               kOwnChoose,
               "[chat]",
               "[generate]\nmax_new_tokens = 3\n[chat]",
               {"generate: is not a key"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fullband
