// Faults that users of other harnesses reported: tests/data/faults/numbers.jsonl, each with its source.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "evals/graders/numbers.h"
#include "evals/graders/text_graders.h"

namespace fullband {
namespace {

using nlohmann::json;

std::map<std::string, json> Faults() {
  std::map<std::string, json> faults;
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/numbers.jsonl");
  for (std::string line; std::getline(file, line);) {
    json fault = json::parse(line);
    faults[fault.at("id")] = fault;
  }
  return faults;
}

// As the engine keeps a text: cut at the first stop string.
std::string Kept(const json& input) {
  std::string text = input.at("completion");
  if (input.contains("stop")) {
    size_t cut = text.size();
    for (const std::string stop : input.at("stop")) cut = std::min(cut, text.find(stop));
    text.resize(cut);
  }
  return text;
}

TEST(NumberFaults, OneCompletion) {
  int tested = 0;
  for (const auto& [id, fault] : Faults()) {
    const json& input = fault.at("input");
    if (!input.contains("gold") || !input.contains("completion")) continue;
    const std::string text = Kept(input), gold = input.at("gold");
    const Verdict verdict = GradeNumber({text, gold});
    const json& expected = fault.at("expected");
    EXPECT_EQ(verdict.outcome == Outcome::kCorrect, expected.at("correct").get<bool>())
        << id << " " << verdict.extracted;
    if (expected.contains("extracted")) {
      EXPECT_EQ(verdict.extracted, expected.at("extracted").get<std::string>()) << id;
    }
    if (expected.contains("status")) {
      EXPECT_EQ(verdict.detail, expected.at("status").get<std::string>()) << id;
    }
    ++tested;
  }
  EXPECT_EQ(tested, 10);
}

TEST(NumberFaults, AMinusBetweenOperandsIsNoSign) {
  const json fault = Faults().at("G11");
  const std::string text = fault.at("input").at("text");
  std::vector<std::string> numbers;
  for (const NumberToken& number : ScanNumbers(text)) numbers.push_back(number.text);
  EXPECT_EQ(numbers, fault.at("expected").at("numbers").get<std::vector<std::string>>());
}

TEST(NumberFaults, UnitsDoNotMatter) {
  const json fault = Faults().at("G14");
  for (const json& row : fault.at("input").at("cases")) {
    const std::string text = row.at(0), gold = row.at(1);
    EXPECT_EQ(GradeNumber({text, gold}).outcome, Outcome::kCorrect) << text;
  }
}

TEST(NumberFaults, NothingFoundIsAnOutcomeOfItsOwn) {
  const json fault = Faults().at("G17");
  std::map<Outcome, int> count;
  const std::string gold = fault.at("input").at("gold");
  for (const std::string text : fault.at("input").at("completions"))
    ++count[GradeNumber({text, gold}).outcome];
  EXPECT_EQ(count[Outcome::kCorrect], fault.at("expected").at("correct").get<int>());
  EXPECT_EQ(count[Outcome::kIncorrect], fault.at("expected").at("wrong").get<int>());
  EXPECT_EQ(count[Outcome::kNoAnswer], fault.at("expected").at("unparsed").get<int>());
}

TEST(NumberFaults, TimeIsLinear) {
  const json fault = Faults().at("M23");
  std::string blank = fault.at("input").at("completion");
  const std::string token = "<20000 spaces>";
  blank.replace(blank.find(token), token.size(), std::string(20000, ' '));
  // The same size again of everything that a careless scanner would look at twice.
  std::vector<std::string> texts = {blank};
  for (const char* unit :
       {"#### ", "#### 1. A ", "\\boxed{", "answer is ", "answer: \n",       "- $ ",    "1,", "5 ",
        "(((",   "$$$",        "<think>",  "</think>",   "<think>x</think>", "\\frac{", "1/", "=",
        "9",     "1.1.",       "5 -3",     "^{}"}) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    texts.push_back(text);
    texts.push_back(text + "\n7");
  }
  // Closed ones, in one another and in a row.
  std::string open, row;
  for (int i = 0; i < 100'000; ++i) {
    open += "\\boxed{";
    row += "\\boxed{1+1}";
  }
  texts.insert(texts.end(),
               {open + "7" + std::string(100'000, '}'), open + std::string(100'000, '}') + "7", row});
  for (const std::string& text : texts) {
    const auto start = std::chrono::steady_clock::now();
    for (const auto grade : {GradeNumber, GradeLmEvalStrict, GradeLmEvalFlexible}) grade({text, "7"});
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    // Generous, for busy machines and sanitizers: what is quadratic takes tens of seconds at this size.
    EXPECT_LT(passed.count(), 2000) << text.substr(0, 20);
  }
}

}  // namespace
}  // namespace fullband
