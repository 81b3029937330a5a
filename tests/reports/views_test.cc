// The store's views (evals/store/views.sql) say what reports say.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "common/hash.h"
#include "evals/store/store.h"
#include "reports/budgets.h"
#include "reports/figures.h"
#include "reports/results.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using Value = std::optional<double>;
using Row = std::map<std::string, Value>;  // numbers by column; nothing for NULL

bool Same(const Value& a, const Value& b) {
  if (!a || !b) return !a && !b;
  return std::abs(*a - *b) <= 1e-12 * std::max(1.0, std::abs(*b));
}

struct Views : testing::Test {
  TempFolder folder;
  std::filesystem::path path = folder / "s.db";
  std::unique_ptr<Store> store = OpenStore(path, StoreMode::kReadWrite);
  std::mt19937 random{7};

  // The one row of a query.
  Row Only(const std::string& sql) {
    SQLite::Database database(path);
    SQLite::Statement query(database, sql);
    if (!query.executeStep()) return {};
    Row row;
    for (int i = 0; i < query.getColumnCount(); ++i)
      row[query.getColumnName(i)] =
          query.getColumn(i).isNull() ? Value() : Value(query.getColumn(i).getDouble());
    EXPECT_FALSE(query.executeStep()) << sql;
    return row;
  }
  Row OfRun(const std::string& view, const RunResults& results, const std::string& where = "1") {
    return Only("SELECT * FROM " + view + " WHERE run_id = " + std::to_string(results.run.id) + " AND " +
                where);
  }

  std::string Draw(const std::vector<std::string>& words) { return words[random() % words.size()]; }
  SyntheticRun RandomRun(const std::string& setting, int items, int samples) {
    SyntheticRun run{setting};
    for (int item = 0; item < items; ++item)
      for (int sample = 0; sample < samples; ++sample)
        run.samples.push_back({std::to_string(item),
                               Draw({"correct", "correct", "incorrect", "no_answer", "timeout", "fault", ""}),
                               static_cast<int>(random() % 90),
                               Draw({"end", "stop_string", "length", "context"}),
                               Draw({"correct", "incorrect", "no_answer"})});
    run.open_items = {"open"};
    return run;
  }
  // A run of which only so much is known.
  void Import(const std::vector<std::string>& fields) {
    ModelRecord model;
    model.name = "theirs";
    RunRecord run;
    run.identity = R"({"imported":{"fields":[)";
    for (size_t i = 0; i < fields.size(); ++i) run.identity += (i ? ",\"" : "\"") + fields[i] + "\"";
    run.identity += R"(]},"setting":"standard"})";
    run.key = Sha256Hex(run.identity);
    run.model_id = store->AddModel(model);
    run.suite = "gsm8k";
    run.ask = "generate";
    run.format = "completion";
    run.setting = "standard";
    run.headline = "number";
    run.id = store->AddRun(run);
    store->AddItems(run.id, {{0, "0", 0, "Question", "7"}, {0, "1", 1, "Question", "8"}});
    store->ReplaceLease(run.id, "", {"host", 1, "process", "token", UtcNow()});
    SessionRecord session;
    session.run_id = run.id;
    session.id = store->AddSession(session);
    for (const ItemRecord& item : store->Items(run.id)) {
      SampleRecord sample;
      sample.item_id = item.id;
      sample.text = "#### 7";
      const int64_t id = store->AddSample(sample, "token", session);
      store->AddGrades({{id, "number", 3, item.item == "0" ? "correct" : "incorrect", 0, "7", ""}});
    }
  }
};

// Whether some item has several samples that count by this grader.
bool SeveralCount(const RunResults& results, const std::string& grader) {
  for (const ItemResult& item : results.items) {
    int counted = 0;
    for (const SampleResult& sample : item.samples) {
      const Result result = sample.Of(grader);
      counted += result != Result::kFault && result != Result::kUngraded;
    }
    if (counted > 1) return true;
  }
  return false;
}

void ExpectAccuracy(const Row& row, const RunResults& results, const std::string& grader) {
  for (const Accuracy& accuracy : Figures(results).graders) {
    if (accuracy.grader != grader) continue;
    EXPECT_EQ(row.at("items"), static_cast<double>(accuracy.items));
    EXPECT_TRUE(Same(row.at("correct"), accuracy.correct));
    EXPECT_TRUE(Same(row.at("accuracy"), accuracy.share));
    if (accuracy.share) {
      const bool several = SeveralCount(results, grader);
      EXPECT_TRUE(several || !accuracy.clustered);
      EXPECT_TRUE(Same(row.at("accuracy_low"), several ? Value() : accuracy.interval.low));
      EXPECT_TRUE(Same(row.at("accuracy_high"), several ? Value() : accuracy.interval.high));
    }
    EXPECT_TRUE(
        Same(row.at("answer_found"), results.run.ask == "generate" ? accuracy.answered : std::nullopt));
    EXPECT_EQ(row.at("timeouts"), static_cast<double>(accuracy.timeouts));
    return;
  }
  FAIL() << grader;
}

