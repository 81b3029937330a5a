#include "tasks/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/groups.h"
#include "tests/support/message_of.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::string MessageOfLoading(const std::string& name_or_path) {
  return MessageOf([&] { LoadSuite(name_or_path); });
}

TEST(Suites, BundledOnesLoadUnderTheirFileNames) {
  const std::vector<std::string> names = SuiteNames();
  EXPECT_THAT(names, IsSupersetOf({"arc_easy", "gsm8k", "mini_choice", "mini_gsm8k"}));
  for (const std::string& name : names) {
    const Suite suite = LoadSuite(name);
    EXPECT_EQ(suite.name, name);
    EXPECT_EQ(suite.file.stem(), name);
    for (const DataFile& file : DataFiles(suite)) {
      EXPECT_EQ(file.sha256.size(), 64u) << name << " " << file.path;
      EXPECT_FALSE(file.origin.empty()) << name << " " << file.path;
    }
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

TEST(Suites, ReadsPartsAndFirstShots) {
  const OwnSuite own;
  const Suite suite = own.Load("own_parts.toml");
  ASSERT_EQ(suite.parts.size(), 2u);  // by name
  EXPECT_EQ(suite.parts[0].name, "colours");
  EXPECT_EQ(suite.parts[1].data.path, "tiny_sums_test.csv");
  EXPECT_EQ(suite.parts[1].shot_data.path, "tiny_sums_dev.csv");
  EXPECT_EQ(suite.parts[1].fields.at("subject"), "tiny sums");
  EXPECT_TRUE(suite.first_shots);
  EXPECT_EQ(suite.completion.preamble, "About {subject}.\n\n");
  EXPECT_EQ(suite.report_by, (std::vector<std::string>{"category", "subject"}));
  std::vector<std::string> files;
  for (const DataFile& file : DataFiles(suite)) files.push_back(file.path);
  EXPECT_THAT(files, ::testing::ElementsAre("colours_test.csv", "colours_dev.csv", "tiny_sums_test.csv",
                                            "tiny_sums_dev.csv"));
  EXPECT_FALSE(own.Load().first_shots);
  EXPECT_EQ(DataFiles(own.Load()).size(), 2u);
  EXPECT_EQ(DataFiles(own.Load("own_choice.toml")).size(), 1u);
}

TEST(Suites, SayWhatDiffersBetweenChoices) {
  const OwnSuite own;
  EXPECT_EQ(own.Load("own_choice.toml").choices, Choices::kContinuations);
  EXPECT_EQ(own.Load("own_schema.toml").choices, Choices::kContexts);
  EXPECT_EQ(own.Load("own_continuation.toml").choices, Choices::kOne);
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
  EXPECT_THAT(MessageOfLoading("gsm9k"), AllOf(HasSubstr("gsm9k"), HasSubstr("did you mean gsm8k")));
  EXPECT_THAT(MessageOfLoading("arc"), HasSubstr("arc_easy"));
  EXPECT_THAT(MessageOfLoading("/nowhere/my.toml"), HasSubstr("/nowhere/my.toml"));
  EXPECT_THAT(MessageOfLoading("."), HasSubstr("is not a suite"));
  try {
    LoadSuite("gsm9k");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
  }
}

TEST(Suites, EveryOneIsInAGroupAndAllIsAllOfThem) {
  std::set<std::string> grouped;
  for (const SuiteGroup& group : SuiteGroups()) {
    if (group.name == "all") {
      EXPECT_EQ(group.suites, SuiteNames());
      continue;
    }
    EXPECT_EQ(std::set<std::string>(group.suites.begin(), group.suites.end()).size(), group.suites.size());
    grouped.insert(group.suites.begin(), group.suites.end());
  }
  for (const std::string& name : SuiteNames()) EXPECT_TRUE(grouped.count(name)) << name;
}

TEST(Suites, AGroupIsNoSuite) {
  EXPECT_THAT(MessageOfLoading("mini"), AllOf(HasSubstr("is a group of suites"), HasSubstr("mini_choice")));
  EXPECT_THAT(MessageOfLoading("five_shots"), HasSubstr("did you mean five_shot"));
}

// Groups come out of a folder of their own, so that the shipped file stays as it is.
TEST(Suites, GroupsOfWhatIsNoSuiteAreRefused) {
  const OwnSuite own;
  std::filesystem::create_directory(own.Path("tasks"));
  std::filesystem::copy_file(own.Path("own.toml"), own.Path("tasks") + "/own.toml");
  const auto says = [&](const std::string& text) -> std::string {
    own.Write("tasks/groups.toml", text);
    setenv("FULLBAND_HOME", own.Path("").c_str(), 1);
    std::string message;
    try {
      for (const SuiteGroup& group : SuiteGroups()) message += group.name + " ";
    } catch (const Error& error) {
      message = error.what();
    }
    unsetenv("FULLBAND_HOME");
    return message;
  };
  EXPECT_EQ(says("mine = [\"own\"]\n"), "mine all ");
  EXPECT_THAT(says("mine = [\"own\", \"owm\"]\n"),
              HasSubstr("groups.toml, line 1, mine: owm is not a suite (did you mean own?)"));
  EXPECT_THAT(says("own = [\"own\"]\n"), HasSubstr("own: is a name that is taken"));
  EXPECT_THAT(says("all = [\"own\"]\n"), HasSubstr("all: is a name that is taken"));
  EXPECT_THAT(says("mine = []\n"), HasSubstr("mine: names no suite"));
  EXPECT_THAT(says("mine = \"own\"\n"), HasSubstr("mine: is of type string"));
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
  const std::string message = MessageOfLoading(own.Path("own.toml"));
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
        Broken{"schema_without_choice",
               kOwnSchema,
               "question = \"{choice}\"\nanswer = \" {c",
               "question = \"{continuation}\"\nanswer = \" {c",
               {"completion.question: has no hole {choice}"}},
        Broken{"schema_with_choice_in_its_answer",
               kOwnSchema,
               " {continuation}",
               " {choice}",
               {"completion.answer", "hole {choice} that"}},
        Broken{"parts_without_a_hole",
               kOwnParts,
               "\"{part}_test.csv\"",
               "\"test.csv\"",
               {"data.path: must have the hole {part}"}},
        Broken{"parts_with_another_hole",
               kOwnParts,
               "\"{part}_dev.csv\"",
               "\"{part}/{subject}.csv\"",
               {"shots.path"}},
        Broken{"parts_and_one_hash",
               kOwnParts,
               "\"{part}_test.csv\"",
               "\"{part}_test.csv\"\nsha256 = \"" + std::string(64, 'a') + "\"",
               {"data.sha256", "[parts]"}},
        Broken{"part_with_a_short_hash",
               kOwnParts,
               "category = \"things\"",
               "category = \"things\"\nshots_sha256 = \"ab\"",
               {"parts.colours.shots_sha256: is not 64"}},
        Broken{"part_without_a_field",
               kOwnParts,
               "category = \"things\"\n",
               "",
               {"parts.colours.category: is missing"}},
        Broken{"part_with_an_unknown_key",
               kOwnParts,
               "category = \"things\"",
               "category = \"things\"\nsubjects = \"c\"",
               {"parts.colours.subjects: is not a key", "did you mean subject"}},
        Broken{"part_with_a_bad_name", kOwnParts, "[parts.colours]", "[parts.\"a/b\"]", {"parts.a/b"}},
        Broken{"no_parts",
               kOwnChoose,
               "multiple_choice_jsonl",
               "mmlu_csv",
               {"parts: is missing", "mmlu_csv are read in parts"}},
        Broken{"preamble_with_an_items_field",
               kOwnParts,
               "About {subject}.\\n",
               "About {question}.\\n",
               {"completion.preamble", "{question}"}},
        Broken{
            "preamble_with_a_brace", kOwnParts, "About {subject}.\\n", "About {.", {"completion.preamble"}},
        Broken{"first_shots_without_a_file",
               kOwnChoose,
               "default = 1",
               "default = 1\nfirst = true",
               {"shots.first: needs a file"}},
        Broken{"derived_from_nothing",
               kOwnChoose,
               "[chat]",
               "[fields.short]\nfrom = \"qery\"\npattern = 'a'\n[chat]",
               {"fields.short.from: qery is not", "did you mean query"}},
        Broken{"derived_in_place_of_a_field",
               kOwnChoose,
               "[chat]",
               "[fields.query]\nfrom = \"query\"\npattern = 'a'\n[chat]",
               {"fields.query: is a field"}},
        Broken{"derived_without_pattern",
               kOwnChoose,
               "[chat]",
               "[fields.short]\nfrom = \"query\"\n[chat]",
               {"fields.short.pattern: is missing"}},
        Broken{"derived_by_no_expression",
               kOwnChoose,
               "[chat]",
               "[fields.short]\nfrom = \"query\"\npattern = '('\n[chat]",
               {"fields.short.pattern: is not a regular expression"}},
        Broken{"derived_with_an_unknown_key",
               kOwnChoose,
               "[chat]",
               "[fields.short]\nfrom = \"query\"\npattern = 'a'\npatern = 'b'\n[chat]",
               {"fields.short.patern: is not a key"}},
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
