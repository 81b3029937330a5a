// Faults of running model-written programs that users of other harnesses reported:
// tests/data/faults/code.jsonl, each with its source.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "evals/execute.h"
#include "evals/grading.h"
#include "evals/sandbox/assemble.h"
#include "tasks/task_data.h"
#include "tests/evals/sandbox/usable.h"
#include "tests/tasks/code_suite.h"

namespace fullband {
namespace {

using nlohmann::json;

const std::map<std::string, json>& Faults() {
  static const std::map<std::string, json> faults = [] {
    std::map<std::string, json> read;
    std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/code.jsonl");
    for (std::string line; std::getline(file, line);) {
      json fault = json::parse(line);
      read[fault.at("id")] = fault;
    }
    return read;
  }();
  return faults;
}

// Details that a status of the file stands for.
const std::map<std::string, std::set<std::string>>& Statuses() {
  static const std::map<std::string, std::set<std::string>> statuses = {
      {"exited_early", {"exited_early"}},
      {"suspicious_or_failed", {"always_equal", "assertion", "suspicious"}},
      {"timeout_or_memory", {"timeout", "cpu_limit", "memory_limit"}},
      {"timeout_or_output_limit", {"timeout", "cpu_limit", "output_limit"}},
      {"memory_limit", {"memory_limit"}},
      {"failed", {"exception"}},
      {"signal_9", {"signal_9"}},
      // From Python 3.11 on calls of Python functions need no stack, but memory.
      {"signal_11_or_recursion", {"signal_11", "recursion_limit", "memory_limit"}},
  };
  return statuses;
}

class CodeFaults : public SandboxTest {
 protected:
  static GradeRecord Grade(const json& input, const std::string& completion, int memory_mib = 1024) {
    Execution execution;
    execution.cpu_seconds = memory_mib == 1024 ? 2 : 10;
    execution.memory_mib = memory_mib;
    const Judge judge = ExecuteJudge(execution, {}, "the test");
    json gold{{"entry_point", input.at("entry_point")}, {"prompt", input.at("prompt")}};
    std::string test = input.at("test");
    gold["test"] = test;
    SampleRecord sample;
    sample.text = completion;
    return GradeSample(judge, sample, gold.dump());
  }
};

// What a program is when it ends otherwise than by the last test, or would like to.
TEST_F(CodeFaults, Programs) {
  int tested = 0;
  for (const auto& [id, fault] : Faults()) {
    const json &input = fault.at("input"), &expected = fault.at("expected");
    if (!input.contains("completion") || !input.contains("test") || !expected.at("passed").is_boolean())
      continue;
    const GradeRecord grade = Grade(input, input.at("completion"));
    EXPECT_EQ(grade.outcome, expected.at("passed").get<bool>() ? "correct" : "incorrect")
        << id << " " << grade.extracted;
    if (expected.contains("status")) {
      EXPECT_TRUE(Statuses().at(expected.at("status")).contains(grade.detail)) << id << " " << grade.detail;
    }
    ++tested;
  }
  EXPECT_EQ(tested, 15);
}

TEST_F(CodeFaults, VariantsEndAsThePrograms) {
  int tested = 0;
  for (const auto& [id, fault] : Faults()) {
    const json &input = fault.at("input"), &expected = fault.at("expected");
    if (!input.contains("variants") || id == "C19") continue;
    for (size_t i = 0; i < input.at("variants").size(); ++i) {
      const std::string status = expected.contains("variant_status") || input.contains("variant_status")
                                     ? input.at("variant_status").at(i)
                                     : expected.at("status");
      // Calls use up memory, and 1 GiB of it takes them long.
      const GradeRecord grade = Grade(input, input.at("variants").at(i), id == "C10" ? 128 : 1024);
      EXPECT_EQ(grade.outcome, "incorrect") << id << " " << i;
      EXPECT_TRUE(Statuses().at(status).contains(grade.detail)) << id << " " << i << " " << grade.extracted;
      ++tested;
    }
  }
  EXPECT_EQ(tested, 6);
}

// Files of the machine are not there; its environment is not, so that a look into it finds nothing.
TEST_F(CodeFaults, TheMachineIsOutOfReach) {
  const json& input = Faults().at("C19").at("input");
  EXPECT_EQ(Grade(input, input.at("completion")).detail, "exception");
  EXPECT_EQ(Grade(input, input.at("variants").at(0)).detail, "exception");
  setenv("FULLBAND_TEST_TOKEN", "secret", 1);
  EXPECT_EQ(Grade(input, input.at("variants").at(1)).detail, "passed");
  unsetenv("FULLBAND_TEST_TOKEN");
  EXPECT_EQ(Grade(input, "    import os\n    assert 'PATH' not in os.environ\n    return x*x\n").detail,
            "assertion");
}

// A child that stays behind changes nothing, and is gone with the verdict (hostile_test looks for it).
TEST_F(CodeFaults, ChildrenDoNotDelayTheVerdict) {
  const json& input = Faults().at("C11").at("input");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Grade(input, input.at("completion")).outcome, "correct");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));  // the child sleeps 600
}

TEST(CodeExtractionFaults, FencesWithoutAPartner) {
  const json& input = Faults().at("C25").at("input");
  const std::string entry_point = input.at("entry_point");
  for (const json& each : input.at("cases")) {
    const std::string completion = each.at("completion");
    EXPECT_TRUE(DefinesAtTop(ExtractCode(completion, entry_point), entry_point)) << completion;
  }
  EXPECT_EQ(input.at("cases").size(), 4u);
}

TEST(CodeExtractionFaults, StopStringsAreLiterals) {
  const json& fault = Faults().at("C27");
  constexpr char kGold[] = R"j({"entry_point": "f", "prompt": "def f(x):\n", "test": "def check(c): pass"})j";
  EXPECT_EQ(KeptProgram(fault.at("input").at("completion"), fault.at("input").at("stop"), kGold),
            fault.at("expected").at("kept"));
}

