// What needs the Python worker: variables under roots and functions, and the library math-verify.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "common/error.h"
#include "common/paths.h"
#include "common/worker.h"
#include "evals/graders/grading_workers.h"
#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

using nlohmann::json;
using std::chrono::seconds;

class MathWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(PythonInterpreter()))
      GTEST_SKIP() << PythonInterpreter() << " is missing (run scripts/setup)";
  }
};

Verdict Grade(const std::string& answer, const std::string& gold) {
  return GradeMath({"so $\\boxed{" + answer + "}$", gold});
}

TEST_F(MathWorker, Expressions) {
  struct Row {
    const char *a, *b;
    bool same;
  };
  const std::vector<Row> rows = {
      {"\\cot x", "\\frac{\\cos x}{\\sin x}", true},
      {"\\cot x", "\\frac{1}{\\tan x}", true},
      {"\\cot x", "\\tan x", false},
      {"\\sin^2 x+\\cos^2 x", "1", true},
      {"\\sin 2x", "2\\sin x\\cos x", true},
      {"\\sin 2x", "2\\sin x", false},
      {"\\sqrt{x^2}", "|x|", true},
      {"\\sqrt{x^2}", "x", false},
      {"\\ln x^2", "2\\ln x", true},
      {"\\ln(ab)", "\\ln(a)+\\ln(b)", true},
      {"\\sqrt{ab}", "\\sqrt{a}\\sqrt{b}", true},
      {"\\sqrt{abcdgh}", "\\sqrt{ab}\\sqrt{cd}\\sqrt{gh}", true},
      {"\\sqrt{a+b}", "\\sqrt{a}+\\sqrt{b}", false},
      {"e^{ix}", "\\cos x+i\\sin x", true},
      {"e^{ix}", "\\cos x-i\\sin x", false},
      {"\\arcsin(x)+\\arccos(x)", "\\frac{\\pi}{2}", true},
      {"\\sin x + 0.000000000000000001x", "\\sin x", false},
      {"\\sqrt{4x}", "2\\sqrt{x}", true},
      {"x^{1/2}", "\\sqrt x", true},
      {"e^{2x}", "(e^x)^2", true},
      {"e^{2x}", "e^{x^2}", false},
      {"2^{x+1}", "2 \\cdot 2^x", true},
      {"2^{x+1}", "2^x+1", false},
      {"\\ln(ab)", "\\ln(a)-\\ln(b)", false},
      {"\\log_2(x)", "\\frac{\\ln(x)}{\\ln(2)}", true},
      {"\\frac{n!}{(n-1)!}", "n", true},
      {"y = \\sqrt{x+1}", "\\sqrt{1+x}", true},
      {"\\sqrt{x+1} = y", "y - \\sqrt{1+x} = 0", true},
      {"(\\cos 2t, \\sin t)", "(1-2\\sin^2 t, \\sin t)", true},
      {"\\frac{1+\\sqrt{x}}{2}", "\\frac{1}{2}+\\frac{\\sqrt{x}}{2}", true},
  };
  for (const Row& row : rows) {
    const Outcome expected = row.same ? Outcome::kCorrect : Outcome::kIncorrect;
    EXPECT_EQ(Grade(row.a, row.b).outcome, expected) << row.a << " and " << row.b;
    EXPECT_EQ(Grade(row.b, row.a).outcome, expected) << row.b << " and " << row.a;
  }
}

// Each within its five seconds, whatever is asked, and the next question is answered.
TEST_F(MathWorker, HostileExpressionsAreBounded) {
  std::string nested = "x", sum = "\\sqrt{x}";
  for (int i = 0; i < 40; ++i) nested = "\\sin(" + nested + "+1)^{x}";
  for (int i = 2; i < 40; ++i) sum += "+\\sqrt{x^{" + std::to_string(i) + "}+" + std::to_string(i) + "}";
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);  // Python has started
  for (const std::string& answer : std::vector<std::string>{
           nested, sum, "\\sin(x)^{999}", "(\\sqrt{x}+1)^{999}", "(\\sqrt{x}+\\sqrt{y}+\\sqrt{z}+1)^{60}",
           "x^{x^{x^{x^{x^x}}}}", "999^{999^{x}}", "(x!)!", "((9x)!)!", "\\binom{9x!}{x}",
           "2^{2^{2^{2^{x}}}}", "e^{e^{e^{e^{x}}}}"}) {
    const auto start = std::chrono::steady_clock::now();
    const Verdict verdict = Grade(answer, "\\cot x + \\sqrt{x}");
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(passed, 5 + 20) << answer;  // after a time-out, starting Python again may come on top
    EXPECT_TRUE(verdict.outcome == Outcome::kIncorrect || verdict.outcome == Outcome::kTimeout) << answer;
  }
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
}

