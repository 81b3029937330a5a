#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "reports/charts/charts.h"
#include "reports/passes/measured.h"
#include "reports/passes/section.h"

namespace fullband {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// As `fullband contraction --suite own --passes 3 --json` prints it, shortened in what is not read.
constexpr char kOfSuite[] = R"({
  "model": "models/toy", "weights_sha256": "abcdef0123456789",
  "source": {"suite": "own", "version": 1, "shots": 0}, "control": null, "texts": 4, "positions": 50,
  "passes": [
    {"pass": 1, "residual": null, "open_residual": null, "distance": 0.5, "open_distance": 0.75,
     "nats_per_token": 3.5, "bits_per_byte": 1.5, "answer": {"nats_per_token": 1.25, "greedy_share": 0.5}},
    {"pass": 2, "residual": 0.25, "open_residual": 0.3125, "distance": 0.125, "open_distance": 0.25,
     "nats_per_token": 3.25, "bits_per_byte": 1.5, "answer": {"nats_per_token": 1.125, "greedy_share": 0.5}},
    {"pass": 3, "residual": 0.0, "open_residual": 0.0, "distance": 0.0, "open_distance": null,
     "nats_per_token": 3.0, "bits_per_byte": 1.5, "answer": {"nats_per_token": 1.0, "greedy_share": 1.0}}],
  "recurrence": {"nats_per_token": 2.75, "answer": {"nats_per_token": 0.75, "greedy_share": 1.0}},
  "verdict": "contracts", "rate": 0.5, "reason": "residuals fall"})";

