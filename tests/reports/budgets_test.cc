#include "reports/budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/figures.h"
#include "reports/report.h"
#include "reports/statistics/clusters.h"
#include "reports/statistics/proportions.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct BudgetCurves : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  std::vector<RunResults> runs;
  std::vector<BudgetCurve> curves;
  std::vector<BudgetPair> pairs;

  // Of every sample of the run, in order; an empty outcome gives no verdict.
  void Grade(int64_t run, int64_t budget, const std::vector<std::string>& outcomes, bool truncated = true,
             int version = 1, bool certain = true) {
    const std::vector<int64_t> samples = store->SampleIds(run);
    for (size_t i = 0; i < outcomes.size(); ++i)
      if (!outcomes[i].empty())
        store->ReplaceBudgetGrades(
            {{{samples.at(i), "number", version, outcomes[i], 0, "7", ""}, budget, truncated, 3, certain}});
  }
  void Read() {
    runs = ReadResults(*store);
    curves = ReadBudgetCurves(*store, runs);
    pairs = PairBudgets(curves);
  }
  static std::vector<std::string> Texts(const std::vector<Cell>& cells) {
    std::vector<std::string> texts;
    for (const Cell& cell : cells) texts.push_back(cell.text);
    return texts;
  }
};

SyntheticRun MakeRun(const std::string& setting, const std::vector<std::string>& outcomes) {
  SyntheticRun run{setting};
  for (size_t i = 0; i < outcomes.size(); ++i)
    run.samples.push_back({std::to_string(i), outcomes[i], 9, i % 2 ? "length" : "end"});
  return run;
}

TEST_F(BudgetCurves, CountAsAccuracyDoes) {
  const int64_t run =
      AddSyntheticRun(*store, MakeRun("standard", {"correct", "incorrect", "no_answer", "correct"}));
  AddSyntheticRun(*store, MakeRun("latent", {"correct", "incorrect", "no_answer", "correct"}));
  Grade(run, 4, {"correct", "fault", "no_answer", "timeout"});
  Grade(run, 256, {"correct", "incorrect", "no_answer", "correct"}, false);
  Read();
  ASSERT_THAT(curves, SizeIs(1));  // the other has none
  ASSERT_THAT(curves[0].points, SizeIs(2));
  const BudgetFigures& cut = curves[0].points[0];
  EXPECT_EQ(cut.budget, 4);
  EXPECT_EQ(cut.items, 3);
  EXPECT_DOUBLE_EQ(*cut.share, 1.0 / 3);
  EXPECT_DOUBLE_EQ(cut.interval.high, WilsonInterval(1, 3).high);
  EXPECT_EQ(cut.samples, 4);
  EXPECT_DOUBLE_EQ(*cut.truncated_share, 1);
  const BudgetFigures& whole = curves[0].points[1];
  const RunFigures figures = Figures(*curves[0].results);
  EXPECT_EQ(whole.items, figures.headline.items);
  EXPECT_EQ(*whole.share, *figures.headline.share);
  EXPECT_EQ(whole.interval.low, figures.headline.interval.low);
  EXPECT_EQ(*whole.truncated_share, 0);
  EXPECT_THAT(pairs, IsEmpty());
}

TEST_F(BudgetCurves, PairsCountItemsThatAreCompleteInBoth) {
  const int64_t a =
      AddSyntheticRun(*store, MakeRun("standard", {"correct", "incorrect", "correct", "correct", "correct"}));
  const int64_t b =
      AddSyntheticRun(*store, MakeRun("latent", {"correct", "correct", "correct", "correct", "correct"}));
  Grade(a, 8, {"correct", "incorrect", "fault", "correct", "incorrect"});
  Grade(b, 8, {"correct", "correct", "correct", "", "incorrect"});
  Grade(b, 16, {"correct", "correct", "correct", "correct", "correct"});  // of one run alone
  Read();
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].a->results->run.setting, "standard");
  ASSERT_THAT(pairs[0].points, SizeIs(1));
  const BudgetDifference& at = pairs[0].points[0];
  EXPECT_EQ(at.budget, 8);
  EXPECT_THAT((std::vector<int64_t>{at.both, at.only_a, at.only_b, at.neither}), ElementsAre(1, 0, 1, 1));
  const Estimate expected = PairedProportionDifference({1, 0, 1, 1});
  EXPECT_DOUBLE_EQ(*at.difference.value, 1.0 / 3);
  EXPECT_EQ(at.difference.interval->low, expected.interval->low);
  EXPECT_EQ(at.difference.interval->high, expected.interval->high);
}

TEST_F(BudgetCurves, SeveralSamplesAreOneItem) {
  SyntheticRun standard{"standard"}, latent{"latent"};
  for (SyntheticRun* run : {&standard, &latent})
    for (const char* item : {"a", "a", "b", "b", "c", "c"})
      run->samples.push_back({item, "correct", 9, "end"});
  const int64_t a = AddSyntheticRun(*store, standard), b = AddSyntheticRun(*store, latent);
  Grade(a, 8, {"correct", "incorrect", "incorrect", "incorrect", "correct", "correct"});
  Grade(b, 8, {"correct", "correct", "correct", "incorrect", "incorrect", "correct"});
  Read();
  const BudgetFigures& point = curves[0].points[0];
  EXPECT_EQ(point.items, 3);
  EXPECT_DOUBLE_EQ(point.correct, 1.5);
  const BudgetDifference& at = pairs.at(0).points.at(0);
  EXPECT_FALSE(at.single);
  const std::vector<ItemSamples> scores_a = {{0.5}, {0}, {1}}, scores_b = {{1}, {0.5}, {0.5}};
  const Estimate expected = ClusteredDifference(scores_a, scores_b);
  EXPECT_DOUBLE_EQ(*at.difference.value, *expected.value);
  EXPECT_DOUBLE_EQ(at.difference.interval->low, expected.interval->low);
}

