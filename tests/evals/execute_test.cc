// The judge of programs: what is run of a completion, what its end means, and where it is refused.
#include "evals/execute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/error.h"
#include "evals/grading.h"
#include "tasks/task_data.h"
#include "tests/evals/sandbox/usable.h"
#include "tests/support/message_of.h"
#include "tests/tasks/code_suite.h"

namespace fullband {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kHalf[] =
    R"j({"entry_point": "half", "prompt": "def half(x):\n    \"\"\"Half of it.\"\"\"\n", "test": "def check(c):\n    assert c(4) == 2\n    assert c(7) == 3\n"})j";
constexpr char kLeast[] =
    R"j({"entry_point": "least", "setup": "", "tests": ["assert least([2, 1]) == 1", "assert least([3]) == 3"]})j";

TEST(ProgramGold, IsReadAndRefused) {
  EXPECT_EQ(ParseProgramGold(kHalf).entry_point, "half");
  EXPECT_EQ(ParseProgramGold(kLeast).tests.size(), 2u);
  for (const char* text :
       {"", "7", "[]", "{}", "{\"entry_point\": \"f\"}", R"({"entry_point": "f", "setup": "", "tests": []})",
        R"({"entry_point": 3, "setup": "", "tests": ["pass"]})"})
    EXPECT_THAT(MessageOf([&] { ParseProgramGold(text); }), StartsWith("gold: ")) << text;
}

TEST(KeptProgram, StopStringsEndContinuationsAndNotModules) {
  const std::vector<std::string> stops = {"\nclass", "\ndef", "\n#", "\nif", "\nprint"};
  const auto kept = [&](const std::string& text, const char* gold = kHalf) {
    return KeptProgram(text, stops, gold);
  };
  EXPECT_EQ(kept("    return x // 2\n\ndef other():\n    ret"), "    return x // 2\n");
  EXPECT_EQ(kept("    return x // 2\n\n# Test\nprint(half("), "    return x // 2\n");
  // The function is written anew, after what it needs.
  const std::string module = "import math\n\ndef half(x):\n    return math.floor(x / 2)\n";
  EXPECT_EQ(kept(module), module);
  const std::string fenced =
      "```python\nimport math\n\ndef half(x):\n    return x // 2\n\nprint(half(2))\n```\n";
  EXPECT_EQ(kept(fenced), fenced);
  // Where the cut leaves the function whole, it is cut.
  EXPECT_EQ(kept("def half(x):\n    return x // 2\n\nprint(half("), "def half(x):\n    return x // 2\n");
  EXPECT_EQ(KeptProgram("def least(a):\n    return 1\n[DONE]\ndef least(a): x", {"[DONE]"}, kLeast),
            "def least(a):\n    return 1\n");
}

// Fault C27: a stop string is a text, not a pattern.
TEST(KeptProgram, StopStringsAreLiteral) {
  EXPECT_EQ(KeptProgram("    return x | 1<|endoftext|>garbage", {"<|endoftext|>"}, kHalf),
            "    return x | 1");
  EXPECT_EQ(KeptProgram("    return x\n    y = '.*'\n", {".*", "a|b"}, kHalf), "    return x\n    y = '");
  EXPECT_EQ(KeptProgram("    return x ^ 1\n", {"^", "[a-z]"}, kHalf), "    return x ");
}

ProgramResult Ended(Detail detail, int run, int tests) {
  ProgramResult result;
  result.detail = detail;
  result.tests_run = run;
  result.tests = tests;
  return result;
}

TEST(VerdictOf, EveryEndHasAnOutcome) {
  const Verdict passed = VerdictOf("x = 1", Ended(Detail::kPassed, 3, 3));
  EXPECT_EQ(passed.outcome, Outcome::kCorrect);
  EXPECT_EQ(passed.detail, "passed");
  EXPECT_EQ(passed.score, 1);
  EXPECT_EQ(passed.extracted, "x = 1\n");
  ProgramResult failed = Ended(Detail::kException, 1, 4);
  failed.message = "NameError: a\nb";
  const Verdict wrong = VerdictOf("x = 1\n", failed);
  EXPECT_EQ(wrong.outcome, Outcome::kIncorrect);
  EXPECT_EQ(wrong.score, 0.25);
  EXPECT_EQ(wrong.extracted, "x = 1\n# exception after 1 of 4 tests: NameError: a b\n");
  EXPECT_EQ(VerdictOf("", Ended(Detail::kTimeout, 0, 1)).outcome, Outcome::kIncorrect);
  EXPECT_EQ(VerdictOf("", Ended(Detail::kSandboxFailed, 0, 1)).outcome, Outcome::kFault);
  EXPECT_EQ(VerdictOf("", Ended(Detail::kBadTests, 0, 0)).outcome, Outcome::kFault);
}

