#include "tasks/code_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "common/error.h"
#include "common/hash.h"
#include "tasks/gzip.h"
#include "tasks/readers.h"
#include "tasks/task_data.h"
#include "tests/support/message_of.h"
#include "tests/support/shared_data.h"
#include "tests/tasks/code_suite.h"

namespace fullband {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&z, text.size()), '\0');
  std::string input = text;
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

std::vector<std::string> Ids(const std::vector<Item>& items) {
  std::vector<std::string> ids;
  for (const Item& item : items) ids.push_back(item.id);
  return ids;
}

TEST(Gunzip, IsWhatWasPacked) {
  const std::string large(3 << 20, 'a');
  for (const std::string& text : {std::string(), std::string("a\n"), large}) {
    EXPECT_TRUE(IsGzip(Gzip(text)));
    EXPECT_EQ(Gunzip(Gzip(text), "it"), text);
  }
  EXPECT_EQ(Gunzip(Gzip("one ") + Gzip("two"), "it"), "one two");
  EXPECT_FALSE(IsGzip("{}"));
}

TEST(Gunzip, RefusesWhatIsNotWhole) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += std::to_string(i * i);
  const std::string packed = Gzip(text);
  for (const size_t size : {packed.size() - 1, packed.size() / 2, size_t{3}, size_t{0}})
    EXPECT_THAT(MessageOf([&] { Gunzip(packed.substr(0, size), "some.gz"); }),
                AllOf(HasSubstr("some.gz"), HasSubstr("cut off")))
        << size;
  std::string damaged = packed;
  damaged[packed.size() / 2] ^= 1;
  EXPECT_THAT(MessageOf([&] { Gunzip(damaged, "some.gz"); }), HasSubstr("no whole gzip file"));
  EXPECT_THAT(MessageOf([&] { Gunzip(packed + "more", "some.gz"); }), HasSubstr("some.gz"));
  EXPECT_THAT(MessageOf([&] { Gunzip(Gzip(std::string(100, 'a')), "some.gz", 99); }),
              HasSubstr("more than 99 bytes"));
}

TEST(CodeReaders, PackedAndPlainFilesAreTheSame) {
  const CodeSuites own;
  const TaskData plain = LoadTaskData(own.Load("own_humaneval.toml"), {});
  own.Write("own_humaneval.jsonl", Gzip(kOwnFunctions));
  const TaskData packed = LoadTaskData(own.Load("own_humaneval.toml"), {});
  ASSERT_EQ(Ids(packed.items), Ids(plain.items));
  EXPECT_EQ(packed.items[1].fields, plain.items[1].fields);
  EXPECT_EQ(packed.data_sha256, Sha256Hex(Gzip(kOwnFunctions)));  // of the file as it is
  own.Write("own_humaneval.jsonl", Gzip(kOwnFunctions).substr(0, 99));
  EXPECT_THAT(MessageOf([&] { LoadTaskData(own.Load("own_humaneval.toml"), {}); }),
              AllOf(HasSubstr(own.Path("own_humaneval.jsonl")), HasSubstr("cut off")));
}

TEST(CodeReaders, HumanEvalLinesBecomeItems) {
  const CodeSuites own;
  const TaskData data = LoadTaskData(own.Load("own_humaneval.toml"), {});
  EXPECT_THAT(Ids(data.items), ElementsAre("Own/0", "Own/1"));
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 0), "def half(x):\n    \"\"\"Half of it.\"\"\"\n");
  const nlohmann::json gold = nlohmann::json::parse(GoldText(data, data.items[0]));
  EXPECT_EQ(gold, (nlohmann::json{{"prompt", "def half(x):\n    \"\"\"Half of it.\"\"\"\n"},
                                  {"entry_point", "half"},
                                  {"test", "def check(c):\n    assert c(4) == 2\n    assert c(7) == 3\n"}}));
  EXPECT_EQ(GoldText(data, data.items[0]), gold.dump());  // canonical
}

TEST(CodeReaders, MbppLinesBecomeItems) {
  const CodeSuites own;
  const TaskData data = LoadTaskData(own.Load("own_mbpp.toml"), {});
  EXPECT_THAT(Ids(data.items), ElementsAre("2", "3", "4"));
  EXPECT_THAT(Ids(data.shots), ElementsAre("1"));
  EXPECT_EQ(CompletionPrompt(data, data.items[0], 1),
            "Add.\nassert add(1, 2) == 3\n[BEGIN]\ndef add(a, b):\r\n    return a + b\n[DONE]\n\n"
            "Take the smallest.\nassert least([2, 1]) == 1\nassert least([3]) == 3\n"
            "assert least([0, 0]) == 0\n[BEGIN]\n");  // three of the four tests are shown
  const auto gold = [&](size_t i) { return nlohmann::json::parse(GoldText(data, data.items[i])); };
  EXPECT_EQ(gold(0)["tests"].size(), 4u);  // and all are run
  EXPECT_EQ(gold(0)["entry_point"], "least");
  EXPECT_EQ(gold(1)["setup"], "root = Node()\nroot.kids = (Node(),)");
  EXPECT_EQ(gold(1)["entry_point"], "count");
  EXPECT_EQ(gold(2)["entry_point"], "sum");
}