class Passes : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = fs::temp_directory_path() / ("passes_" + std::to_string(getpid()) + ".json");
    runs_.emplace_back().model.name = "toy";
    runs_.back().model.weights_sha256 = "abcdef0123456789";
    runs_.emplace_back().model.name = "imported";  // its weights are not known
  }
  void TearDown() override { fs::remove(file_); }

  MeasuredPasses Read(const json& value) { return ReadText(value.dump()); }
  MeasuredPasses ReadText(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return ReadMeasuredPasses(file_, runs_);
  }
  std::string WordsOf(const json& value) {
    try {
      Read(value);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  json good_ = json::parse(kOfSuite);
  std::vector<RunResults> runs_;
  fs::path file_;
};

TEST_F(Passes, AreReadOfASuite) {
  const MeasuredPasses measured = Read(good_);
  EXPECT_EQ(measured.model, "toy");
  EXPECT_EQ(measured.source, "own");
  EXPECT_TRUE(measured.suite);
  EXPECT_EQ(measured.control, "");
  ASSERT_EQ(measured.passes.size(), 3);
  EXPECT_FALSE(measured.passes[0].residual);
  EXPECT_EQ(measured.passes[0].open_distance, 0.75);
  EXPECT_EQ(measured.passes[1].open_residual, 0.3125);
  EXPECT_EQ(measured.passes[1].loss, 1.125);  // of the answers
  EXPECT_EQ(measured.recurrence_loss, 0.75);
  EXPECT_EQ(measured.reason, "residuals fall");
}

TEST_F(Passes, AreReadOfAText) {
  json value = good_;
  value["source"] = {{"text", "some/folder/plain.txt"}, {"window", 512}};
  value["control"] = "stale";
  for (json& pass : value["passes"]) pass.erase("answer");
  value["recurrence"].erase("answer");
  const MeasuredPasses measured = Read(value);
  EXPECT_EQ(measured.source, "plain.txt");
  EXPECT_FALSE(measured.suite);
  EXPECT_EQ(measured.passes[1].loss, 3.25);
  EXPECT_EQ(measured.recurrence_loss, 2.75);
  EXPECT_EQ(NamesOf(std::vector{measured})[0], "toy:stale");
}

TEST_F(Passes, OfOtherWeightsAreRefused) {
  json value = good_;
  value["weights_sha256"] = "ffff456789abcdef";
  EXPECT_THAT(WordsOf(value),
              AllOf(HasSubstr(file_.string()), HasSubstr("ffff456789ab…"), HasSubstr("no run")));
  value["weights_sha256"] = "";
  EXPECT_THAT(WordsOf(value), HasSubstr("no run"));
}

TEST_F(Passes, OfWrongFilesAreRefusedByName) {
  const auto without = [&](const char* pointer, const json& put) {
    json value = good_;
    value[json::json_pointer(pointer)] = put;
    return WordsOf(value);
  };
  EXPECT_THAT(without("/passes/1/distance", "far"), HasSubstr("passes[1].distance is no number"));
  EXPECT_THAT(without("/passes/1/distance", -1), HasSubstr("passes[1].distance is negative"));
  EXPECT_THAT(without("/passes/2/pass", 7), HasSubstr("passes[2].pass is not 3"));
  EXPECT_THAT(without("/passes/0/answer", 7), HasSubstr("passes[0].answer is no object"));
  EXPECT_THAT(without("/passes", json::array()), HasSubstr("passes is no list of two or more"));
  EXPECT_THAT(without("/texts", 0.5), HasSubstr("texts is no whole number"));
  EXPECT_THAT(without("/source", json::object()), HasSubstr("source.text is missing"));
  EXPECT_THAT(without("/verdict", nullptr), HasSubstr("verdict is no text"));
  EXPECT_THAT(WordsOf(json::array()), HasSubstr("is no object"));
  good_.erase("weights_sha256");
  EXPECT_THAT(WordsOf(good_), AllOf(HasSubstr("weights_sha256 is missing"), HasSubstr("contraction --json")));
  EXPECT_THROW(ReadText("{"), Error);
  EXPECT_THROW(ReadMeasuredPasses("/no/such/file", runs_), Error);
  EXPECT_THROW(ReadMeasuredPasses("/tmp", runs_), Error);
}

TEST_F(Passes, AreDrawn) {
  const MeasuredPasses measured = Read(good_);
  MeasuredPasses other = measured;
  other.control = "stale";
  const Chart chart = PassChart(std::vector{measured, other}).value();
  const json& rows = chart.spec["data"]["values"];
  ASSERT_EQ(rows.size(), 6);
  EXPECT_EQ(rows[0], json::parse(R"({"series": "toy", "pass": 1, "loss": 1.25, "distance": 0.75})"));
  EXPECT_EQ(
      rows[1],
      json::parse(R"({"series": "toy", "pass": 2, "loss": 1.125, "distance": 0.25, "residual": 0.3125})"));
  EXPECT_EQ(rows[2], json::parse(R"({"series": "toy", "pass": 3, "loss": 1.0})"));  // no logarithm of 0
  EXPECT_EQ(rows[3]["series"], "toy:stale");
  const json& residual = chart.spec["hconcat"][0]["layer"][0]["encoding"]["y"];
  EXPECT_EQ(residual["axis"]["values"], json({0.1, 1.0}));  // around 0.3125
  EXPECT_EQ(residual["scale"]["domain"], json({0.1, 1.0}));
  EXPECT_EQ(chart.spec["hconcat"][2]["layer"][1]["data"]["values"][1],
            json::parse(R"({"series": "toy:stale", "recurrence": 0.75})"));
}

TEST_F(Passes, MakeASection) {
  const MeasuredPasses suite = Read(good_);
  MeasuredPasses text = suite;
  text.source = "Own";
  text.suite = false;
  EXPECT_FALSE(PassesSection({}));
  const Section section = PassesSection(std::vector{suite, text, suite}).value();
  ASSERT_EQ(section.sections.size(), 2);
  EXPECT_EQ(section.sections[0].name, "own");
  EXPECT_EQ(section.sections[1].name, "own_2");
  const Table& table = std::get<Table>(section.sections[0].blocks.at(2));
  ASSERT_EQ(table.rows.size(), 8);  // three passes and the recurrence, twice
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  EXPECT_EQ(table.rows[1][3].text, "0.312");
  EXPECT_EQ(table.rows[1][3].number, 0.3125);
  EXPECT_EQ(table.rows[3][1].text, "exact");
  EXPECT_EQ(table.rows[3][6].number, 0.75);
  const Notes& notes = std::get<Notes>(section.sections[0].blocks.at(3));
  EXPECT_EQ(notes.notes.at(0).text, "contracts: residuals fall");
}

}  // namespace
}  // namespace fullband
