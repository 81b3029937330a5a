#include "tasks/readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/data_file.h"
#include "tasks/task_data.h"
#include "tests/support/message_of.h"
#include "tests/tasks/code_suite.h"

namespace fullband {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Item> Read(const std::string& reader, const std::string& bytes) {
  return ReadItems(*FindReader(reader), bytes, "folder/data.jsonl");
}

TEST(Readers, Gsm8kLinesBecomeItems) {
  const auto items = Read("gsm8k_jsonl", kOwnItems);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].id, "0");
  EXPECT_EQ(items[1].id, "1");
  EXPECT_EQ(items[0].fields["question"], "1+1?");
  EXPECT_EQ(items[0].fields["answer"], "One and one.\n#### 2");
  EXPECT_EQ(items[0].fields["final"], "2");
}

TEST(Readers, TheFinalAnswerIsWhatFollowsTheLastMarker) {
  const auto items = Read("gsm8k_jsonl", R"({"question": "?", "answer": "#### 1\n#### -1,000 \n"})");
  EXPECT_EQ(items[0].fields["final"], "-1,000");
}

TEST(Readers, MultipleChoiceLinesBecomeItems) {
  const auto items = Read("multiple_choice_jsonl", kOwnChoices);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].fields["choices"].size(), 3u);
  EXPECT_EQ(items[1].fields["choices"][2], "a caf\xc3\xa9");
  EXPECT_EQ(items[1].fields["gold"], 1);
}

constexpr char kGradedLine[] =
    R"({"id": "swaps-12-003", "kind": "swaps", "difficulty": 12, "question": "Q", "answer": "red", "working": "W"})";

TEST(Readers, GradedLinesBecomeItems) {
  const auto items = Read("graded_jsonl", kGradedLine);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].id, "swaps-12-003");
  EXPECT_EQ(items[0].fields, nlohmann::json::parse(
                                 R"({"kind": "swaps", "difficulty": 12, "question": "Q", "answer": "red"})"));
  EXPECT_EQ(Read("graded_steps_jsonl", kGradedLine)[0].fields["working"], "W");
}

constexpr char kNeedleLine[] =
    R"({"id": "n-1", "context": "C", "question": "Q?", "stem": "It is", "answer": "7", "length": 128, "depth": 25})";
constexpr char kDocumentsLine[] =
    R"({"context": "C", "question": "Who?", "stem": "It is with", "answer": "Ben", "length": 256, "moves": 4})";

TEST(Readers, LongPromptsBecomeItems) {
  const auto items = Read("needle_jsonl", kNeedleLine);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].id, "n-1");
  EXPECT_EQ(
      items[0].fields,
      nlohmann::json::parse(
          R"({"context": "C", "question": "Q?", "stem": "It is", "answer": "7", "length": 128, "depth": 25})"));
  EXPECT_EQ(Read("documents_jsonl", kDocumentsLine)[0].fields["moves"], 4);
}

TEST(Readers, SchemaLinesBecomeItems) {
  const auto items = Read("schema_jsonl", kOwnSchemas);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].fields["choices"][1], "Ann thanked Bea because Bea");
  EXPECT_EQ(items[1].fields["continuation"], "had helped.");
  EXPECT_EQ(items[1].fields["gold"], 1);
}

TEST(Readers, ContinuationLinesBecomeItemsOfOneChoice) {
  const auto items = Read("continuation_jsonl", kOwnContinuations);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].fields,
            nlohmann::json::parse(R"({"context": "Red and", "choices": ["\n\nblue"], "gold": 0})"));
}

TEST(Readers, MathLinesBecomeItemsUnderTheirOwnIds) {
  const auto items = Read("math_jsonl", kOwnMaths);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].id, "test/sums/2.json");
  EXPECT_EQ(items[1].fields["level"], 2);
  EXPECT_EQ(items[1].fields["solution"], "It is $\\boxed{3}$.");
}

TEST(Readers, TablesBecomeItemsThatChooseLetters) {
  const auto items = Read("mmlu_csv", std::string(kOwnCsvHeader) + kOwnSumsTest);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[1].id, "1");
  EXPECT_EQ(items[1].fields["question"], "2+2, \"now\"?");  // trimmed, as the harness does
  EXPECT_EQ(items[1].fields["d"], "4");
  EXPECT_EQ(items[1].fields["choices"], (std::vector<std::string>{"A", "B", "C", "D"}));
  EXPECT_EQ(items[1].fields["gold"], 3);
}