TEST(CodeReaders, MbppPlusRunsItsOneProgram) {
  const std::vector<Item> items = ReadItems(*FindReader("mbpp_plus_jsonl"), kOwnPlusPrograms, "plus.jsonl");
  EXPECT_EQ(items.at(0).id, "7");
  EXPECT_EQ(items[0].fields["text"], "Do.");
  EXPECT_EQ(nlohmann::json::parse(items[0].fields["program"].get<std::string>()),
            (nlohmann::json{{"setup", "import math\nimport re"},
                            {"tests", {"import numpy\nassert f(2) == 2"}},
                            {"entry_point", "f"}}));
}

constexpr char kHumanEvalLine[] =
    R"j({"task_id": "A/0", "prompt": "def f():\n", "canonical_solution": " pass", "test": "def check(c): pass", "entry_point": "f"})j";
constexpr char kMbppLine[] =
    R"j({"task_id": 5, "text": "Do.", "code": "def f(): pass", "test_setup_code": "", "test_list": ["assert f() is None"]})j";
constexpr char kMbppPlusLine[] =
    R"j({"task_id": 5, "prompt": "Do.", "code": "def f(): pass", "test_imports": [], "test_list": ["assert f() is None"], "test": "f()"})j";

TEST(CodeReaders, FaultyFieldsAreNamed) {
  const struct {
    const char *reader, *line, *field, *from, *to;
  } cases[] = {
      {"humaneval_jsonl", kHumanEvalLine, "task_id", "\"task_id\"", "\"task\""},
      {"humaneval_jsonl", kHumanEvalLine, "prompt", "\"prompt\"", "\"prmpt\""},
      {"humaneval_jsonl", kHumanEvalLine, "canonical_solution", "\" pass\"", "null"},
      {"humaneval_jsonl", kHumanEvalLine, "test", "\"def check(c): pass\"", "[]"},
      {"humaneval_jsonl", kHumanEvalLine, "test", "\"def check(c): pass\"", "\" \""},
      {"humaneval_jsonl", kHumanEvalLine, "entry_point", "\"f\"", "\"f()\""},
      {"humaneval_jsonl", kHumanEvalLine, "entry_point", "\"f\"", "\"2f\""},
      {"mbpp_jsonl", kMbppLine, "task_id", "5", "\"5\""},
      {"mbpp_jsonl", kMbppLine, "text", "\"Do.\"", "\"\""},
      {"mbpp_jsonl", kMbppLine, "code", "\"code\"", "\"Code\""},
      {"mbpp_jsonl", kMbppLine, "test_setup_code", "\"test_setup_code\": \"\", ", ""},
      {"mbpp_jsonl", kMbppLine, "test_list", "[\"assert f() is None\"]", "[]"},
      {"mbpp_jsonl", kMbppLine, "test_list[0]", "\"assert f() is None\"", "3"},
      {"mbpp_plus_jsonl", kMbppPlusLine, "prompt", "\"prompt\"", "\"text\""},
      {"mbpp_plus_jsonl", kMbppPlusLine, "test_imports", "\"test_imports\": []", "\"test_imports\": \"\""},
      {"mbpp_plus_jsonl", kMbppPlusLine, "test", "\"f()\"", "\"\""},
      {"mbpp_plus_jsonl", kMbppPlusLine, "test_list", "\"test_list\"", "\"tests\""},
  };
  for (const auto& one : cases) {
    const auto read = [&](const std::string& line) {
      return MessageOf([&] { ReadItems(*FindReader(one.reader), line + "\n", "folder/data.jsonl"); });
    };
    EXPECT_EQ(read(one.line), "(no error)");
    EXPECT_THAT(read(Replaced(one.line, one.from, one.to)),
                HasSubstr(std::string("folder/data.jsonl, line 1, ") + one.field))
        << one.reader << " " << one.to;
  }
}

TEST(CodeSuites, SelectByIdReplaceAndExecuteAreChecked) {
  const CodeSuites own;
  const auto message = [&](const std::string& from, const std::string& to) {
    own.Write("own_mbpp.toml", Replaced(kOwnMbpp, from, to));
    return MessageOf([&] { LoadTaskData(own.Load("own_mbpp.toml"), {}); });
  };
  EXPECT_EQ(message("first_id = 2", "first_id = 2"), "(no error)");
  EXPECT_THAT(message("last_id = 4\n", ""), HasSubstr("data.last_id"));
  EXPECT_THAT(message("last_id = 4", "last_id = 1"), HasSubstr("data.last_id"));
  EXPECT_THAT(message("first_id = 2\nlast_id = 4", "first_id = 60\nlast_id = 70"),
              AllOf(HasSubstr("own_mbpp.jsonl"), HasSubstr("no item from 60 to 70")));
  EXPECT_THAT(message("\"{program}\"", "\"{code}\""), HasSubstr("generate.gold"));
  EXPECT_THAT(message("[generate]", "[execute]\nwall_second = 3\n[generate]"),
              AllOf(HasSubstr("execute.wall_second"), HasSubstr("wall_seconds")));
  EXPECT_THAT(message("[generate]", "[execute]\nmemory_mib = 0\n[generate]"),
              HasSubstr("execute.memory_mib"));
  EXPECT_THAT(message("[generate]", "[execute]\nmodules = [\"os; x\"]\n[generate]"),
              HasSubstr("execute.modules"));
  EXPECT_THAT(message("[generate]", "[replaced]\npath = \"own_mbpp.jsonl\"\nids = [\"9\"]\n[generate]"),
              AllOf(HasSubstr("own_mbpp.jsonl"), HasSubstr("has no item 9")));
  own.Write("own.toml", Replaced(kOwnGenerate, "[generate]", "[execute]\n[generate]"));
  EXPECT_THAT(MessageOf([&] { own.Load(); }), HasSubstr("execute"));
  own.Write("own_humaneval.toml", Replaced(kOwnHumanEval, "[shots]", "first_id = 0\nlast_id = 9\n[shots]"));
  EXPECT_THAT(MessageOf([&] { LoadTaskData(own.Load("own_humaneval.toml"), {}); }),
              AllOf(HasSubstr("line 1, id"), HasSubstr("Own/0")));
}

