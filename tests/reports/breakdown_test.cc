#include "reports/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::ElementsAre;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect;

GroupValue Number(const std::string& field, int64_t value) { return {field, std::to_string(value), value}; }
GroupValue Text(const std::string& field, const std::string& value) { return {field, value, std::nullopt}; }

// Items with one group each.
RunResults ByNumber(const std::string& setting, const std::vector<std::pair<int64_t, Result>>& items) {
  RunResults results = MakeResults(setting, {});
  for (const auto& [value, result] : items) {
    results.items.push_back(MakeResults(setting, {{{result}}}).items.front());
    results.items.back().groups = {Number("k", value)};
  }
  return results;
}

// Every row as "label label: correct/items correct/items".
std::vector<std::string> Lines(const Breakdown& breakdown) {
  std::vector<std::string> lines;
  for (const BreakdownRow& row : breakdown.rows) {
    std::string& line = lines.emplace_back();
    for (const std::string& label : row.labels) line += (line.empty() ? "" : " ") + label;
    line += ":";
    for (const BreakdownCell& cell : row.cells) {
      std::string correct = std::to_string(cell.correct);
      correct.erase(correct.find_last_not_of("0") + 1);
      if (correct.back() == '.') correct.pop_back();
      line += " " + correct + "/" + std::to_string(cell.items);
    }
  }
  return lines;
}

std::vector<std::string> Lines(const std::vector<RunResults>& runs) {
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  EXPECT_EQ(breakdowns.size(), 1u);
  return breakdowns.empty() ? std::vector<std::string>() : Lines(breakdowns.front());
}

TEST(BreakDown, ARowForEachValueAndAColumnForEachRun) {
  const std::vector<RunResults> runs = {
      ByNumber("standard", {{10, kWrong}, {2, kRight}, {2, kWrong}}),
      ByNumber("latent", {{2, kRight}, {10, kRight}, {3, kRight}}),
  };
  EXPECT_THAT(Lines(runs), ElementsAre("2: 1/2 1/1", "3: 0/0 1/1", "10: 0/1 1/1", "all: 1/3 3/3"));
  const Breakdown breakdown = BreakDown(runs).front();
  EXPECT_THAT(breakdown.fields, ElementsAre("k"));
  EXPECT_THAT(breakdown.runs, ElementsAre(&runs[0], &runs[1]));
  EXPECT_EQ(breakdown.rows[0].cells[0].Share(), 0.5);
  EXPECT_FALSE(breakdown.rows[1].cells[0].Share());
}

TEST(BreakDown, WhatDoesNotCountIsLeftOut) {
  RunResults results = ByNumber("standard", {{1, kRight},
                                             {1, Result::kFault},
                                             {1, Result::kUngraded},
                                             {1, Result::kNoAnswer},
                                             {1, Result::kTimeout},
                                             {2, Result::kFault}});
  EXPECT_THAT(Lines({results}), ElementsAre("1: 1/3", "2: 0/0", "all: 1/3"));
  results.items[0].samples.push_back(MakeResults("standard", {{{kWrong}}}).items[0].samples[0]);
  EXPECT_THAT(Lines({results}), ElementsAre("1: 0.5/3", "2: 0/0", "all: 0.5/3"));
}

std::vector<std::string> LabelsOf(const std::vector<int64_t>& values) {
  std::vector<std::pair<int64_t, Result>> items;
  for (const int64_t value : values) items.emplace_back(value, kRight);
  const Breakdown breakdown = BreakDown(std::vector{ByNumber("standard", items)}).front();
  std::vector<std::string> labels;
  int64_t items_in_rows = 0;
  for (const BreakdownRow& row : breakdown.rows) {
    labels.push_back(row.labels.front());
    if (labels.back() != "all") items_in_rows += row.cells[0].items;
  }
  EXPECT_EQ(items_in_rows, static_cast<int64_t>(values.size()));
  return labels;
}

std::vector<int64_t> UpTo(int64_t first, int64_t last) {
  std::vector<int64_t> values;
  for (int64_t value = first; value <= last; ++value) values.push_back(value);
  return values;
}

