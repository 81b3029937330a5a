#include "reports/html/items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using Json = nlohmann::json;

struct HtmlItemsTest : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
};

TEST_F(HtmlItemsTest, IndexHasARowForEachItem) {
  AddSyntheticRun(*store, {"latent", {{"0", "incorrect", 12, "length"}, {"1", "fault"}, {"2", ""}}, {"3"}});
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 10, "end"}, {"1", "no_answer", 7, "end"}}, {}});
  SyntheticRun choices{"standard", {{"x", "correct"}}};
  choices.suite = "arc";
  choices.choose = true;
  AddSyntheticRun(*store, choices);
  const HtmlItems items(*store);
  const Json index = items.Index();
  EXPECT_EQ(items.size(), 5u);
  EXPECT_EQ(items.blocks(), 2u);
  EXPECT_EQ(index["columns"], Json::parse(R"([{"model": "toy-1m", "setting": "standard"},
                                              {"model": "toy-1m", "setting": "latent"}])"));
  ASSERT_EQ(index["suites"].size(), 2u);
  EXPECT_EQ(index["suites"][0]["name"], "arc");
  EXPECT_EQ(index["suites"][0]["first"], 0);
  EXPECT_EQ(index["suites"][1]["first"], 1);
  EXPECT_EQ(index["suites"][1]["runs"], Json({1, 2}));
  EXPECT_EQ(index["suites"][1]["items"], Json({"0", "1", "2", "3"}));
  EXPECT_EQ(index["suites"][1]["golds"], Json({"7", "7", "7", "7"}));
  EXPECT_EQ(index["runs"][0]["tokens"], nullptr);
  EXPECT_EQ(index["runs"][0]["stops"], false);
  EXPECT_EQ(index["runs"][1]["outcomes"], "cn--");
  EXPECT_EQ(index["runs"][1]["tokens"], Json({10, 7, -1, -1}));
  EXPECT_EQ(index["runs"][2]["outcomes"], "Ifu-");
  EXPECT_EQ(index["runs"][2]["column"], 1);
}

TEST_F(HtmlItemsTest, SeveralSamplesStandItemByItem) {
  AddSyntheticRun(
      *store, {"standard",
               {{"0", "correct", 1, "end"}, {"0", "incorrect", 2, "length"}, {"1", "timeout", 3, "end"}}});
  const Json run = HtmlItems(*store).Index()["runs"][0];
  EXPECT_EQ(run["samples"], 2);
  EXPECT_EQ(run["outcomes"], "cIt-");
  EXPECT_EQ(run["tokens"], Json({1, 2, 3, -1}));
}

// Runs of one model and setting that a suite has twice get columns of their own.
TEST_F(HtmlItemsTest, ColumnsAreSharedBySuitesNotByRunsOfOne) {
  for (const int limit : {256, 512}) {
    SyntheticRun run{"standard", {{"0", "correct", 1, "end"}}};
    run.max_new_tokens = limit;
    AddSyntheticRun(*store, run);
  }
  SyntheticRun other{"standard", {{"0", "correct", 1, "end"}}};
  other.suite = "maths";
  AddSyntheticRun(*store, other);
  const Json index = HtmlItems(*store).Index();
  EXPECT_EQ(index["columns"].size(), 2u);
  EXPECT_EQ(index["runs"][0]["column"], 0);
  EXPECT_EQ(index["runs"][1]["column"], 1);
  EXPECT_EQ(index["runs"][2]["column"], 0);
}

TEST_F(HtmlItemsTest, BlocksHaveTextsOnceAndWhereTracesPart) {
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 3, "end"}, {"1", "incorrect", 5, "length"}}});
  AddSyntheticRun(*store, {"latent", {{"0", "correct", 5, "length", "incorrect"}, {"1", "fault"}}});
  HtmlItemsOptions options;
  options.items_in_block = 1;
  const HtmlItems items(*store, options);
  ASSERT_EQ(items.blocks(), 2u);
  const Json block = items.Block(0);
  ASSERT_EQ(block["i"].size(), 1u);
  const Json& item = block["i"][0];
  ASSERT_EQ(item["r"].size(), 2u);
  EXPECT_EQ(item["r"][0]["p"], item["r"][1]["p"]);
  EXPECT_EQ(block["t"][item["r"][0]["p"].get<size_t>()], "Question");
  const Json& standard = item["r"][0]["s"][0];
  EXPECT_EQ(standard["k"], Json({100, 4, 3}));
  EXPECT_EQ(standard["s"], "end");
  ASSERT_EQ(item["r"][1]["s"][0]["v"].size(), 2u);
  // Four tokens against five that begin with them.
  ASSERT_EQ(item["l"].size(), 1u);
  EXPECT_EQ(item["l"][0]["m"], Json::parse("[[0, 0], [1, 0]]"));
  EXPECT_EQ(item["l"][0]["n"], Json({4, 5}));
  EXPECT_EQ(item["l"][0]["p"], Json({4}));
  EXPECT_FALSE(standard.contains("e"));
  EXPECT_EQ(item["r"][1]["s"][0]["e"]["4"][0], 4);
  const Json faulty = items.Block(1);
  EXPECT_EQ(faulty["t"][faulty["i"][0]["r"][1]["s"][0]["f"].get<size_t>()], "a state is not finite");
  EXPECT_EQ(faulty["i"][0]["l"][0]["m"].size(), 1u);
}