TEST(Readers, TablesMayHaveWindowsEndingsAndLineBreaksInQuotes) {
  const auto items = Read("mmlu_csv", std::string(kOwnCsvHeader) + kOwnColoursDev);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].fields["question"], "Snow\nat night?");
  EXPECT_EQ(items[0].fields["gold"], 1);
}

// Each field that a reader says it has is there, whatever suites do with it.
TEST(Readers, FillTheFieldsTheyName) {
  const std::map<std::string, std::string> lines = {{"gsm8k_jsonl", kOwnItems},
                                                    {"multiple_choice_jsonl", kOwnChoices},
                                                    {"schema_jsonl", kOwnSchemas},
                                                    {"continuation_jsonl", kOwnContinuations},
                                                    {"mmlu_csv", std::string(kOwnCsvHeader) + kOwnSumsTest},
                                                    {"math_jsonl", kOwnMaths},
                                                    {"humaneval_jsonl", kOwnFunctions},
                                                    {"mbpp_jsonl", kOwnPrograms},
                                                    {"mbpp_plus_jsonl", kOwnPlusPrograms},
                                                    {"graded_jsonl", kGradedLine},
                                                    {"graded_steps_jsonl", kGradedLine},
                                                    {"needle_jsonl", kNeedleLine},
                                                    {"documents_jsonl", kDocumentsLine}};
  for (const Reader& reader : Readers()) {
    for (const Item& item : Read(reader.name, lines.at(reader.name))) {
      for (const std::string& field : reader.fields)
        EXPECT_TRUE(item.fields.at(field).is_string()) << reader.name << " " << field;
      for (const std::string& field : reader.groups)
        EXPECT_TRUE(item.fields.at(field).is_string() || item.fields.at(field).is_number_integer())
            << reader.name << " " << field;
    }
  }
}

TEST(Readers, LinesMayHaveIdsAndWindowsEndingsAndOtherFields) {
  const auto items = Read("gsm8k_jsonl",
                          "{\"id\": \"a-7\", \"question\": \"?\", \"answer\": \"#### 1\", \"more\": [1]}\r\n"
                          "{\"id\": 12, \"question\": \"??\", \"answer\": \"#### 2\"}");
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].id, "a-7");
  EXPECT_EQ(items[1].id, "12");
}