TEST(BreakDown, ManyNumbersBecomeRanges) {
  EXPECT_THAT(LabelsOf(UpTo(1, 10)), ElementsAre("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "all"));
  EXPECT_THAT(LabelsOf(UpTo(1, 11)), ElementsAre("1 – 2", "3 – 4", "5 – 6", "7 – 8", "9 – 10", "11", "all"));
  EXPECT_THAT(LabelsOf(UpTo(1, 20)), ElementsAre("1 – 2", "3 – 4", "5 – 6", "7 – 8", "9 – 10", "11 – 12",
                                                 "13 – 14", "15 – 16", "17 – 18", "19 – 20", "all"));
  EXPECT_THAT(LabelsOf(UpTo(1, 21)), ElementsAre("1 – 5", "6 – 10", "11 – 15", "16 – 20", "21", "all"));
  EXPECT_EQ(LabelsOf(UpTo(-50, 50)).front(), "-50 – -31");
  EXPECT_EQ(LabelsOf(UpTo(0, 99)).size(), 11u);
  EXPECT_EQ(LabelsOf(UpTo(0, 99)).at(1), "10 – 19");
}

TEST(BreakDown, FewNumbersFarApartStayApartAndEmptyRangesAreLeftOut) {
  EXPECT_THAT(LabelsOf({1, 1000, 1000000}), ElementsAre("1", "1000", "1000000", "all"));
  std::vector<int64_t> values = UpTo(1, 10);
  values.push_back(1000);
  EXPECT_THAT(LabelsOf(values), ElementsAre("1 – 100", "901 – 1000", "all"));
}

TEST(BreakDown, AnyTwoNumbersHaveADistance) {
  std::vector<int64_t> values = UpTo(-5, 5);
  values.push_back(std::numeric_limits<int64_t>::min());
  values.push_back(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(LabelsOf(values), ElementsAre("-9223372036854775808 – -7223372036854775809",
                                            "-1223372036854775808 – 776627963145224191",
                                            "8776627963145224192 – 9223372036854775807", "all"));
}

TEST(BreakDown, RowsOfOneKindStandTogetherAndEndWithTheirSum) {
  RunResults results =
      ByNumber("standard", {{2, kRight}, {1, kWrong}, {2, kRight}, {1, kRight}, {7, kRight}});
  const char* kinds[] = {"swaps", "counter", "counter", "swaps", "odd"};
  for (size_t i = 0; i < results.items.size(); ++i)
    results.items[i].groups.insert(results.items[i].groups.begin(), Text("kind", kinds[i]));
  EXPECT_THAT(Lines({results}),
              ElementsAre("swaps 1: 1/1", "swaps 2: 1/1", "swaps all: 2/2", "counter 1: 0/1",
                          "counter 2: 1/1", "counter all: 1/2", "odd 7: 1/1", "all all: 4/5"));
}

// Items in data order, as MMLU's: category, subject, result.
RunResults BySubject(const std::string& setting,
                     const std::vector<std::tuple<const char*, const char*, Result>>& items) {
  RunResults results = MakeResults(setting, {});
  for (const auto& [category, subject, result] : items) {
    results.items.push_back(MakeResults(setting, {{{result}}}).items.front());
    results.items.back().groups = {Text("category", category), Text("subject", subject)};
  }
  return results;
}

TEST(BreakDown, SubjectsHaveAMeanBesideTheSum) {
  const std::vector<RunResults> runs = {BySubject("standard", {{"stem", "algebra", kRight},
                                                               {"stem", "algebra", kRight},
                                                               {"stem", "algebra", kRight},
                                                               {"stem", "algebra", kWrong},
                                                               {"other", "nutrition", kRight},
                                                               {"stem", "anatomy", kWrong},
                                                               {"stem", "anatomy", kWrong}}),
                                        BySubject("latent", {{"stem", "algebra", kWrong},
                                                             {"other", "nutrition", kRight},
                                                             {"stem", "anatomy", Result::kFault}})};
  // Of the means over subjects: 0.75 and 0 in stem, 0.75, 0 and 1 in all; the second run has no anatomy.
  EXPECT_THAT(Lines(runs), ElementsAre("stem algebra: 3/4 0/1", "stem anatomy: 0/2 0/0", "stem all: 3/6 0/1",
                                       "stem mean: 0.75/2 0/1", "other nutrition: 1/1 1/1",
                                       "all all: 4/7 1/2", "all mean: 1.75/3 1/2"));
  const Breakdown breakdown = BreakDown(runs).front();
  EXPECT_EQ(breakdown.rows[3].kind, BreakdownRow::Kind::kMean);
  EXPECT_EQ(breakdown.rows[3].cells[0].Share(), 0.375);  // where the sum has 0.5
  EXPECT_EQ(breakdown.rows[2].kind, BreakdownRow::Kind::kSum);
  EXPECT_EQ(breakdown.rows[0].kind, BreakdownRow::Kind::kValues);
}

TEST(BreakDown, MixedValuesAreTexts) {
  RunResults results = ByNumber("standard", {{10, kRight}, {9, kRight}, {9, kRight}});
  results.items[1].groups = {Text("k", "many")};
  EXPECT_THAT(Lines({results}), ElementsAre("10: 1/1", "many: 1/1", "9: 1/1", "all: 3/3", "mean: 3/3"));
}

TEST(BreakDown, EachRunsHeadlineGraderDecides) {
  std::vector<RunResults> runs = {ByNumber("standard", {{4, kRight}}), ByNumber("latent", {{4, kRight}})};
  runs[1].run.headline = "exact";
  runs[1].items[0].samples[0].grades["exact"] = {kWrong, 1};
  EXPECT_THAT(Lines(runs), ElementsAre("4: 1/1 0/1"));
}

TEST(BreakDown, ASingleValueNeedsNoSum) {
  EXPECT_THAT(Lines({ByNumber("standard", {{4, kRight}, {4, kWrong}})}), ElementsAre("4: 1/2"));
}

TEST(BreakDown, NothingWhereNothingIsGrouped) {
  EXPECT_TRUE(BreakDown(std::vector{MakeResults("standard", {{{kRight}}})}).empty());
  EXPECT_TRUE(BreakDown({}).empty());
}

TEST(BreakDown, RunsThatAreGroupedOtherwiseStandApart) {
  std::vector<RunResults> runs = {ByNumber("standard", {{1, kRight}, {2, kRight}}),
                                  ByNumber("latent", {{1, kRight}}), MakeResults("latent@2", {{{kRight}}}),
                                  ByNumber("latent@3", {{1, kWrong}})};
  runs[1].items[0].groups[0].field = "length";
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  ASSERT_EQ(breakdowns.size(), 2u);
  EXPECT_THAT(breakdowns[0].runs, ElementsAre(&runs[0], &runs[3]));
  EXPECT_THAT(Lines(breakdowns[0]), ElementsAre("1: 1/1 0/1", "2: 1/1 0/0", "all: 2/2 0/1"));
  EXPECT_THAT(breakdowns[1].fields, ElementsAre("length"));
  EXPECT_THAT(Lines(breakdowns[1]), ElementsAre("1: 1/1"));
}

}  // namespace
}  // namespace fullband
