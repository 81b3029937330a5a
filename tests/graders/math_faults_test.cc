// Faults that users of other harnesses reported: tests/data/faults/maths.jsonl, each with its source.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "evals/graders/math_answer.h"
#include "evals/graders/math_extract.h"
#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

using nlohmann::json;

std::map<std::string, json> Faults() {
  std::map<std::string, json> faults;
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/maths.jsonl");
  for (std::string line; std::getline(file, line);) {
    json fault = json::parse(line);
    faults[fault.at("id")] = fault;
  }
  return faults;
}

// Decides without Python, or the test fails.
bool Native(const std::string& a, const std::string& b) {
  const auto ask = [&](const MathNode&, const MathNode&) {
    ADD_FAILURE() << "asked the worker about " << a << " and " << b;
    return false;
  };
  return SameAnswer(MathGold(a), MathGold(b), ask).same;
}

TEST(MathFaults, Pairs) {
  int tested = 0;
  for (const auto& [id, fault] : Faults()) {
    if (!fault.at("input").contains("pairs")) continue;
    const json& pairs = fault.at("input").at("pairs");
    const json& equal = fault.at("expected").at("equal");
    ASSERT_EQ(pairs.size(), equal.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::string a = pairs[i].at(0), b = pairs[i].at(1);
      const bool expected = equal[i].get<bool>();
      EXPECT_EQ(Native(a, b), expected) << id << ": " << a << " and " << b;
      EXPECT_EQ(Native(b, a), expected) << id << ": " << b << " and " << a;
      for (const std::string& completion : {"So it is $\\boxed{" + a + "}$.", a}) {
        const Verdict verdict = GradeMath({completion, b});
        EXPECT_EQ(verdict.outcome, expected ? Outcome::kCorrect : Outcome::kIncorrect)
            << id << ": " << completion;
      }
      ++tested;
    }
  }
  EXPECT_EQ(tested, 43);
}

TEST(MathFaults, AnAnswerEqualsItself) {
  const auto faults = Faults();
  for (const std::string sample : faults.at("M02").at("input").at("samples")) {
    EXPECT_TRUE(Native(sample, sample)) << sample;
    EXPECT_EQ(GradeMath({"\\boxed{" + sample + "}", sample}).outcome, Outcome::kCorrect) << sample;
  }
}

TEST(MathFaults, Extraction) {
  int tested = 0;
  for (const auto& [id, fault] : Faults()) {
    if (!fault.at("input").contains("cases")) continue;
    const json& cases = fault.at("input").at("cases");
    for (size_t i = 0; i < cases.size(); ++i) {
      const auto answer = FindMathAnswer(cases[i].at(0).get<std::string>());
      ASSERT_TRUE(answer) << cases[i];
      EXPECT_EQ(answer->text, fault.at("expected").at("extracted").at(i).get<std::string>()) << id;
      ++tested;
    }
  }
  EXPECT_EQ(tested, 6);
}