// Defined nowhere for real numbers, so that SymPy is left with them.
constexpr const char* kSlow[] = {"\\sqrt{-1-x^2}\\cdot\\sin(\\sqrt{-2-x^2}+\\cos(\\sqrt{-3-x^4}))^{99}",
                                 "\\ln(-7-x^2)+\\sqrt{-y^2-1}"};

TEST_F(MathWorker, WhatTakesTooLongIsATimeOut) {
  const Verdict verdict = Grade(kSlow[0], kSlow[1]);
  EXPECT_EQ(verdict.outcome, Outcome::kTimeout);
  EXPECT_EQ(verdict.score, 0);
  EXPECT_EQ(verdict.detail, "symbolic");
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
}

TEST_F(MathWorker, ATimeOutEndsTheProcessAndTheNextCallStartsOne) {
  const json slow = {{"job", "math_verify"}, {"completion", "\\boxed{5^{5^{5^{5^5}}}-4}"}, {"gold", "7"}};
  EXPECT_THROW(CallGradingWorker(slow, std::chrono::milliseconds(1)), WorkerTimeout);
  EXPECT_EQ(GradeMathVerify({"\\boxed{\\frac12}", "0.5"}).outcome, Outcome::kCorrect);
}

// Grades in processes with little memory, as a user may want it on a small machine.
class LittleMemory : public MathWorker {
 protected:
  void SetUp() override {
    MathWorker::SetUp();
    setenv("FULLBAND_GRADING_MEMORY", "136", 1);
  }
  void TearDown() override { unsetenv("FULLBAND_GRADING_MEMORY"); }
};

TEST_F(LittleMemory, WhatWantsMoreIsATimeOutWithItsReason) {
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
  const Verdict verdict = Grade(kSlow[0], kSlow[1]);
  EXPECT_EQ(verdict.outcome, Outcome::kTimeout);
  EXPECT_EQ(verdict.detail, "memory_limit");
  EXPECT_EQ(verdict.score, 0);
  EXPECT_EQ(verdict.extracted, kSlow[0]);
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
}

TEST_F(MathWorker, MemoryThatIsNoNumberIsAnError) {
  for (const char* wrong : {"", "much", "-1", "12", "280 MiB", "99999999999999999999"}) {
    setenv("FULLBAND_GRADING_MEMORY", wrong, 1);
    EXPECT_THROW(Grade("\\cot x", "\\frac{1}{\\tan x}"), Error) << wrong;
  }
  unsetenv("FULLBAND_GRADING_MEMORY");
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
}

// Not what the grader sends: it bounds the size of an expression, and this one is nested two thousand deep.
TEST_F(MathWorker, NestingIsBounded) {
  std::string deep = R"(["symbol","x"])";
  for (int i = 0; i < 2000; ++i) deep = R"(["function","sin",)" + deep + "]";
  const json request = {{"job", "same_expression"}, {"left", json::parse(deep)}, {"right", {"symbol", "x"}}};
  EXPECT_THROW(CallGradingWorker(request, seconds(20)), WorkerLimit);
  EXPECT_EQ(Grade("\\cot x", "\\frac{1}{\\tan x}").outcome, Outcome::kCorrect);
}

TEST_F(MathWorker, ThreadsShareAFewProcesses) {
  std::atomic<int> correct = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k)
        correct += Grade("\\sin 2x", "2\\sin x\\cos x").outcome == Outcome::kCorrect;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(correct, 40);
}

// Faults of the peer that the grader named after it must show, and `math` must not.
TEST_F(MathWorker, MathVerifyKeepsItsFaults) {
  EXPECT_EQ(GradeMathVerify({"$\\boxed{aB}$", "Ab"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeMath({"$\\boxed{aB}$", "Ab"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(GradeMathVerify({"$\\boxed{11_3}$", "11_2"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeMath({"$\\boxed{11_3}$", "11_2"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(GradeMathVerify({"$\\boxed{5}$", "5"}).outcome, Outcome::kCorrect);
  EXPECT_EQ(GradeMathVerify({"$\\boxed{6}$", "5"}).outcome, Outcome::kIncorrect);
  EXPECT_EQ(GradeMathVerify({"", "5"}).outcome, Outcome::kNoAnswer);
}

}  // namespace
}  // namespace fullband