TEST_F(Views, AccuracyIsTheReports) {
  for (int round = 0; round < 8; ++round)
    AddSyntheticRun(*store, RandomRun(round == 0 ? "standard" : "latent@" + std::to_string(round + 1),
                                      3 + 20 * round, 1 + round % 3));
  SyntheticRun choices = RandomRun("standard", 40, 1);
  choices.choose = true;
  choices.suite = "arc_easy";
  AddSyntheticRun(*store, choices);
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 5, "end"}}, {}, "all_right"});
  AddSyntheticRun(*store, {"standard", {{"0", "no_answer", 5, "end"}}, {}, "all_wrong"});
  AddSyntheticRun(*store, {"standard", {{"0", "", 5, "end"}}, {}, "ungraded"});
  for (const RunResults& results : ReadResults(*store)) {
    const RunFigures figures = Figures(results);
    const Row row = OfRun("run_accuracy", results);
    ExpectAccuracy(row, results, results.run.headline);
    EXPECT_EQ(row.at("faults"), static_cast<double>(figures.headline.faults));
    EXPECT_EQ(row.at("ungraded"), static_cast<double>(figures.headline.ungraded));
    for (const Accuracy& accuracy : figures.graders) {
      if (accuracy.versions.empty()) continue;
      const Row by_grader = OfRun("grader_accuracy", results, "grader = '" + accuracy.grader + "'");
      ExpectAccuracy(by_grader, results, accuracy.grader);
      EXPECT_EQ(by_grader.at("newest_version"), accuracy.versions.back());
    }
    if (results.run.ask != "generate") {
      EXPECT_EQ(row.at("trace_tokens"), Value());
      EXPECT_EQ(row.at("truncated"), Value());
      continue;
    }
    const TraceLengths& lengths = figures.lengths;
    EXPECT_TRUE(Same(row.at("trace_tokens"), lengths.mean));
    EXPECT_TRUE(Same(row.at("truncated"),
                     static_cast<double>(lengths.truncated) / static_cast<double>(lengths.samples)));
    EXPECT_TRUE(Same(row.at("accuracy_of_finished"), figures.accuracy_of_finished));
  }
}

TEST_F(Views, CostIsTheReports) {
  AddSyntheticRun(*store, RandomRun("standard", 9, 2));
  for (const RunResults& results : ReadResults(*store)) {
    const Row row = OfRun("run_cost", results);
    EXPECT_EQ(row.at("generated_tokens"), static_cast<double>(results.cost.generated_tokens));
    EXPECT_EQ(row.at("seconds"), results.cost.wall_seconds);
    EXPECT_EQ(row.at("position_forwards"),
              static_cast<double>(results.cost.prefill_forwards + results.cost.decode_forwards));
    EXPECT_EQ(row.at("saved_forwards"), static_cast<double>(results.cost.saved_forwards));
    EXPECT_EQ(row.at("peak_memory_bytes"), static_cast<double>(results.cost.peak_memory_bytes));
  }
}

TEST_F(Views, WhatIsNotKnownIsNull) {
  Import({"completion", "stop_reason"});
  const std::vector<RunResults> runs = ReadResults(*store);
  const Row row = OfRun("run_accuracy", runs.at(0));
  EXPECT_EQ(row.at("accuracy"), 0.5);
  EXPECT_EQ(row.at("trace_tokens"), Value());
  EXPECT_EQ(row.at("truncated"), 0);
  const Row cost = OfRun("run_cost", runs[0]);
  for (const char* name : {"generated_tokens", "seconds", "position_forwards", "peak_memory_bytes"})
    EXPECT_EQ(cost.at(name), Value()) << name;
  EXPECT_EQ(OfRun("run_details", runs[0]).at("imported"), 1);
}

// The mean of an item's value over its samples.
Value MeanLength(const ItemResult& item) {
  double sum = 0, count = 0;
  for (const SampleResult& sample : item.samples) {
    if (sample.fault) continue;
    sum += static_cast<double>(sample.trace_tokens);
    ++count;
  }
  return count > 0 ? Value(sum / count) : Value();
}

