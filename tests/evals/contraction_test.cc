// What passes over texts come to, and when a map is said to contract.
#include "evals/contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/message_of.h"
#include "tests/tasks/own_suite.h"
#include "tests/tasks/tiny_tokenizer.h"

namespace fullband {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// first, first * rate, ...
std::vector<double> Geometric(double first, double rate, int count) {
  std::vector<double> residuals;
  for (int i = 0; i < count; ++i) residuals.push_back(first * std::pow(rate, i));
  return residuals;
}

TEST(JudgeMap, KnowsTheThreeVerdicts) {
  const struct {
    const char* name;
    std::vector<double> residuals;
    double distance;
    MapVerdict verdict;
    const char* says;
  } cases[] = {
      {"falls fast", Geometric(0.5, 0.5, 9), 0.002, MapVerdict::kContracts, "factor of 0.500"},
      {"falls slowly, and far", Geometric(0.5, 0.94, 80), 0.01, MapVerdict::kContracts, "factor of 0.940"},
      {"falls to rounding", Geometric(0.5, 0.1, 12), 1e-7, MapVerdict::kContracts, "no more than rounding"},
      {"is at rounding at once", {1e-7, 0}, 0, MapVerdict::kContracts, "no more than rounding"},
      {"grows", Geometric(0.1, 1.2, 9), 1.1, MapVerdict::kDoesNotContract, "factor of 1.200"},
      {"stays", Geometric(0.7, 1, 9), 0.9, MapVerdict::kDoesNotContract, "moves the states by 0.7"},
      {"falls first, then stays", {0.9, 0.3, 0.1, 0.1, 0.1, 0.1}, 0.4, MapVerdict::kDoesNotContract, "1.000"},
      {"too few", {0.5, 0.001}, 0.001, MapVerdict::kUndecided, "3 passes are too few"},
      {"falls, but not far", Geometric(0.8, 0.9, 9), 0.5, MapVerdict::kUndecided, "do not suffice"},
      {"falls very slowly", Geometric(0.8, 0.97, 9), 0.5, MapVerdict::kUndecided, "too near to 1"},
      {"is small and stays", Geometric(0.005, 1, 9), 0.004, MapVerdict::kUndecided, "too near to 1"},
      {"is small and grows", Geometric(0.0001, 1.1, 9), 0.001, MapVerdict::kUndecided, "too near to 1"},
      {"settles elsewhere", Geometric(0.5, 0.5, 12), 0.3, MapVerdict::kUndecided, "settled elsewhere"},
      {"rests elsewhere", Geometric(0.5, 0.1, 12), 0.3, MapVerdict::kUndecided, "settled elsewhere"},
  };
  for (const auto& one : cases) {
    const MapJudgement judgement = JudgeMap(one.residuals, one.distance);
    EXPECT_EQ(judgement.verdict, one.verdict) << one.name << ": " << judgement.reason;
    EXPECT_THAT(judgement.reason, HasSubstr(one.says)) << one.name;
  }
  EXPECT_STREQ(MapVerdictName(MapVerdict::kContracts), "contracts");
  EXPECT_STREQ(MapVerdictName(MapVerdict::kDoesNotContract), "does not contract");
  EXPECT_STREQ(MapVerdictName(MapVerdict::kUndecided), "undecided");
}

TEST(JudgeMap, TheRateIsThatOfTheSecondHalfAboveRounding) {
  EXPECT_NEAR(*JudgeMap(Geometric(0.5, 0.8, 15), 0).rate, 0.8, 1e-12);
  std::vector<double> residuals = Geometric(0.9, 0.5, 5);
  for (int i = 0; i < 5; ++i) residuals.push_back(residuals.back() * 0.9);
  EXPECT_NEAR(*JudgeMap(residuals, 0).rate, 0.9, 1e-12);
  residuals = Geometric(0.5, 0.01, 2);  // 0.5, 0.005, and below rounding no rate any more
  for (int i = 0; i < 20; ++i) residuals.push_back(3e-7);
  EXPECT_NEAR(*JudgeMap(residuals, 0).rate, 0.01, 1e-12);
  EXPECT_FALSE(JudgeMap({0.5, 1e-7, 1e-7}, 0).rate);
  EXPECT_FALSE(JudgeMap({0.5, 0.4}, 0).rate);
}

SequencePasses TwoPasses(double scale, const std::vector<float>& logprobs, const std::vector<bool>& greedy) {
  SequencePasses text;
  text.passes.resize(2);
  text.passes[0] = {0, 0, 0, 9 * scale, 100 * scale, 36 * scale, logprobs, greedy};
  text.passes[1] = {4 * scale, 64 * scale, 16 * scale, 1 * scale, 100 * scale, 25 * scale, logprobs, greedy};
  text.recurrence.exact = 100 * scale;
  text.recurrence.logprobs = logprobs;
  text.recurrence.greedy = greedy;
  return text;
}

TEST(ContractionSums, SquaresAreSummedBeforeTheRoot) {
  ContractionSums sums;
  sums.Add(TwoPasses(1, {-1, -2, -3}, {true, false, true}), {7, 1, 2, 3}, std::nullopt);
  SequencePasses second = TwoPasses(3, {-4}, {true});
  second.passes[1].moved = 0;
  sums.Add(second, {7, 4}, std::nullopt);
  const Contraction result = sums.Result();
  ASSERT_EQ(result.passes.size(), 2u);
  EXPECT_FALSE(result.passes[0].residual);
  EXPECT_DOUBLE_EQ(result.passes[0].distance, 0.3);
  EXPECT_DOUBLE_EQ(*result.passes[0].open_distance, 0.5);
  EXPECT_DOUBLE_EQ(*result.passes[1].residual, std::sqrt(4.0 / 256));
  EXPECT_DOUBLE_EQ(*result.passes[1].open_residual, std::sqrt(4.0 / 64));
  EXPECT_DOUBLE_EQ(result.passes[1].distance, 0.1);
  EXPECT_DOUBLE_EQ(*result.passes[1].open_distance, 0.2);
  EXPECT_EQ(result.recurrence.distance, 0);
  for (const PassFigures* pass : {&result.passes[0], &result.passes[1], &result.recurrence}) {
    EXPECT_DOUBLE_EQ(pass->loss.nats_per_token, 10.0 / 4);
    EXPECT_DOUBLE_EQ(*pass->loss.bits_per_byte, 10 / std::numbers::ln2 / 10);
    EXPECT_FALSE(pass->answer);
    EXPECT_FALSE(pass->greedy_share);
  }
  EXPECT_EQ(result.positions, 6);
  EXPECT_EQ(result.scored_tokens, 4);
  EXPECT_EQ(result.scored_bytes, 10);
  EXPECT_EQ(result.answer_tokens, 0);
  EXPECT_EQ(result.judgement.verdict, MapVerdict::kUndecided);
}

TEST(ContractionSums, AnswersAreCountedApart) {
  ContractionSums sums;
  sums.Add(TwoPasses(1, {-1, -2, -3}, {false, true, true}), {7, 1, 2, 3}, 2);  // both answer tokens are right
  sums.Add(TwoPasses(1, {-1, -2, -4}, {true, true, false}), {7, 1, 2, 3}, 2);  // one of two
  sums.Add(TwoPasses(1, {-1, -2, -5}, {false, false, true}), {7, 1, 2, 3}, 3);
  const Contraction result = sums.Result();
  EXPECT_EQ(result.answer_tokens, 5);
  EXPECT_EQ(result.answer_bytes, 13);
  for (const PassFigures* pass : {&result.passes[0], &result.passes[1], &result.recurrence}) {
    EXPECT_DOUBLE_EQ(pass->loss.nats_per_token, 21.0 / 9);
    EXPECT_DOUBLE_EQ(pass->answer->nats_per_token, 16.0 / 5);
    EXPECT_DOUBLE_EQ(*pass->answer->bits_per_byte, 16 / std::numbers::ln2 / 13);
    EXPECT_DOUBLE_EQ(*pass->greedy_share, 2.0 / 3);
  }
}

TEST(ContractionSums, WithoutBytesOrOpenPositionsThereIsNoFigure) {
  ContractionSums sums;
  SequencePasses text = TwoPasses(1, {-1}, {true});
  for (PassSums& pass : text.passes) pass.before_open = pass.exact_open = 0;
  sums.Add(text, {7, 0}, std::nullopt);
  const Contraction result = sums.Result();
  EXPECT_FALSE(result.passes[1].open_residual);
  EXPECT_FALSE(result.passes[1].open_distance);
  EXPECT_FALSE(result.passes[1].loss.bits_per_byte);
  EXPECT_THROW(ContractionSums().Result(), std::logic_error);
}

struct ContractionTexts : ::testing::Test {
  OwnSuite own;
  TempFolder folder;
  std::shared_ptr<const Tokenizer> bare = TinyTokenizer(folder.path(), {{"A", ":"}});
  TempFolder other_folder;
  std::shared_ptr<const Tokenizer> with_bos = TinyTokenizer(other_folder.path(), {}, true);

