// What honest programs get, right and wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "evals/sandbox/assemble.h"
#include "evals/sandbox/markers.h"
#include "evals/sandbox/support.h"
#include "tests/evals/sandbox/usable.h"

namespace fullband {
namespace {

Program Simple(const std::string& source, std::vector<std::string> tests) {
  Program program;
  program.source = source;
  program.tests = std::move(tests);
  return program;
}

class SandboxBehaviour : public SandboxTest {};

TEST_F(SandboxBehaviour, PassesFailsAndErrs) {
  const struct {
    const char *source, *test, *detail;
    Outcome outcome;
  } cases[] = {
      {"def f(x):\n    return x + 1\n", "assert f(1) == 2", "passed", Outcome::kCorrect},
      {"def f(x):\r\n    return x + 1\r\n", "assert f(1) == 2", "passed", Outcome::kCorrect},
      {"def f(x):\n    return x\n", "assert f(1) == 2", "assertion", Outcome::kIncorrect},
      {"def f(x):\n    return 1 / 0\n", "assert f(1) == 2", "exception", Outcome::kIncorrect},
      {"def g(x):\n    return x\n", "assert f(1) == 2", "no_entry_point", Outcome::kIncorrect},
      {"def f(x):\n    return g(x)\n", "assert f(1) == 2", "exception", Outcome::kIncorrect},
      {"def f(x:\n", "assert f(1) == 2", "syntax_error", Outcome::kIncorrect},
      {"f = \xff\n", "pass", "exception", Outcome::kIncorrect},
      {"x = 1", "assert (", "bad_tests", Outcome::kFault},
      {"x = 1", "import no_such_module", "bad_tests", Outcome::kFault},
  };
  for (const auto& each : cases) {
    const ProgramResult result = Run(Simple(each.source, {each.test}));
    EXPECT_EQ(result.detail_text(), each.detail) << each.source << result.message;
    EXPECT_EQ(result.outcome(), each.outcome) << each.source;
    EXPECT_TRUE(result.suspicious.empty()) << each.source;
  }
}

TEST_F(SandboxBehaviour, NamesAMissingEntryPoint) {
  Program program = Simple("def g(x):\n    return x\n", {"assert f(1) == 2"});
  program.entry_point = "f";
  EXPECT_EQ(Run(program).detail, Detail::kNoEntryPoint);
}

TEST_F(SandboxBehaviour, RunsAllTestsInOrderAfterTheSetUp) {
  Program program = Simple("class Node:\n    def __init__(self, v): self.v = v\n",
                           {"assert root.v == 5", "n = Node(1)", "assert n.v == 1", "assert n.v == 2"});
  program.setup = "root = Node(5)";  // needs the program's class
  const ProgramResult result = Run(program);
  EXPECT_EQ(result.detail, Detail::kAssertion);
  EXPECT_EQ(result.tests_run, 3);
  EXPECT_EQ(result.tests, 4);
}

TEST_F(SandboxBehaviour, OwnClassesCompareAsTheySay) {
  const char* source =
      "class P:\n    def __init__(self, v): self.v = v\n"
      "    def __eq__(self, o): return self.v == o.v\n    def __lt__(self, o): return self.v < o.v\n"
      "from collections import namedtuple, Counter\nfrom fractions import Fraction\nQ = namedtuple('Q', 'a "
      "b')\n";
  const ProgramResult result =
      Run(Simple(source, {"assert P(1) == P(1)", "assert not (P(1) == P(2))", "assert P(1) < P(2)",
                          "assert [P(1)] == [P(1)]", "assert Q(1, 2) == (1, 2)", "assert 1 < 2 < 3",
                          "assert Counter('aa') == {'a': 2}", "assert Fraction(1, 2) + Fraction(1, 2) == 1",
                          "assert 3 in [1, 2, 3] and 4 not in [1]", "assert P(1) is not None"}));
  EXPECT_EQ(result.detail_text(), "passed") << result.message;
  EXPECT_THAT(result.suspicious, testing::IsEmpty());
}

TEST_F(SandboxBehaviour, TestedFunctionMayHaveABuiltInsName) {
  EXPECT_EQ(Run(Simple("def sum(a, b):\n    return a + b\n", {"assert sum(1, 2) == 3"})).detail,
            Detail::kPassed);
}

TEST_F(SandboxBehaviour, KeepsBothEndsOfTheOutput) {
  const ProgramResult result =
      Run(Simple("import sys\nsys.stdout.write('first' + 'x' * 500000 + 'last')\n"
                 "sys.stderr.write('\\x00err')\n",
                 {"pass"}));
  EXPECT_EQ(result.detail, Detail::kPassed) << result.message;
  EXPECT_EQ(result.output.size, 500009);
  EXPECT_EQ(result.output.head.substr(0, 5), "first");
  EXPECT_EQ(result.output.tail.substr(result.output.tail.size() - 4), "last");
  EXPECT_EQ(result.output.head.size(), Output::kKept);
  EXPECT_EQ(result.errors.head, std::string("\0err", 4));
}

TEST_F(SandboxBehaviour, SetsIterateInTheSameOrderEveryTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i)
    seen.insert(Run(Simple("print({'a', 'b', 'c', 'd', 'e'}, flush=True)", {"pass"})).output.head);
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(SandboxBehaviour, ManyAtOnceKeepTheirResults) {
  std::vector<Program> programs;
  for (int i = 0; i < 24; ++i)
    programs.push_back(Simple("def f():\n    return " + std::to_string(i % 3) + "\n", {"assert f() != 1"}));
  std::atomic<int> told{0};
  const auto results =
      TheSandbox().sandbox->RunAll(programs, {}, 8, [&](size_t, const ProgramResult&) { ++told; });
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].detail, i % 3 == 1 ? Detail::kAssertion : Detail::kPassed)
        << i << results[i].message;
  EXPECT_EQ(told, 24);
}