TEST(VerdictOf, ASuspiciousPassCountsAndSaysSo) {
  ProgramResult result = Ended(Detail::kPassed, 1, 1);
  result.suspicious = {"source: ctypes", "sys._getframe"};
  result.is_protected = false;
  const Verdict verdict = VerdictOf("import ctypes\n", result);
  EXPECT_EQ(verdict.outcome, Outcome::kCorrect);
  EXPECT_EQ(verdict.detail, "suspicious");
  EXPECT_THAT(verdict.extracted,
              EndsWith("# suspicious: source: ctypes\n# suspicious: sys._getframe\n# run unprotected\n"));
  result.detail = Detail::kAssertion;  // a failure is one, whatever the program looks like
  EXPECT_EQ(VerdictOf("", result).detail, "assertion");
}

class ExecuteJudgeTest : public SandboxTest {
 protected:
  static GradeRecord Grade(const std::string& text, const char* gold = kHalf, Execution execution = {}) {
    SampleRecord sample;
    sample.text = text;
    return GradeSample(ExecuteJudge(execution, {}, "the test"), sample, gold);
  }
};

TEST_F(ExecuteJudgeTest, RightPassesAndWrongDoesNot) {
  const struct {
    const char *text, *outcome, *detail;
  } cases[] = {
      {"    return x // 2\n", "correct", "passed"},
      {"```python\ndef half(x):\n    return x // 2\n```\n", "correct", "passed"},
      {"<think>\n    return x\n</think>    return x // 2\n", "correct", "passed"},
      {"    return x / 2\n", "incorrect", "assertion"},
      {"    return y\n", "incorrect", "exception"},
      {"    return (\n", "incorrect", "syntax_error"},
      {"    import sys\n    sys.exit(0)\n", "incorrect", "exited_early"},
      {"    import os\n    os._exit(0)\n", "incorrect", "exited_early"},
      {"    return [0] * 10**9\n", "incorrect", "memory_limit"},
      {"    return half(x)\n", "incorrect", "recursion_limit"},
      {"", "no_answer", "empty"},
      {" \n", "no_answer", "empty"},
      {"<think>    return x // 2\n", "no_answer", "truncated_in_thought"},
      {"```python\n```", "no_answer", "empty"},
  };
  for (const auto& one : cases) {
    const GradeRecord grade = Grade(one.text);
    EXPECT_EQ(grade.outcome, one.outcome) << one.text << grade.extracted;
    EXPECT_EQ(grade.detail, one.detail) << one.text << grade.extracted;
  }
  EXPECT_EQ(Grade("    return x // 2\n", "{}").detail, "grader_failed");
  EXPECT_EQ(Grade("    return x // 2\n", "{}").outcome, "fault");
}

// Faults C29 and C30: all tests run, and a name that is missing is told apart.
TEST_F(ExecuteJudgeTest, AllTestsOfARecordRun) {
  const GradeRecord constant = Grade("def least(a):\n    return 1\n", kLeast);
  EXPECT_EQ(constant.outcome, "incorrect");
  EXPECT_EQ(constant.score, 0.5);
  EXPECT_THAT(constant.extracted, HasSubstr("after 1 of 2 tests"));
  EXPECT_EQ(Grade("def smallest(a):\n    return min(a)\n", kLeast).detail, "no_entry_point");
  EXPECT_EQ(Grade("def least(a):\n    return min(a)\n", kLeast).detail, "passed");
}

// A function under test may have a built-in's name, even where the tests call others, too.
TEST_F(ExecuteJudgeTest, AFunctionNamedLikeABuiltInIsTheOneThatIsTested) {
  constexpr char kSum[] =
      R"j({"entry_point": "sum", "setup": "", "tests": ["def same(a, b):\n    assert a == b\nsame(sum(4), 10)"]})j";
  EXPECT_EQ(Grade("def sum(n):\n    return n * (n + 1) // 2\n", kSum).detail, "passed");
  EXPECT_EQ(Grade("def sum(n):\n    return n\n", kSum).detail, "assertion");
}

TEST_F(ExecuteJudgeTest, LimitsAreTheSuites) {
  Execution execution;
  execution.wall_seconds = 1;
  const GradeRecord slept = Grade("    import time\n    time.sleep(60)\n", kHalf, execution);
  EXPECT_EQ(slept.outcome, "incorrect");
  EXPECT_EQ(slept.detail, "timeout");
  execution = {};
  execution.cpu_seconds = 1;
  EXPECT_EQ(Grade("    while True: pass\n", kHalf, execution).detail, "cpu_limit");
  execution = {};
  execution.memory_mib = 256;
  EXPECT_EQ(Grade("    a = bytearray(400 << 20)\n    return x // 2\n", kHalf, execution).detail,
            "memory_limit");
  execution.memory_mib = 1024;
  EXPECT_EQ(Grade("    a = bytearray(400 << 20)\n    return x // 2\n", kHalf, execution).detail, "passed");
}