// A module that a model wrote in place of the continuation: the suite's stop strings leave it whole.
TEST_F(CodeFaults, ModulesSurviveTheStopStrings) {
  const std::vector<std::string> stops = LoadSuite("humaneval").completion.stop_strings;
  for (const char* id : {"C21", "C22", "C24"}) {
    const json& input = Faults().at(id).at("input");
    const json gold{
        {"entry_point", input.at("entry_point")}, {"prompt", input.at("prompt")}, {"test", input.at("test")}};
    EXPECT_EQ(Grade(input, KeptProgram(input.at("completion"), stops, gold.dump())).detail, "passed") << id;
  }
}

TEST_F(CodeFaults, AllTestsOfTheRecordRun) {
  const json &input = Faults().at("C29").at("input"), &expected = Faults().at("C29").at("expected");
  const json gold{{"entry_point", "add"}, {"setup", ""}, {"tests", input.at("tests")}};
  SampleRecord sample;
  const Judge judge = ExecuteJudge({}, {}, "the test");
  sample.text = input.at("completion");
  EXPECT_EQ(GradeSample(judge, sample, gold.dump()).outcome, "incorrect");
  sample.text = "def add(a, b):\n    return a + b\n";
  const GradeRecord right = GradeSample(judge, sample, gold.dump());
  EXPECT_EQ(right.outcome, "correct");
  EXPECT_EQ(right.score, 1);  // of all the tests
  EXPECT_EQ(static_cast<int>(gold.at("tests").size()), expected.at("tests_run").get<int>());
}

TEST(CodeTaskFaults, ThePromptShowsTheName) {
  const json &input = Faults().at("C30").at("input"), &expected = Faults().at("C30").at("expected");
  const CodeSuites own;
  json line{{"task_id", 2},
            {"text", input.at("text")},
            {"code", "def freq_items(a): pass"},
            {"test_setup_code", ""},
            {"test_list", input.at("test_list")}};
  own.Write("own_mbpp.jsonl", line.dump() + "\n");
  TaskOptions options;
  options.shots = 0;
  for (const char* name : {"mbpp", "mini_mbpp"}) {
    // The wording of the public suites over this one item.
    Suite suite = own.Load("own_mbpp.toml");
    const Suite known = LoadSuite(name);
    suite.completion = known.completion;
    suite.chat = known.chat;
    const TaskData data = LoadTaskData(suite, options);
    const std::string wanted = expected.at("prompt_contains");
    EXPECT_NE(CompletionPrompt(data, data.items.at(0), 0).find(wanted), std::string::npos) << name;
    EXPECT_NE(ChatPrompt(data, data.items.at(0), 0).back().content.find(wanted), std::string::npos) << name;
  }
}

// Each is tested above, but for the tokens of a first line (tests/decode/stop_test.cc) and verdicts under
// load (tests/evals/sandbox/behaviour_test.cc).
TEST(CodeFaultsFile, HasThese) {
  std::set<std::string> ids;
  for (const auto& [id, fault] : Faults()) ids.insert(id);
  EXPECT_EQ(ids, (std::set<std::string>{"C01", "C02", "C04", "C05", "C07", "C08", "C10", "C11",
                                        "C13", "C14", "C16", "C17", "C19", "C20", "C21", "C22",
                                        "C24", "C25", "C27", "C28", "C29", "C30"}));
}

// Relatives of the faults: other ways to the same end.
TEST_F(CodeFaults, Relatives) {
  const json input{{"entry_point", "f"},
                   {"prompt", "def f(x):\n"},
                   {"test", "def check(c):\n    assert c(2) == 4\n    assert c(3) == 9\n"}};
  const struct {
    const char *completion, *detail;
  } cases[] = {
      {"    quit()\n", "exited_early"},
      {"    import threading, os\n    threading.Thread(target=os._exit, args=(0,)).start()\n    while True: "
       "pass\n",
       "exited_early"},
      {"    import os, signal\n    os.kill(os.getpid(), signal.SIGTERM)\n", "signal_15"},
      {"    import os\n    os.execv('/usr/bin/python3', ['python3', '-c', 'print(1)'])\n", "exited_early"},
      {"    return x*x\nimport builtins\nbuiltins.AssertionError = SystemExit\n", "suspicious"},
      {"    return NotImplemented\n", "assertion"},
      {"    return float('nan')\n", "assertion"},
      {"    raise AssertionError\n", "assertion"},
      {"    raise KeyboardInterrupt\n", "exception"},
      {"    yield x*x\n", "assertion"},
      {"    return str(x*x)\n", "assertion"},
      {"    return float(x*x)\n", "passed"},
      {"    print('ok', flush=True)\n    return x*x\n", "passed"},
      {"    return x*x\n\nif __name__ == '__main__':\n    raise SystemExit\n", "passed"},
      {"    return x*x\nprint(f(", "syntax_error"},
      {"\treturn x*x\n", "passed"},
      {"  return x*x\n", "passed"},
      {"    return x*x\r\n", "passed"},
      {"    return \xd9\xa1\n", "syntax_error"},
      {"    return 10**10**10\n", "cpu_limit"},
      {"    return x*x\nf = None\n", "exception"},
      {"    return x*x\ndel f\n", "no_entry_point"},
      {"    return x*x\nimport atexit\natexit.register(lambda: 1/0)\n", "passed"},
  };
  for (const auto& one : cases) {
    const GradeRecord grade = Grade(input, one.completion);
    EXPECT_EQ(grade.detail, one.detail) << one.completion << grade.extracted;
  }
}

}  // namespace
}  // namespace fullband
