#include "reports/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

TEST(Results, SettingsInTheOrderPeopleListThem) {
  const std::vector<std::string> order = {"standard",     "standard@2", "latent",        "latent:stale",
                                          "latent:zero",  "latent@2",   "latent@2:zero", "latent@10",
                                          "latent@exact", "parallel@2"};
  std::vector<std::string> sorted(order.rbegin(), order.rend());
  std::sort(sorted.begin(), sorted.end(), SettingBefore);
  EXPECT_EQ(sorted, order);
}

TEST(Results, AreReadWithTheNewestGrades) {
  TempFolder folder;
  const auto store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  SyntheticRun run{"standard", {{"1", "incorrect", 5, "end"}, {"2", "fault", 0, ""}, {"3", "", 7, "length"}}};
  AddSyntheticRun(*store, run);
  GradeRecord newer;
  newer.sample_id = store->Samples(1).at(0).id;
  newer.grader = "number";
  newer.version = 2;
  newer.outcome = "correct";
  newer.score = 1;
  store->AddGrades({newer});
  const std::vector<RunResults> all = ReadResults(*store);
  ASSERT_EQ(all.size(), 1u);
  const std::vector<ItemResult>& items = all[0].items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].samples.at(0).Of("number"), Result::kCorrect);
  EXPECT_EQ(items[0].samples.at(0).grades.at("number").version, 2);
  EXPECT_EQ(items[1].samples.at(0).Of("number"), Result::kFault);
  EXPECT_EQ(items[2].samples.at(0).Of("number"), Result::kUngraded);
  EXPECT_TRUE(items[2].samples.at(0).truncated);
  EXPECT_FALSE(items[0].samples.at(0).truncated);
  EXPECT_EQ(items[0].samples.at(0).trace_tokens, 5);
  EXPECT_NE(items[0].samples.at(0).tokens_sha256, items[2].samples.at(0).tokens_sha256);
}

TEST(Results, GroupsAreReadInTheirOrder) {
  TempFolder folder;
  const auto store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  SyntheticRun run{"standard",
                   {{"1", "correct", 5, "end", "", R"({"kind":"swaps","difficulty":12})"},
                    {"2", "correct", 5, "end", ""}}};
  AddSyntheticRun(*store, run);
  const std::vector<ItemResult> items = ReadResults(*store).at(0).items;
  ASSERT_EQ(items[0].groups.size(), 2u);
  EXPECT_EQ(items[0].groups[0].field, "kind");
  EXPECT_EQ(items[0].groups[0].text, "swaps");
  EXPECT_FALSE(items[0].groups[0].number);
  EXPECT_EQ(items[0].groups[1].field, "difficulty");
  EXPECT_EQ(items[0].groups[1].text, "12");
  EXPECT_EQ(items[0].groups[1].number, 12);
  EXPECT_TRUE(items[1].groups.empty());
}

TEST(Results, GroupsThatAreNoObjectAreAnError) {
  for (const char* groups : {"", "[1]", "{", "3"}) {
    TempFolder folder;
    const auto store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
    AddSyntheticRun(*store, {"standard", {{"item 5", "correct", 5, "end", "", groups}}});
    try {
      ReadResults(*store);
      ADD_FAILURE() << groups;
    } catch (const Error& error) {
      EXPECT_EQ(error.subject(), (folder / "s.db").string());
      EXPECT_THAT(error.why(), testing::HasSubstr("item 5"));
    }
  }
}

}  // namespace
}  // namespace fullband