TEST_F(SandboxBehaviour, SlowMachinesDoNotChangeTheVerdict) {
  const Program program =
      Simple("import time\nt = time.process_time()\nwhile time.process_time() < t + .06: pass\n", {"pass"});
  Limits limits;
  limits.cpu_seconds = 5;
  limits.wall_seconds = 15;
  EXPECT_EQ(Run(program, limits).detail, Detail::kPassed);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> load;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i)
    load.emplace_back([&] {
      while (!stop) {
      }
    });
  EXPECT_EQ(Run(program, limits).detail, Detail::kPassed);
  stop = true;
}

TEST(Sandbox, SaysWhatIsMissing) {
  SandboxOptions options;
  options.bubblewrap = "/no/such/bwrap";
  try {
    Sandbox sandbox(options);
    FAIL() << "it must not work";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/no/such/bwrap"));
    EXPECT_THAT(error.remedy(), testing::HasSubstr("unprotected"));
  }
  const SandboxReport report = CheckSandbox(options, 0);
  EXPECT_FALSE(report.works);
  ASSERT_FALSE(report.obstacles.empty());
  // Said once: a refusal is not the reason of another.
  EXPECT_THAT(report.obstacles.front().why, testing::Not(testing::HasSubstr("cannot be run protected")));
}

TEST(Sandbox, SaysThatBubblewrapWasRefused) {
  SandboxOptions options;
  options.bubblewrap = "/usr/bin/false";
  EXPECT_THAT(ObstaclesOf(options, "bwrap: setting up uid map: Permission denied").front().why,
              testing::HasSubstr("Permission denied"));
  EXPECT_EQ(ObstaclesOf(options, "bwrap: No permissions to create new namespace.\n").front().why,
            "bubblewrap was refused a namespace or a mount (it said: bwrap: No permissions to create new "
            "namespace.)");
  EXPECT_THROW(Sandbox{options}, Error);
}

TEST(Sandbox, RunsUnprotectedWhenAsked) {
  SandboxOptions options;
  options.unprotected = true;
  const Sandbox sandbox(options);
  const ProgramResult right = sandbox.Run(Simple("def f():\n    return 1\n", {"assert f() == 1"}));
  EXPECT_EQ(right.detail_text(), "passed") << right.message;
  EXPECT_FALSE(right.is_protected);
  const ProgramResult left = sandbox.Run(Simple("import os\nos._exit(0)\n", {"pass"}));
  EXPECT_EQ(left.detail_text(), "exited_early") << left.message;
}

TEST(Details, AreWordsWithOutcomes) {
  EXPECT_EQ(DetailText(Detail::kSignal, 9), "signal_9");
  EXPECT_EQ(DetailOfWord("memory_limit"), Detail::kMemoryLimit);
  EXPECT_EQ(DetailOfWord("nonsense"), Detail::kException);
  EXPECT_EQ(OutcomeOf(Detail::kTimeout), Outcome::kIncorrect);
  EXPECT_EQ(OutcomeOf(Detail::kSandboxFailed), Outcome::kFault);
}

TEST(Markers, AreWholeWords) {
  EXPECT_THAT(MarkersOf("import ctypes\nf.f_back"), testing::ElementsAre("source: f_back", "source: ctypes"));
  EXPECT_THAT(MarkersOf("half_back = 1; functypes = 2; def f_backwards(): pass"), testing::IsEmpty());
}

}  // namespace
}  // namespace fullband