// What another engine's file did not have stands in the store as nothing, and is not taken for something.
TEST_F(HtmlItemsTest, ImportedRunsLackWhatTheyLack) {
  const auto add = [&](const std::string& model, const std::string& ask, std::vector<std::string> fields) {
    ModelRecord record;
    record.name = record.config = model;
    RunRecord run;
    const Json identity = {{"imported", {{"model", model}, {"fields", fields}}}, {"ask", ask}};
    run.identity = identity.dump();
    run.key = model + ask;
    run.model_id = store->AddModel(record);
    run.suite = ask;
    run.ask = ask;
    run.setting = "standard";
    run.headline = "number";
    const int64_t id = store->AddRun(run);
    store->AddItems(id, {{0, "0", 0, "Question", "7", 0, "{}"}});
    store->ReplaceLease(id, "", {"host", 1, "process", "token", UtcNow()});
    SessionRecord session;
    session.run_id = id;
    session.id = store->AddSession(session);
    SampleRecord sample;
    sample.item_id = store->Items(id).at(0).id;
    sample.finished = UtcNow();
    if (ask == "choose") sample.choices = {{" word", 0, 5, 5, -1.5, {}, false, true}};
    if (ask == "generate") sample.text = " 7";
    if (ask == "generate") sample.tokens = {1, 2};
    store->AddSample(sample, "token", session);
  };
  add("a", "choose", {"logprobs"});
  add("b", "generate", {"completion"});
  add("c", "generate", {"completion", "tokens", "generated_tokens"});
  add("d", "generate", {"completion", "tokens", "generated_tokens"});
  const HtmlItems items(*store);
  const Json index = items.Index();
  for (const Json& run : index["runs"]) {
    EXPECT_EQ(run["outcomes"], "u");
    EXPECT_EQ(run["tokens"], nullptr);
    EXPECT_EQ(run["stops"], false);
  }
  EXPECT_EQ(index["columns"][0]["model"], "a (imported)");
  const Json choice = items.Block(0)["i"][0]["r"][0]["s"][0]["c"][0];
  EXPECT_EQ(choice[1], -1.5);
  EXPECT_EQ(choice[2], nullptr);
  const Json item = items.Block(1)["i"][0];
  EXPECT_EQ(item["r"][0]["s"][0]["k"], Json({nullptr, nullptr, nullptr}));
  EXPECT_FALSE(item["r"][0]["s"][0].contains("s"));
  EXPECT_FALSE(item["r"][0]["s"][0].contains("w"));
  EXPECT_EQ(item["r"][1]["s"][0]["k"], Json({nullptr, 0, nullptr}));
  // The ids of b are not known, those of c and d are of different models, and nobody knows what they mean.
  ASSERT_EQ(item["l"].size(), 2u);
  EXPECT_EQ(item["l"][0]["m"], Json::parse("[[1, 0]]"));
  EXPECT_EQ(item["l"][1]["m"], Json::parse("[[2, 0]]"));
}

TEST_F(HtmlItemsTest, BlocksFollowTheSuites) {
  SyntheticRun run{"standard", {}};
  for (int i = 0; i < 5; ++i) run.samples.push_back({"item " + std::to_string(i), "correct", 1, "end"});
  for (const char* suite : {"a", "b"}) {
    run.suite = suite;
    AddSyntheticRun(*store, run);
  }
  HtmlItemsOptions options;
  options.items_in_block = 2;
  const HtmlItems items(*store, options);
  ASSERT_EQ(items.blocks(), 6u);
  std::vector<size_t> sizes;
  for (size_t i = 0; i < items.blocks(); ++i) sizes.push_back(items.Block(i)["i"].size());
  EXPECT_THAT(sizes, testing::ElementsAre(2, 2, 1, 2, 2, 1));
  EXPECT_EQ(items.Index()["suites"][1]["first"], 3);
}

TEST_F(HtmlItemsTest, LongTextsAreShownFromBothEnds) {
  const int64_t run = AddSyntheticRun(*store, {"standard", {}});
  std::string prompt;
  for (int i = 0; i < 30; ++i) prompt += "\xC3\xA9";
  store->AddItems(run, {{0, "long", 0, prompt, "7", 0, "{}"}});
  HtmlItemsOptions options;
  options.longest_text = 21;  // 16 bytes and 5, in which no character may be broken
  const Json block = HtmlItems(*store, options).Block(0);
  const Json& shown = block["t"][block["i"][0]["r"][0]["p"].get<size_t>()];
  EXPECT_EQ(shown[0], prompt.substr(0, 16));
  EXPECT_EQ(shown[1], 20);
  EXPECT_EQ(shown[2], prompt.substr(0, 4));
}

}  // namespace
}  // namespace fullband