  TaskData Data(const std::string& name, int context = 0, int shots = 0) const {
    TaskOptions options;
    options.shots = shots;
    options.max_context = context;
    return LoadTaskData(own.Load(name), options);
  }
};

TEST_F(ContractionTexts, WindowsHoldTheTextOnce) {
  const ContractionInput input = CutText("a.txt", "abcdefghij", *bare, 4, 2, 0);
  ASSERT_EQ(input.texts.size(), 2u);
  EXPECT_THAT(input.texts[0].tokens, ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(input.texts[1].tokens, ElementsAre('e', 'f', 'g', 'h'));
  EXPECT_EQ(input.texts[1].name, "a.txt, window 2");
  EXPECT_EQ(input.tokens_left_out, 2u);  // two tokens are no more than the passes
  EXPECT_THAT(input.answer_from, IsEmpty());
  const ContractionInput longer = CutText("a.txt", "abcdefghijk", *bare, 4, 2, 0);
  ASSERT_EQ(longer.texts.size(), 3u);
  EXPECT_THAT(longer.texts[2].tokens, ElementsAre('i', 'j', 'k'));
  EXPECT_EQ(longer.tokens_left_out, 0u);
  EXPECT_EQ(CutText("a.txt", "abcdefghijk", *bare, 4, 2, 1).texts.size(), 1u);
  EXPECT_EQ(CutText("a.txt", "<s>", *bare, 4, 2, 0).texts[0].tokens.size(), 3u);  // no special token
}

TEST_F(ContractionTexts, EveryWindowBeginsAsTheTokenizerBeginsTexts) {
  const ContractionInput input = CutText("a.txt", "abcdef", *with_bos, 4, 2, 0);
  ASSERT_EQ(input.texts.size(), 2u);
  EXPECT_THAT(input.texts[0].tokens, ElementsAre(kTinyBos, 'a', 'b', 'c'));
  EXPECT_THAT(input.texts[1].tokens, ElementsAre(kTinyBos, 'd', 'e', 'f'));
}

TEST_F(ContractionTexts, TooShortTextsAreRefused) {
  EXPECT_THAT(MessageOf([&] { CutText("a.txt", "abcd", *bare, 8, 4, 0); }), HasSubstr("a.txt: has 4 tokens"));
  EXPECT_THAT(MessageOf([&] { CutText("a.txt", "abcdef", *bare, 4, 4, 0); }), HasSubstr("--window"));
  EXPECT_EQ(CutText("a.txt", "abcde", *bare, 8, 4, 0).texts.size(), 1u);
  EXPECT_THAT(MessageOf([&] { SuiteTexts(Data("own.toml"), *bare, 100); }), HasSubstr("--passes"));
}

TEST_F(ContractionTexts, ItemsArePromptsWithTheirAnswers) {
  const ContractionInput input = SuiteTexts(Data("own.toml", 0, 1), *with_bos, 2);
  ASSERT_EQ(input.texts.size(), 2u);
  const std::vector<int32_t>& tokens = input.texts[0].tokens;
  const std::string text = with_bos->Decode(tokens, false);
  EXPECT_THAT(text, ::testing::StartsWith("<s>Q: "));
  EXPECT_THAT(text, ::testing::EndsWith("\n\nQ: 1+1?\nA: One and one.\n#### 2"));
  EXPECT_EQ(with_bos->Decode(std::span(tokens).subspan(input.answer_from[0]), false),
            " One and one.\n#### 2");
  EXPECT_EQ(input.texts[1].name, "own, item 1");
}

TEST_F(ContractionTexts, OfChoicesTheRightOneIsTheAnswer) {
  const ContractionInput input = SuiteTexts(Data("own_choice.toml"), *bare, 2);
  ASSERT_EQ(input.texts.size(), 3u);
  const std::vector<int32_t>& tokens = input.texts[1].tokens;
  EXPECT_EQ(bare->Decode(tokens, false), "Q: Grass?\nA: green");
  EXPECT_EQ(bare->Decode(std::span(tokens).subspan(input.answer_from[1]), false), " green");
}

// The prompt's tokens are what a model is asked with, whatever the joint encoding.
TEST_F(ContractionTexts, AMergeAcrossTheJoinLeavesThePromptAsItIs) {
  own.Write("own.toml",
            Replaced(Replaced(kOwnGenerate, "\\nA:\"", "\\nA\""), "\" {answer}\"", "\":{answer}\""));
  const ContractionInput input = SuiteTexts(Data("own.toml"), *bare, 2);
  const std::vector<int32_t>& tokens = input.texts[1].tokens;
  ASSERT_EQ(input.answer_from[1], std::string("Q: 2+3?\nA").size());
  EXPECT_EQ(tokens[input.answer_from[1] - 1], 'A');
  EXPECT_EQ(tokens[input.answer_from[1]], ':');
}

TEST_F(ContractionTexts, ItemsThatDoNotFitAreNamed) {
  // 9 + 7 new tokens fit; with its answer of 21 tokens the first item does not.
  EXPECT_THAT(MessageOf([&] { SuiteTexts(Data("own.toml", 24), *bare, 2); }),
              HasSubstr("own, item 0: has 30 tokens with its answer; the model's context has 24"));
  EXPECT_THAT(MessageOf([&] { SuiteTexts(Data("own.toml", 5), *bare, 2); }),
              HasSubstr("own, item 0: too long"));
  EXPECT_EQ(SuiteTexts(Data("own.toml", 40, 2), *bare, 2).items_with_fewer_shots, 2u);
}

TEST_F(ContractionTexts, FilesThatAreNoTextAreRefused) {
  own.Write("empty.txt", "");
  own.Write("broken.txt", "a\xff");
  own.Write("fine.txt", "caf\xc3\xa9\n");
  EXPECT_EQ(ReadTextFile(own.Path("fine.txt")), "caf\xc3\xa9\n");
  EXPECT_THAT(MessageOf([&] { ReadTextFile(own.Path("empty.txt")); }), HasSubstr("empty.txt: is empty"));
  EXPECT_THAT(MessageOf([&] { ReadTextFile(own.Path("broken.txt")); }), HasSubstr("0xFF at offset 1"));
  EXPECT_THAT(MessageOf([&] { ReadTextFile(own.Path("none.txt")); }), HasSubstr("does not exist"));
  EXPECT_THAT(MessageOf([&] { ReadTextFile(folder.path()); }), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace fullband