TEST(MathFaults, ABoxThatIsCutOffIsNone) {
  const json fault = Faults().at("M16");
  const std::string completion = fault.at("input").at("completion");
  const Verdict verdict = GradeMath({completion, "1"});
  EXPECT_EQ(verdict.extracted, fault.at("expected").at("extracted").get<std::string>());
  EXPECT_EQ(verdict.detail, "unfinished_box");
  EXPECT_EQ(verdict.outcome, Outcome::kCorrect);
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The most memory that this process has had.
long PeakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

TEST(MathFaults, TowersOfPowersAreNotClimbed) {
  const json input = Faults().at("M19").at("input");
  const std::string gold = input.at("gold");
  const long memory_before = PeakMiB();
  for (const std::string completion : input.at("predictions")) {
    Verdict verdict;
    // Its own limit is 0.2 s; five times that for busy machines and sanitizers.
    EXPECT_LT(Seconds([&] { verdict = GradeMath({completion, gold}); }), 1.0) << completion;
    EXPECT_EQ(verdict.outcome, Outcome::kIncorrect) << completion;
    EXPECT_EQ(verdict.detail, "too_large") << completion;
    EXPECT_EQ(GradeMath({completion, completion}).outcome, Outcome::kCorrect) << completion;
  }
  EXPECT_LT(PeakMiB() - memory_before, input.at("limit_mb").get<long>());
}

TEST(MathFaults, ManyThreadsAtOnce) {
  const json input = Faults().at("M20").at("input");
  const std::string completion = input.at("item").at("prediction"), gold = input.at("item").at("gold");
  std::atomic<int> returned = 0, correct = 0;
  const double seconds = Seconds([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < input.at("threads").get<int>(); ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < input.at("items_per_thread").get<int>(); ++k) {
          correct += GradeMath({completion, gold}).outcome == Outcome::kCorrect;
          ++returned;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(returned, 100);
  EXPECT_EQ(correct, 0);
  EXPECT_LT(seconds, 5);
}

TEST(MathFaults, TimeIsBounded) {
  const auto repeat = [](const std::string& unit, size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    return text;
  };
  std::vector<std::string> completions;
  for (const char* unit : {"\\boxed{",
                           "\\boxed{1}",
                           "\\boxed ",
                           "\\fbox",
                           "{",
                           "}",
                           "\\{",
                           "\\",
                           "$",
                           "$$",
                           "\\(",
                           "answer is ",
                           "answer: ",
                           "####",
                           "<think>",
                           "</think>",
                           " ",
                           "1",
                           "1,000",
                           "a",
                           "1+",
                           "x^",
                           "(",
                           "[",
                           "|",
                           "\\frac",
                           "\\frac{1}{",
                           "\\sqrt{",
                           "\\sqrt",
                           "\\left(",
                           "-",
                           "+-",
                           "\\pm ",
                           "!",
                           "%",
                           "2^{",
                           "^\\circ",
                           "\\text{",
                           "\\text{a}",
                           "1/",
                           "x_",
                           "\\cup ",
                           "=",
                           "a=",
                           ",",
                           "x,",
                           "\\begin{pmatrix}",
                           "\\begin{pmatrix}1&",
                           "\\sin ",
                           "\\log_",
                           "\xE2\x88\x9A",
                           "7 "}) {
    completions.push_back(repeat(unit, 1'000'000));
    for (const size_t bytes : {300u, 3900u, 200'000u}) {
      completions.push_back("\\boxed{" + repeat(unit, bytes) + "}");
      completions.push_back("\\boxed{7" + repeat(unit, bytes) + "}");
    }
  }
  for (const char* answer : {"9^{9^9}",
                             "(x+1)^{1000}",
                             "(1+\\sqrt2)^{1000}",
                             "(a+b+c+d)^{60}",
                             "2^{65535}+3^{40000}",
                             "\\frac{1}{1000!}+\\frac1{999!}",
                             "\\binom{100000}{50000}",
                             "\\sqrt{10^{60}+1}",
                             "\\sqrt[1000]{2}",
                             "2^{1/99999}",
                             "\\sin(10^{30})",
                             "e^{10^{10}}",
                             "x^{10^{10}}",
                             "(-1)^{10^{50}}",
                             "\\sqrt{\\sqrt{\\sqrt{\\sqrt{2}+1}+1}+1}",
                             "\\tan\\frac{\\pi}{2}",
                             "0^{-1}",
                             "\\frac{0}{0}",
                             "10^{-10^{10}}",
                             "((((2^{9})^{9})^{9})^{9})^{9}",
                             "3!!!!!!",
                             "\\log 0",
                             "\\infty-\\infty",
                             "1^{9^{9^9}}",
                             "i^{10^{30}}"}) {
    completions.push_back("\\boxed{" + std::string(answer) + "}");
  }
  for (const std::string& completion : completions) {
    Verdict verdict;
    const double seconds = Seconds([&] { verdict = GradeMath({completion, "7"}); });
    EXPECT_LT(seconds, 2) << completion.substr(0, 40) << " " << completion.size();
    EXPECT_NE(verdict.outcome, Outcome::kFault) << completion.substr(0, 40);
    EXPECT_NE(verdict.outcome, Outcome::kTimeout) << completion.substr(0, 40);
  }
}

}  // namespace
}  // namespace fullband
