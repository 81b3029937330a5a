#include "reports/comparisons/compared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ComparedRuns : testing::Test {
  TempFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder / "s.db", StoreMode::kReadWrite);

  void Add(const std::string& setting, int right, const std::string& suite = "gsm8k",
           const std::string& model = "toy-1m", int max_new_tokens = 256) {
    SyntheticRun run{setting};
    run.suite = suite;
    run.model = model;
    run.max_new_tokens = max_new_tokens;
    for (int i = 0; i < 12; ++i)
      run.samples.push_back({std::to_string(i), i < right ? "correct" : "incorrect", 10 + right, "end"});
    AddSyntheticRun(*store, run);
  }

  Chosen Choose(const CompareRequest& request) { return ChoosePairs(*store, request); }

  // "setting A and setting B" of each suite.
  std::vector<std::string> Names(const CompareRequest& request) {
    std::vector<std::string> names;
    for (const auto& [a, b] : Choose(request).pairs)
      names.push_back(a.suite + ": " + a.setting + " and " + b.setting);
    return names;
  }

  std::string KeyOf(const std::string& setting, const std::string& suite = "gsm8k") {
    for (const RunRecord& run : store->Runs())
      if (run.setting == setting && run.suite == suite) return run.key;
    return "none";
  }

  std::string ErrorOf(const CompareRequest& request) {
    try {
      Choose(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    return "";
  }
};

TEST_F(ComparedRuns, ByNamesAndKeys) {
  Add("standard", 4);
  Add("latent", 9);
  Add("standard", 4, "arc");
  Add("latent", 5, "arc");
  const std::vector<std::string> both = {"arc: standard and latent", "gsm8k: standard and latent"};
  EXPECT_EQ(Names({"standard", "latent", {}, {}, {}}), both);
  EXPECT_EQ(Names({"toy-1m/standard", "toy-1m/latent", {}, {}, {}}), both);
  EXPECT_THAT(Names({"standard", "latent", {"gsm8k"}, {}, {}}), ElementsAre(both[1]));
  EXPECT_THAT(Names({KeyOf("standard").substr(0, 8), "latent", {}, {}, {}}), ElementsAre(both[1]));
  EXPECT_THAT(Names({KeyOf("standard"), KeyOf("latent"), {}, {}, {}}), ElementsAre(both[1]));
  EXPECT_THAT(Choose({KeyOf("standard"), "latent", {}, {}, {}}).one_sided, ElementsAre("arc"));
}

TEST_F(ComparedRuns, TwoModels) {
  Add("standard", 4);
  Add("latent", 9);
  Add("standard", 6, "gsm8k", "toy-2m");
  EXPECT_THAT(Names({"toy-1m", "toy-2m", {}, {}, {}}), ElementsAre("gsm8k: standard and standard"));
  // Two pairs of the same model would be as good; of `standard` and `latent` one is.
  EXPECT_THAT(Names({"standard", "latent", {}, {}, {}}), ElementsAre("gsm8k: standard and latent"));
  EXPECT_THAT(Names({"toy-2m", "toy-1m/latent", {}, {}, {}}), ElementsAre("gsm8k: standard and latent"));
  Add("latent", 9, "gsm8k", "toy-2m");
  EXPECT_THAT(ErrorOf({"standard", "latent", {}, {}, {}}),
              AllOf(HasSubstr("2 pairs of runs of gsm8k fit"), HasSubstr("toy-2m/latent"),
                    HasSubstr("say MODEL/SETTING")));
}

TEST_F(ComparedRuns, TakesThePairThatDiffersInLeast) {
  Add("standard", 4, "gsm8k", "toy-1m", 512);
  Add("standard", 4);
  Add("latent", 9);
  const Chosen chosen = Choose({"standard", "latent", {}, {}, {}});
  ASSERT_EQ(chosen.pairs.size(), 1u);
  EXPECT_THAT(chosen.pairs[0].a.identity, HasSubstr("256"));
}

TEST_F(ComparedRuns, RefusesWhatMeansNothing) {
  Add("standard", 4);
  Add("latent", 9, "arc");
  EXPECT_THAT(ErrorOf({"standrad", "latent", {}, {}, {}}),
              AllOf(HasSubstr("A standrad"), HasSubstr("did you mean standard")));
  EXPECT_THAT(ErrorOf({"standard", "zzzz", {}, {}, {}}), HasSubstr("B zzzz"));
  EXPECT_THAT(ErrorOf({"standard", "latent", {}, {}, {}}), HasSubstr("no suite has runs of both"));
  EXPECT_THAT(ErrorOf({"standard", "standard", {}, {}, {}}), HasSubstr("are the same run of gsm8k"));
  EXPECT_THAT(ErrorOf({"standard", "latent", {"gsm9k"}, {}, {}}), HasSubstr("did you mean gsm8k"));
  EXPECT_THAT(ErrorOf({"standard", "latent", {}, {}, 0}), HasSubstr("no runs of what is asked for"));
  EXPECT_THAT(ErrorOf({"", "latent", {}, {}, {}}), HasSubstr("is no model"));
}

TEST_F(ComparedRuns, SeveralSuitesAreOneFamily) {
  Add("standard", 2);
  Add("latent", 12);  // 10 of 12 items only in B: p = 2^-9
  Add("standard", 4, "arc");
  Add("latent", 5, "arc");  // p = 1
  const Compared compared = CompareChosen(*store, {"standard", "latent", {}, {}, {}}, {});
  ASSERT_EQ(compared.suites.size(), 2u);
  EXPECT_EQ(compared.runs.size(), 4u);
  const Comparison &arc = compared.suites[0], &gsm8k = compared.suites[1];
  EXPECT_EQ(gsm8k.family, 2);
  EXPECT_NEAR(*gsm8k.adjusted_p, 2.0 / 512, 1e-12);
  EXPECT_THAT(InWords(gsm8k),
              AllOf(HasSubstr("B is better: +83.3 points ("), HasSubstr("p = 0.004 by Holm"),
                    HasSubstr("Length of its traces: +83.3 %"), HasSubstr("Seconds a token: ")));
  EXPECT_THAT(InWords(arc),
              AllOf(HasSubstr("The two are not told apart: +8.3 points ("), HasSubstr("items to see")));
  ASSERT_TRUE(compared.across);
  EXPECT_NEAR(*compared.across->macro.of.value, (10.0 / 12 + 1.0 / 12) / 2, 1e-12);
  EXPECT_TRUE(gsm8k.parting);
  EXPECT_EQ(gsm8k.parting->median, 13);  // 12 tokens and the end, in A
}

TEST_F(ComparedRuns, AsDocumentAndJson) {
  Add("standard", 2);
  Add("latent", 12);
  const Compared compared = CompareChosen(*store, {"standard", "latent", {}, {}, {}}, {});
  const Document document = ComparedAsDocument(compared);
  const Notes& notes = std::get<Notes>(document.head.at(0));
  EXPECT_EQ(notes.notes.at(0).text, "toy-1m/standard");
  EXPECT_EQ(notes.notes.at(1).text, "toy-1m/latent");
  EXPECT_THAT(document.sections, IsEmpty());
  const nlohmann::ordered_json json = ComparedAsJson(compared);
  const nlohmann::ordered_json& suite = json["suites"].at(0);
  EXPECT_EQ(suite["a"]["setting"], "standard");
  EXPECT_EQ(suite["counts"]["only_b"], 10);
  EXPECT_EQ(suite["p"], *compared.suites[0].p);
  EXPECT_EQ(suite["lengths"]["all"]["difference"]["value"], 10);
  EXPECT_TRUE(suite["lengths"]["cut"].is_null());
  EXPECT_EQ(suite["parting"]["traces"], 12);
  EXPECT_TRUE(json["across"].is_null());
}

TEST_F(ComparedRuns, IsTheSameAgain) {
  Add("standard", 2);
  Add("latent", 12);
  const auto dump = [&] {
    return ComparedAsJson(CompareChosen(*store, {"standard", "latent", {}, {}, {}}, {})).dump();
  };
  EXPECT_EQ(dump(), dump());
}

}  // namespace
}  // namespace fullband
