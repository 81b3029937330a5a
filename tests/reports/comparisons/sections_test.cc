#include "reports/comparisons/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/comparisons/tables.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
constexpr Result kRight = Result::kCorrect, kWrong = Result::kIncorrect;

// The cells of a column, by its title.
std::vector<std::string> ColumnOf(const Table& table, const std::string& title) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const Column& column) { return column.title == title; });
  EXPECT_NE(found, table.columns.end()) << title;
  std::vector<std::string> cells;
  for (const std::vector<Cell>& row : table.rows) {
    EXPECT_EQ(row.size(), table.columns.size());
    cells.push_back(row.at(static_cast<size_t>(found - table.columns.begin())).text);
  }
  return cells;
}

std::vector<std::string> TablesIn(const Section& section) {
  std::vector<std::string> names;
  for (const Block& block : section.blocks)
    if (const auto* table = std::get_if<Table>(&block)) names.push_back(table->name);
  return names;
}

std::vector<Note> NotesIn(const Section& section) {
  for (const Block& block : section.blocks)
    if (const auto* notes = std::get_if<Notes>(&block)) return notes->notes;
  return {};
}

RunResults Made(const std::string& setting, int right, int items, int64_t length, int64_t model = 1) {
  std::vector<std::vector<MadeSample>> samples;
  for (int i = 0; i < items; ++i) samples.push_back({{i < right ? kRight : kWrong, length + i % 5}});
  RunResults results = MakeResults(setting, samples);
  results.run.model_id = results.model.id = model;
  results.model.name = "toy-" + std::to_string(model);
  results.run.key = std::string(8, static_cast<char>('a' + right % 26)) + "0123";
  return results;
}

struct Sections : testing::Test {
  std::vector<RunResults> runs = {Made("standard", 10, 60, 20), Made("latent", 30, 60, 22),
                                  Made("latent@2", 11, 60, 20), Made("standard", 2, 60, 18, 2)};
  std::vector<Comparison> pairs = CompareSuite(runs);
};

TEST_F(Sections, AtAGlance) {
  const Table table = SummaryTable(std::span(pairs).first(3), PairRows::kSettings);
  EXPECT_THAT(ColumnOf(table, "A"), ElementsAre("standard", "standard", "latent"));
  EXPECT_THAT(ColumnOf(table, "B"), ElementsAre("latent", "latent@2", "latent@2"));
  EXPECT_THAT(ColumnOf(table, "A right"), ElementsAre("16.7 %", "16.7 %", "50.0 %"));
  EXPECT_THAT(ColumnOf(table, "B is"), ElementsAre("better", "not told apart", "worse"));
  EXPECT_THAT(ColumnOf(table, "B − A, points")[0], StartsWith("+33.3 ("));
  EXPECT_THAT(ColumnOf(table, "traces, B / A")[0], StartsWith("1.091 ("));
  EXPECT_THAT(ColumnOf(table, "p (Holm)")[1], "1.000");
}

TEST_F(Sections, NumbersStandBehindTheCells) {
  const Table table = SummaryTable(std::span(pairs).first(1), PairRows::kSettings);
  const std::vector<Cell>& row = table.rows[0];
  EXPECT_EQ(row[4].number, 60);
  EXPECT_NEAR(*row[7].number, 100.0 / 3, 1e-9);
  ASSERT_EQ(row[7].further.size(), 2u);
  EXPECT_LT(row[7].further[0].value, *row[7].number);
  EXPECT_NEAR(*row[10].number, 24.0 / 22, 1e-9);
}

TEST_F(Sections, OfSettingsAndOfModels) {
  const Section settings = *SettingsSection("gsm 8k", pairs);
  EXPECT_EQ(settings.name, "gsm_8k_settings");
  EXPECT_THAT(TablesIn(settings), ElementsAre("summary", "accuracy", "lengths"));
  const Section models = *ModelsSection("gsm8k", pairs);
  const Table& summary = std::get<Table>(models.blocks[1]);
  EXPECT_THAT(ColumnOf(summary, "setting"), ElementsAre("standard"));
  EXPECT_THAT(ColumnOf(summary, "B"), ElementsAre("toy-2"));
  EXPECT_FALSE(SettingsSection("gsm8k", std::span(pairs).subspan(3)));
  EXPECT_FALSE(ModelsSection("gsm8k", std::span(pairs).first(3)));
}

TEST_F(Sections, AccuracySaysWhatItWouldTake) {
  const Table table = PairedAccuracyTable(std::span(pairs).first(3), PairRows::kSettings);
  EXPECT_THAT(ColumnOf(table, "tests"), ElementsAre("3", "3", "3"));
  EXPECT_THAT(ColumnOf(table, "only B"), ElementsAre("20", "1", "0"));
  const std::vector<std::string> needed = ColumnOf(table, "items needed");
  EXPECT_EQ(needed[0], "–");
  EXPECT_NE(needed[1], "–");
}