struct Broken {
  const char* name;
  const char* reader;
  std::string bytes;
  std::vector<std::string> says;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenData : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenData, IsRefusedByLineAndField) {
  const Broken& broken = GetParam();
  const std::string message = MessageOf([&] { Read(broken.reader, broken.bytes); });
  EXPECT_THAT(message, HasSubstr("folder/data.jsonl"));
  for (const std::string& part : broken.says) EXPECT_THAT(message, HasSubstr(part));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

constexpr char kSchema[] = "schema_jsonl", kOne[] = "continuation_jsonl", kMath[] = "math_jsonl",
               kTable[] = "mmlu_csv";
const std::string kHeader = kOwnCsvHeader;
constexpr char kGsm[] = "gsm8k_jsonl", kMulti[] = "multiple_choice_jsonl", kGraded[] = "graded_jsonl";
const std::string kGood = "{\"question\": \"a\", \"answer\": \"#### 1\"}\n";

INSTANTIATE_TEST_SUITE_P(
    Table, BrokenData,
    ::testing::Values(
        Broken{"empty_file", kGsm, "", {"holds no items"}},
        Broken{"empty_line", kGsm, kGood + "\n" + kGood, {"line 2", "is empty"}},
        Broken{"cut_line", kGsm, kGood + "{\"question\": \"b\", \"ans", {"line 2", "is not valid JSON"}},
        Broken{"two_objects_on_a_line", kGsm, "{} {}\n", {"line 1", "is not valid JSON"}},
        Broken{"not_an_object", kGsm, kGood + "[1, 2]\n", {"line 2", "is not a JSON object"}},
        Broken{"csv", kGsm, "question,answer\n1,2\n", {"line 1", "is not valid JSON"}},
        Broken{"missing_field", kGsm, kGood + "{\"question\": \"b\"}\n", {"line 2, answer: is missing"}},
        Broken{"number_for_text",
               kGsm,
               "{\"question\": 5, \"answer\": \"#### 1\"}",
               {"question: is of type number, not a string"}},
        Broken{"null_for_text",
               kGsm,
               "{\"question\": \"a\", \"answer\": null}",
               {"answer: is of type null, not a string"}},
        Broken{
            "blank_text", kGsm, "{\"question\": \" \\n\", \"answer\": \"#### 1\"}", {"question: is empty"}},
        Broken{"no_final_answer",
               kGsm,
               "{\"question\": \"a\", \"answer\": \"1\"}",
               {"answer: does not end with"}},
        Broken{"empty_final_answer",
               kGsm,
               "{\"question\": \"a\", \"answer\": \"#### \"}",
               {"answer: does not end with"}},
        Broken{"not_utf8",
               kGsm,
               kGood + "{\"question\": \"\xff\", \"answer\": \"#### 1\"}",
               {"line 2", "not UTF-8: byte 15"}},
        Broken{"cut_utf8", kGsm, "{\"question\": \"\xc3", {"line 1", "not UTF-8"}},
        Broken{"utf8_of_a_surrogate", kGsm, "{\"question\": \"\xed\xa0\x80\"}", {"line 1", "not UTF-8"}},
        Broken{"lone_surrogate_escape", kGsm, "{\"question\": \"\\ud800\"}", {"line 1", "is not valid JSON"}},
        Broken{"byte_order_mark", kGsm, "\xef\xbb\xbf" + kGood, {"byte order mark"}},
        Broken{"id_twice",
               kGsm,
               "{\"id\": \"1\", \"question\": \"a\", \"answer\": \"#### 1\"}\n" + kGood,
               {"line 2, id: is 1, as on line 1"}},
        Broken{"id_is_null",
               kGsm,
               "{\"id\": null, \"question\": \"a\", \"answer\": \"#### 1\"}",
               {"id: is of type null"}},
        Broken{"choices_is_text",
               kMulti,
               R"({"query": "a", "choices": "xy", "gold": 0})",
               {"choices: is of type string, not an array"}},
        Broken{"choice_is_a_number",
               kMulti,
               R"({"query": "a", "choices": ["x", 2], "gold": 0})",
               {"choices[1]: is of type number"}},
        Broken{"one_choice", kMulti, R"({"query": "a", "choices": ["x"], "gold": 0})", {"fewer than two"}},
        Broken{"empty_choice",
               kMulti,
               R"({"query": "a", "choices": ["x", ""], "gold": 0})",
               {"choices[1]: is empty"}},
        Broken{"gold_too_large",
               kMulti,
               R"({"query": "a", "choices": ["x", "y"], "gold": 2})",
               {"gold: is 2", "0 to 1"}},
        Broken{
            "gold_negative", kMulti, R"({"query": "a", "choices": ["x", "y"], "gold": -1})", {"gold: is -1"}},
        Broken{"gold_huge",
               kMulti,
               R"({"query": "a", "choices": ["x", "y"], "gold": 18446744073709551615})",
               {"gold: is out of range"}},
        Broken{"gold_is_a_letter",
               kMulti,
               R"({"query": "a", "choices": ["x", "y"], "gold": "A"})",
               {"gold: is \"A\", not a whole number"}},
        Broken{"gold_is_a_boolean",
               kMulti,
               R"({"query": "a", "choices": ["x", "y"], "gold": true})",
               {"gold: is true, not a whole number"}},
        Broken{"gold_is_a_fraction",
               kMulti,
               R"({"query": "a", "choices": ["x", "y"], "gold": 0.5})",
               {"gold: is 0.5"}},
        Broken{"graded_without_difficulty",
               kGraded,
               R"({"kind": "a", "question": "q", "answer": "x"})",
               {"difficulty: is missing"}},
        Broken{"difficulty_is_text",
               kGraded,
               R"({"kind": "a", "difficulty": "3", "question": "q", "answer": "x"})",
               {"difficulty: is \"3\", not a whole number"}},
        Broken{"difficulty_is_a_fraction",
               kGraded,
               R"({"kind": "a", "difficulty": 1.5, "question": "q", "answer": "x"})",
               {"difficulty: is 1.5"}},
        Broken{"difficulty_is_negative",
               kGraded,
               R"({"kind": "a", "difficulty": -1, "question": "q", "answer": "x"})",
               {"difficulty: is -1, below 0"}},
        Broken{"needle_without_depth", "needle_jsonl", kDocumentsLine, {"line 1, depth: is missing"}},
        Broken{"documents_of_negative_length",
               "documents_jsonl",
               Replaced(kDocumentsLine, "256", "-256"),
               {"line 1, length: is -256, below 0"}},
        Broken{"needle_without_stem",
               "needle_jsonl",
               Replaced(kNeedleLine, "stem", "stub"),
               {"line 1, stem: is missing"}},
        Broken{"graded_without_kind",
               kGraded,
               R"({"difficulty": 1, "question": "q", "answer": "x"})",
               {"kind: is missing"}},
        Broken{"answer_is_a_number",
               kGraded,
               R"({"kind": "a", "difficulty": 1, "question": "q", "answer": 3})",
               {"answer: is of type number"}},
        Broken{"steps_without_working",
               "graded_steps_jsonl",
               R"({"kind": "a", "difficulty": 1, "question": "q", "answer": "x"})",
               {"working: is missing"}},
        Broken{"one_option",
               kSchema,
               R"({"context_options": ["x"], "continuation": "c", "gold": 0})",
               {"context_options: has fewer than two"}},
        Broken{"schema_without_continuation",
               kSchema,
               R"({"context_options": ["x", "y"], "gold": 0})",
               {"continuation: is missing"}},
        Broken{"schema_gold_too_large",
               kSchema,
               R"({"context_options": ["x", "y"], "continuation": "c", "gold": 2})",
               {"gold: is 2", "0 to 1"}},
        Broken{"continuation_is_blank",
               kOne,
               R"({"context": "x", "continuation": " "})",
               {"continuation: is empty"}},
        Broken{"no_context", kOne, R"({"continuation": "y"})", {"context: is missing"}},
        Broken{
            "level_too_high",
            kMath,
            R"({"problem": "p", "solution": "s", "answer": "a", "subject": "b", "level": 6, "unique_id": "u"})",
            {"level: is 6"}},
        Broken{"math_without_id",
               kMath,
               R"({"problem": "p", "solution": "s", "answer": "a", "subject": "b", "level": 5})",
               {"unique_id: is missing"}},
        Broken{"table_without_header", kTable, "1+1?,1,2,3,4,1\n", {"line 1", "has the columns 1+1?"}},
        Broken{"table_of_a_header_alone", kTable, kHeader, {"holds no items"}},
        Broken{"too_few_values", kTable, kHeader + "1+1?,1,2,3,1\n", {"line 2", "has 5 values, not 6"}},
        Broken{"too_many_values", kTable, kHeader + "1+1?,1,2,3,4,1,\n", {"line 2", "has 7 values"}},
        Broken{"empty_row", kTable, kHeader + "a,b,c,d,e,1\n\n", {"line 3", "has 1 values"}},
        Broken{"answer_is_a_letter", kTable, kHeader + "1+1?,1,2,3,4,B\n", {"line 2, answer: is B"}},
        Broken{"answer_too_large", kTable, kHeader + "1+1?,1,2,3,4,4\n", {"line 2, answer: is 4"}},
        Broken{"answer_is_empty", kTable, kHeader + "1+1?,1,2,3,4,\n", {"line 2, answer: is empty"}},
        Broken{"choice_is_blank", kTable, kHeader + "1+1?,1, ,3,4,0\n", {"line 2, choice1: is empty"}},
        Broken{"question_is_blank", kTable, kHeader + " ,1,2,3,4,0\n", {"line 2, question: is empty"}},
        Broken{"open_quote", kTable, kHeader + "a,b,c,d,e,1\n\"1+1?,1,2", {"line 3", "never closed"}},
        Broken{"text_behind_a_quote", kTable, kHeader + "\"a\" b,1,2,3,4,0\n", {"line 2", "behind a closed"}},
        Broken{"quote_in_a_value", kTable, kHeader + "a\"b\",1,2,3,4,0\n", {"line 2", "quote amid"}},
        Broken{"line_numbers_count_breaks_in_quotes",
               kTable,
               kHeader + "\"a\nb\",1,2,3,4,0\nc,1,2,3,4,9\n",
               {"line 4, answer: is 9"}},
        Broken{"table_not_utf8", kTable, kHeader + "a\xff,1,2,3,4,0\n", {"line 2", "not UTF-8"}},
        Broken{"gold_missing", kMulti, R"({"query": "a", "choices": ["x", "y"]})", {"gold: is missing"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DataFiles, AMissingFileSaysWhereItComesFrom) {
  const OwnSuite own;
  own.Write("own.toml", Replaced(kOwnGenerate, "\"own.jsonl\"",
                                 "\"gone.jsonl\"\norigin = \"someone/sums: a.jsonl (MIT)\""));
  const std::string message = MessageOf([&] { LoadTaskData(own.Load(), {}); });
  EXPECT_THAT(message, HasSubstr("gone.jsonl"));
  EXPECT_THAT(message, HasSubstr("someone/sums: a.jsonl (MIT)"));
  EXPECT_THAT(message, HasSubstr(own.Load().file.parent_path().string()));
  EXPECT_THAT(message, HasSubstr("--data-dir"));
  EXPECT_THAT(message, Not(HasSubstr("data fetch")));  // it is not one of the public data sets
}

TEST(DataFiles, AMissingPublicFileNamesTheCommandThatFetchesIt) {
  const OwnSuite own;
  const TempFolder empty;
  TaskOptions options;
  options.data_folder = empty.path();
  const auto message_for = [&](const std::string& path) {
    own.Write("own.toml", Replaced(kOwnGenerate, "\"own.jsonl\"", "\"" + path + "\""));
    return MessageOf([&] { LoadTaskData(own.Load(), options); });
  };
  const std::string folder = " --data-dir " + empty.path().string() + " gets it, or name the folder";
  EXPECT_THAT(message_for("gsm8k/test.jsonl"), HasSubstr("(fullband data fetch gsm8k" + folder));
  EXPECT_THAT(message_for("mosaic_icl/commonsense_reasoning/piqa.jsonl"),
              HasSubstr("(fullband data fetch piqa" + folder));
  EXPECT_THAT(message_for("mmlu/test/anatomy_test.csv"), HasSubstr("(fullband data fetch mmlu" + folder));
  for (const std::string other : {"gsm8k/other.jsonl", "other/test.jsonl", "mosaic_icl/piqa.jsonl"})
    EXPECT_THAT(message_for(other), Not(HasSubstr("data fetch")));
}

TEST(DataFiles, AnotherPublicFileNamesTheCommandThatFetchesTheRightOne) {
  const OwnSuite own;
  const TempFolder data;
  std::filesystem::create_directory(data / "gsm8k");
  std::ofstream(data / "gsm8k" / "test.jsonl") << kOwnItems;
  own.Write("own.toml", Replaced(kOwnGenerate, "\"own.jsonl\"",
                                 "\"gsm8k/test.jsonl\"\nsha256 = \"" + std::string(64, '0') + "\""));
  TaskOptions options;
  options.data_folder = data.path();
  EXPECT_THAT(MessageOf([&] { LoadTaskData(own.Load(), options); }),
              HasSubstr("fullband data fetch gsm8k --data-dir " + data.path().string()));
}

TEST(DataFiles, OtherBytesThanTheSuiteStatesAreRefused) {
  const OwnSuite own;
  const std::string sha256 = Sha256Hex(kOwnItems);
  own.Write("own.toml",
            Replaced(kOwnGenerate, "\"own.jsonl\"", "\"own.jsonl\"\nsha256 = \"" + sha256 + "\""));
  EXPECT_EQ(LoadTaskData(own.Load(), {}).data_sha256, sha256);
  own.Write("own.jsonl", std::string(kOwnItems) + " ");
  const std::string message = MessageOf([&] { LoadTaskData(own.Load(), {}); });
  EXPECT_THAT(message, HasSubstr(own.Path("own.jsonl")));
  EXPECT_THAT(message, HasSubstr(sha256));
  EXPECT_THAT(message, HasSubstr(Sha256Hex(std::string(kOwnItems) + " ")));
}

TEST(DataFiles, AreLookedForBesideTheSuiteThenInTheDataFolders) {
  const OwnSuite own;
  const OwnSuite other;
  other.Write("elsewhere.jsonl", kOwnShots);
  own.Write("own.toml", Replaced(kOwnGenerate, "\"own.jsonl\"", "\"elsewhere.jsonl\""));
  TaskOptions options;
  options.data_folder = other.Path("");
  EXPECT_EQ(LoadTaskData(own.Load(), options).items.size(), 3u);
  own.Write("elsewhere.jsonl", kOwnItems);
  EXPECT_EQ(LoadTaskData(own.Load(), options).items.size(), 2u);
  options.data_folder = own.Path("no_such_folder");
  EXPECT_THAT(MessageOf([&] { LoadTaskData(own.Load(), options); }), HasSubstr("is not a folder"));
}

TEST(DataFiles, AFolderIsNoDataFile) {
  const OwnSuite own;
  std::filesystem::create_directory(own.Path("sub"));
  own.Write("own.toml", Replaced(kOwnGenerate, "\"own.jsonl\"", "\"sub\""));
  EXPECT_THAT(MessageOf([&] { LoadTaskData(own.Load(), {}); }), HasSubstr("is not a file"));
}

}  // namespace
}  // namespace fullband