TEST(CodeSuites, ReplacedItemsComeFromTheOtherFile) {
  const CodeSuites own;
  own.Write("better.jsonl", Replaced(kOwnPrograms, "Count a tree.", "Count all."));
  const std::string plain = LoadTaskData(own.Load("own_mbpp.toml"), {}).data_sha256;
  own.Write("own_mbpp.toml",
            Replaced(kOwnMbpp, "[shots]", "[replaced]\npath = \"better.jsonl\"\nids = [\"3\"]\n[shots]"));
  const Suite suite = own.Load("own_mbpp.toml");
  EXPECT_EQ(DataFiles(suite).back().path, "better.jsonl");
  const TaskData data = LoadTaskData(suite, {});
  EXPECT_THAT(Ids(data.items), ElementsAre("2", "3", "4"));
  EXPECT_EQ(data.items[1].fields["text"], "Count all.");
  EXPECT_EQ(data.items[0].fields["text"], "Take the smallest.");
  EXPECT_EQ(suite.execution.wall_seconds, 30);
  // Both files identify the run.
  EXPECT_NE(data.data_sha256, plain);
  own.Write("better.jsonl", Replaced(kOwnPrograms, "Count a tree.", "Count everything."));
  EXPECT_NE(LoadTaskData(suite, {}).data_sha256, data.data_sha256);
}

TEST(CodeSuites, ShotsThatAreItemsAreNotAsked) {
  const CodeSuites own;
  own.Write("own_mbpp.toml",
            Replaced(Replaced(kOwnMbpp, "first_id = 1\nlast_id = 1", "first_id = 2\nlast_id = 3"),
                     "first = true", "first = true\nsame_ids = true"));
  const Suite suite = own.Load("own_mbpp.toml");
  TaskOptions options;
  for (const auto& [shots, ids] : std::vector<std::pair<int, std::vector<std::string>>>{
           {0, {"2", "3", "4"}}, {1, {"3", "4"}}, {2, {"4"}}}) {
    options.shots = shots;
    EXPECT_EQ(Ids(LoadTaskData(suite, options).items), ids);
  }
  options.shots = 3;
  EXPECT_THAT(MessageOf([&] { LoadTaskData(suite, options); }), HasSubstr("only 2 of the items"));
}

// The data sets as they are: how many items, under which ids, and what of them is shown.
TEST(CodeSuites, ThePublicOnes) {
  const auto folder = SharedDatasets();
  if (!folder) GTEST_SKIP() << "the public data files are not at hand";
  const struct {
    const char* suite;
    size_t items;
    const char *first, *last;
  } cases[] = {{"humaneval", 164, "HumanEval/0", "HumanEval/163"},
               {"humaneval_plus", 164, "HumanEval/0", "HumanEval/163"},
               {"mbpp", 500, "11", "510"},
               {"mbpp_plus", 378, "2", "809"}};
  for (const auto& one : cases) {
    TaskOptions options;
    options.data_folder = *folder;
    const TaskData data = LoadTaskData(LoadSuite(one.suite), options);
    EXPECT_EQ(data.items.size(), one.items) << one.suite;
    EXPECT_EQ(data.items.front().id, one.first);
    EXPECT_EQ(data.items.back().id, one.last);
    for (const Item& item : data.items) {
      // What is tested can be seen in the prompt (fault C30), and every item has its name.
      const std::string name = item.fields["entry_point"];
      EXPECT_THAT(CompletionPrompt(data, item, 0), HasSubstr(name)) << item.id;
      EXPECT_FALSE(name.empty()) << one.suite << " " << item.id;
    }
  }
  TaskOptions options;
  options.data_folder = *folder;
  EXPECT_THAT(Ids(LoadTaskData(LoadSuite("mbpp"), options).shots), ElementsAre("2", "3", "4"));
  options.shots = 3;
  EXPECT_EQ(LoadTaskData(LoadSuite("mbpp_plus"), options).items.size(), 375u);
}

}  // namespace
}  // namespace fullband