TEST_F(Sections, NotesSayWhatHinders) {
  runs.resize(2);
  runs[1].run.identity = R"({"setting":"latent","max_new_tokens":512})";
  runs[1].items[0].samples[0].truncated = true;
  runs[1].items[1].samples[0].grades.clear();
  pairs = CompareSuite(runs);
  const Section section = *SettingsSection("gsm8k", pairs);
  EXPECT_THAT(TablesIn(section), ElementsAre("summary", "accuracy", "lengths", "cut"));
  const std::vector<Note> notes = NotesIn(section);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0].about, "* toy-1, standard and latent (kkkkkkkk, eeeeeeee)");
  EXPECT_THAT(notes[0].text, HasSubstr("max_new_tokens (none, 512)"));
  EXPECT_TRUE(notes[0].warns);
  EXPECT_EQ(notes[1].text, "items left out: 1 not graded yet.");
  EXPECT_THAT(ColumnOf(std::get<Table>(section.blocks[1]), "B"), ElementsAre("latent *"));
}

TEST_F(Sections, WhatIsNotKnownIsADash) {
  for (RunResults& run : runs) run.imported = ImportedRun{"other", "file", "fullband", {}};
  pairs = CompareSuite(runs);
  const Section section = *SettingsSection("gsm8k", pairs);
  EXPECT_THAT(TablesIn(section), ElementsAre("summary", "accuracy"));
  EXPECT_THAT(ColumnOf(std::get<Table>(section.blocks[1]), "traces, B / A"), ElementsAre("–", "–", "–"));
  EXPECT_THAT(NotesIn(section).at(0).text, HasSubstr("rests on the name alone"));
}

TEST_F(Sections, PartingAndCost) {
  pairs.resize(1);
  pairs[0].parting = Parting{60, 6, 60, 1, 2, 3, 4, 5, 0.25, 0.5, 0.75};
  RunCost cost;
  cost.seconds = 10;
  cost.decode_seconds_per_token = 0.01;
  cost.right_per_million_forwards = 100;
  CostComparison costs{cost, cost, 0.012, ""};
  costs.b.right_per_million_forwards = 150;
  pairs[0].cost = costs;
  const Section section = *SettingsSection("gsm8k", pairs);
  EXPECT_THAT(TablesIn(section), ElementsAre("summary", "accuracy", "lengths", "parting", "cost"));
  const Table& summary = std::get<Table>(section.blocks[1]);
  EXPECT_THAT(ColumnOf(summary, "seconds a token, B over A"), ElementsAre("+1.2 %"));
  EXPECT_THAT(ColumnOf(summary, "right a forward, B / A"), ElementsAre("1.500"));
  const Table parting = PartingTable(pairs, PairRows::kSettings);
  EXPECT_THAT(ColumnOf(parting, "identical traces"), ElementsAre("10.0 %"));
  EXPECT_THAT(ColumnOf(parting, "median"), ElementsAre("3"));
  EXPECT_THAT(ColumnOf(PairedCostTable(pairs, PairRows::kSettings), "A, ms a token"), ElementsAre("10.00"));
  pairs[0].cost->overhead.reset();
  pairs[0].cost->incomparable = "A ran on one, B on another";
  const std::vector<Note> notes = NotesIn(*SettingsSection("gsm8k", pairs));
  EXPECT_EQ(notes.at(0).text, "no overhead is stated: A ran on one, B on another.");
}

TEST_F(Sections, OfTracesARowEach) {
  const Table table = TraceFiguresTable(std::span(pairs).first(1), PairRows::kSuites);
  EXPECT_THAT(ColumnOf(table, "run"), ElementsAre("A", "B"));
  EXPECT_THAT(ColumnOf(table, "suite"), ElementsAre("made", "made"));
  EXPECT_THAT(ColumnOf(table, "mean"), ElementsAre("22.0", "24.0"));
  EXPECT_THAT(ColumnOf(table, "truncated traces"), ElementsAre("0.0 %", "0.0 %"));
}

TEST_F(Sections, AcrossSuites) {
  for (size_t i = 0; i < 2; ++i) {
    runs.push_back(runs[i]);
    runs.back().run.suite = "other";
  }
  const std::vector<Comparison> both = {Compare(runs[0], runs[1]), Compare(runs[4], runs[5])};
  const std::vector<AcrossSuites> across = CompareAcrossSuites(both);
  const Section section = AcrossSuitesSection(across);
  const Table& table = std::get<Table>(section.blocks.at(1));
  EXPECT_THAT(ColumnOf(table, "A"), ElementsAre("toy-1/standard"));
  EXPECT_THAT(ColumnOf(table, "suites"), ElementsAre("2"));
  EXPECT_THAT(ColumnOf(table, "items"), ElementsAre("120"));
  EXPECT_THAT(ColumnOf(table, "B − A, macro, points")[0], StartsWith("+33.3 ("));
}

TEST(SectionsOfNothing, AreNone) {
  EXPECT_FALSE(SettingsSection("gsm8k", {}));
  EXPECT_FALSE(ModelsSection("gsm8k", {}));
  EXPECT_THAT(CutTracesTable({}, PairRows::kSettings).rows, IsEmpty());
}

}  // namespace
}  // namespace fullband