TEST_F(BudgetCurves, TheNewestVersionCounts) {
  const int64_t run = AddSyntheticRun(*store, MakeRun("standard", {"correct", "correct"}));
  Grade(run, 8, {"correct", "correct"}, true, 1);
  Grade(run, 8, {"incorrect", ""}, true, 2);
  Read();
  EXPECT_DOUBLE_EQ(*curves[0].points[0].share, 0.5);
  EXPECT_THAT(curves[0].versions, ElementsAre(1, 2));
}

TEST_F(BudgetCurves, RunsThatDifferInMoreMakeNoPair) {
  SyntheticRun a = MakeRun("standard", {"correct"}), b = MakeRun("latent", {"correct"}), c = b;
  b.max_new_tokens = 64;  // a cut makes these equal
  c.chat_template = "another";
  Grade(AddSyntheticRun(*store, a), 8, {"correct"});
  Grade(AddSyntheticRun(*store, b), 8, {"correct"});
  Grade(AddSyntheticRun(*store, c), 8, {"correct"});
  Read();
  ASSERT_THAT(curves, SizeIs(3));
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].b->results->run.format, "completion");
}

TEST_F(BudgetCurves, TheSectionHasRunsDownAndBudgetsAcross) {
  const int64_t a = AddSyntheticRun(*store, MakeRun("standard", {"correct", "incorrect"}));
  const int64_t b = AddSyntheticRun(*store, MakeRun("latent", {"correct", "correct"}));
  Grade(a, 8, {"correct", "incorrect"});
  Grade(b, 8, {"correct", "correct"});
  Grade(b, 16, {"correct", "correct"}, false);
  Read();
  const std::optional<Section> section = BudgetSection(RowsOfSuite(runs, {}), curves);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->name, "gsm8k_budgets");
  ASSERT_THAT(section->blocks, SizeIs(5));
  const auto& accuracy = std::get<Table>(section->blocks[1]);
  EXPECT_EQ(accuracy.columns[3].title, "8");
  ASSERT_THAT(accuracy.rows, SizeIs(2));
  EXPECT_EQ(accuracy.rows[0][3].text, "50.0 % (9.5 – 90.5)");
  EXPECT_EQ(accuracy.rows[0][3].number, 0.5);
  EXPECT_EQ(accuracy.rows[0][3].further.at(0).value, curves[0].points[0].interval.low);
  EXPECT_EQ(accuracy.rows[0][4].text, "–");
  EXPECT_FALSE(accuracy.rows[0][4].number);
  EXPECT_EQ(accuracy.rows[1][4].text, "100.0 % (34.2 – 100.0)");
  const auto& truncated = std::get<Table>(section->blocks[2]);
  EXPECT_THAT(Texts({truncated.rows[1].begin() + 3, truncated.rows[1].end()}),
              ElementsAre("100.0 %", "0.0 %"));
  const auto& differences = std::get<Table>(section->blocks[4]);
  ASSERT_THAT(differences.rows, SizeIs(1));
  EXPECT_THAT(differences.rows[0][4].text, HasSubstr("+50.0 ("));
  EXPECT_EQ(differences.rows[0][4].number, 50);
  EXPECT_EQ(differences.rows[0][5].text, "–");
  for (const Block& block : section->blocks) {
    if (const auto* table = std::get_if<Table>(&block)) {
      for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size());
    }
  }
  EXPECT_FALSE(BudgetSection(RowsOfSuite(runs, {}), {}));
  SuiteRows other = RowsOfSuite(runs, {});
  other.suite = "another";
  EXPECT_FALSE(BudgetSection(other, curves));
}

TEST_F(BudgetCurves, NotesSayWhatIsOpen) {
  const int64_t run = AddSyntheticRun(*store, MakeRun("standard", {"correct", "incorrect"}));
  Grade(run, 8, {"correct", ""}, true, 1, false);
  Grade(run, 16, {"correct", "incorrect"}, true, 2);
  Read();
  const std::optional<Section> section = BudgetSection(RowsOfSuite(runs, {}), curves);
  const auto& notes = std::get<Notes>(section->blocks.back()).notes;
  ASSERT_THAT(notes, SizeIs(3));
  EXPECT_THAT(notes[0].text, HasSubstr("on their cut, left out: 1 at 8"));
  EXPECT_TRUE(notes[0].warns);
  EXPECT_THAT(notes[1].text, HasSubstr("last character of a cut, which the store does not tell: 1"));
  EXPECT_THAT(notes[2].text, HasSubstr("judged the cuts in versions 1, 2"));
}

TEST_F(BudgetCurves, TheReportHasThem) {
  const int64_t run = AddSyntheticRun(*store, MakeRun("standard", {"correct", "incorrect"}));
  EXPECT_THAT(RenderReport(*store), Not(HasSubstr("token budget")));
  Grade(run, 8, {"correct", "incorrect"});
  EXPECT_THAT(RenderReport(*store), HasSubstr("### Accuracy against token budget"));
}

}  // namespace
}  // namespace fullband