TEST_F(ExecuteJudgeTest, ASuspiciousPassIsFlagged) {
  const GradeRecord grade = Grade("    import ctypes\n    return x // 2\n");
  EXPECT_EQ(grade.outcome, "correct");
  EXPECT_EQ(grade.detail, "suspicious");
  EXPECT_THAT(grade.extracted, HasSubstr("# suspicious: source: ctypes\n"));
}

TEST_F(ExecuteJudgeTest, AMissingModuleIsRefusedBeforehand) {
  Execution execution;
  execution.modules = {"json", "no_such_module"};
  EXPECT_THAT(
      MessageOf([&] { ExecuteJudge(execution, {}, "suite a"); }),
      AllOf(HasSubstr("suite a"), HasSubstr("import no_such_module"), HasSubstr("python3-no_such_module")));
}

// Of every item of two suites the solution passes and another item's does not.
TEST_F(ExecuteJudgeTest, SolutionsPassAndOthersDoNot) {
  const CodeSuites own;
  for (const auto& [name, field] : std::vector<std::pair<const char*, const char*>>{
           {"own_humaneval.toml", "canonical_solution"}, {"own_mbpp.toml", "code"}}) {
    const TaskData data = LoadTaskData(own.Load(name), {});
    const std::vector<Judge> judges = JudgesOf(data.suite);
    ASSERT_EQ(judges.size(), 1u);
    for (size_t i = 0; i < data.items.size(); ++i) {
      SampleRecord sample;
      sample.text = data.items[i].fields[field];
      const GradeRecord right = GradeSample(judges[0], sample, GoldText(data, data.items[i]));
      EXPECT_EQ(right.outcome, "correct") << data.items[i].id << right.extracted;
      const Item& other = data.items[(i + 1) % data.items.size()];
      EXPECT_EQ(GradeSample(judges[0], sample, GoldText(data, other)).outcome, "incorrect") << other.id;
    }
  }
}

// A machine whose path has no bubblewrap.
class Without : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    setenv("PATH", "/nonexistent", 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }
  std::string path_;
};

TEST_F(Without, BubblewrapCodeSuitesAreRefusedUnlessUnprotected) {
  const CodeSuites own;
  const Suite suite = own.Load("own_humaneval.toml");
  EXPECT_THAT(MessageOf([&] { JudgesOf(suite); }),
              AllOf(HasSubstr("suite own_humaneval"), HasSubstr("bubblewrap is missing"),
                    HasSubstr("--unprotected")));
  GradingOptions options;
  options.unprotected = true;
  options.workers = 3;
  const std::vector<Judge> judges = JudgesOf(suite, options);
  EXPECT_EQ(judges[0].at_once, 3);
  SampleRecord sample;
  sample.text = "    return x // 2\n";
  const GradeRecord grade = GradeSample(judges[0], sample, kHalf);
  EXPECT_EQ(grade.outcome, "correct") << grade.extracted;
  EXPECT_THAT(grade.extracted, EndsWith("# run unprotected\n"));
  EXPECT_EQ(JudgesOf(own.Load()).size(), 1u);  // suites of texts need none
}

TEST(JudgesOf, ExecuteIsForProgramsAndProgramsForExecute) {
  const CodeSuites own;
  own.Write("own.toml", Replaced(kOwnGenerate, "\"number\"", "\"execute\""));
  EXPECT_THAT(MessageOf([&] { JudgesOf(own.Load()); }),
              AllOf(HasSubstr("own.toml, graders: execute"), HasSubstr("gsm8k_jsonl")));
  own.Write("own_mbpp.toml", Replaced(kOwnMbpp, "\"execute\"", "\"exact\""));
  EXPECT_THAT(MessageOf([&] { JudgesOf(own.Load("own_mbpp.toml")); }),
              AllOf(HasSubstr("own_mbpp.toml, graders: exact"), HasSubstr("use execute")));
  own.Write("own_mbpp.toml", Replaced(kOwnMbpp, "\"execute\"", "\"exexute\""));
  EXPECT_THAT(MessageOf([&] { JudgesOf(own.Load("own_mbpp.toml")); }), HasSubstr("exexute"));
}

}  // namespace
}  // namespace fullband