bool Complete(const ItemResult& item, const std::string& grader) {
  for (const SampleResult& sample : item.samples) {
    const Result result = sample.Of(grader);
    if (result == Result::kFault || result == Result::kUngraded) return false;
  }
  return !item.samples.empty();
}

TEST_F(Views, PairsAreTheReports) {
  for (const int samples : {1, 2})
    for (const char* setting : {"latent@exact", "standard", "latent@10", "latent@2", "latent@2:stale"}) {
      SyntheticRun run = RandomRun(setting, 60, samples);
      run.suite = samples == 1 ? "one" : "two";
      AddSyntheticRun(*store, run);
    }
  const std::vector<RunResults> runs = ReadResults(*store);
  size_t pairs = 0;
  for (size_t i = 0; i < runs.size(); ++i)
    for (size_t j = i + 1; j < runs.size() && runs[j].run.suite == runs[i].run.suite; ++j, ++pairs) {
      const RunResults &a = runs[i], &b = runs[j];
      double items = 0, difference = 0, tokens = 0, both = 0, only_b = 0;
      for (size_t k = 0; k < a.items.size(); ++k) {
        if (!Complete(a.items[k], "number") || !Complete(b.items[k], "number")) continue;
        const double x = *ItemScore(a.items[k], "number"), y = *ItemScore(b.items[k], "number");
        ++items;
        difference += y - x;
        both += x == 1 && y == 1;
        only_b += x == 0 && y == 1;
        tokens += *MeanLength(b.items[k]) - *MeanLength(a.items[k]);
      }
      ASSERT_GT(items, 0);
      const Row row =
          Only("SELECT * FROM paired_accuracy WHERE suite = '" + a.run.suite + "' AND setting_a = '" +
               a.run.setting + "' AND setting_b = '" + b.run.setting + "'");
      ASSERT_FALSE(row.empty()) << a.run.setting << " " << b.run.setting;
      EXPECT_EQ(row.at("items"), items);
      EXPECT_TRUE(Same(row.at("difference"), difference / items));
      EXPECT_TRUE(Same(row.at("trace_difference"), tokens / items));
      EXPECT_EQ(row.at("both_right"), a.samples_per_item == 1 ? Value(both) : Value());
      EXPECT_EQ(row.at("only_b"), a.samples_per_item == 1 ? Value(only_b) : Value());
      EXPECT_EQ(row.at("alike"), 1);
    }
  EXPECT_EQ(pairs, 20u);
  EXPECT_EQ(Only("SELECT COUNT(*) AS pairs FROM paired_accuracy").at("pairs"), 20);
}

TEST_F(Views, BudgetCurvesAreTheReports) {
  for (const int samples : {1, 3}) {
    const int64_t run = AddSyntheticRun(*store, RandomRun(samples == 1 ? "standard" : "latent", 30, samples));
    for (const SampleRecord& sample : store->Samples(run))
      for (const int64_t budget : {8, 16})
        for (const int version : {1, 2})
          if (version == 1 || random() % 2)
            store->ReplaceBudgetGrades(
                {{{sample.id, "number", version,
                   sample.fault.empty() ? Draw({"correct", "incorrect", "no_answer", "fault"}) : "fault", 0,
                   "", ""},
                  budget,
                  random() % 3 > 0,
                  4,
                  true}});
  }
  const std::vector<RunResults> runs = ReadResults(*store);
  const std::vector<BudgetCurve> curves = ReadBudgetCurves(*store, runs);
  ASSERT_EQ(curves.size(), 2u);
  for (const BudgetCurve& curve : curves)
    for (const BudgetFigures& point : curve.points) {
      const Row row = OfRun("budget_accuracy", *curve.results, "budget = " + std::to_string(point.budget));
      EXPECT_EQ(row.at("items"), static_cast<double>(point.items));
      EXPECT_TRUE(Same(row.at("accuracy"), point.share));
      const bool single = curve.results->samples_per_item == 1;
      EXPECT_TRUE(Same(row.at("accuracy_low"), single ? Value(point.interval.low) : Value()));
      EXPECT_TRUE(Same(row.at("accuracy_high"), single ? Value(point.interval.high) : Value()));
      EXPECT_TRUE(Same(row.at("truncated"), point.truncated_share));
    }
}

TEST_F(Views, PairsThatDifferInMoreAreMarked) {
  SyntheticRun a{"standard", {{"0", "correct", 5, "end"}}}, b{"latent", {{"0", "correct", 5, "end"}}};
  b.max_new_tokens = 64;
  AddSyntheticRun(*store, a);
  AddSyntheticRun(*store, b);
  EXPECT_EQ(Only("SELECT alike FROM run_pairs").at("alike"), 0);
}

}  // namespace
}  // namespace fullband
