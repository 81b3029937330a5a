// `fullband compare`, from its command line to what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

struct CliCompare : testing::Test {
  TempFolder folder;
  std::string path = (folder / "s.db").string();

  CliCompare() {
    const auto store = OpenStore(path, StoreMode::kReadWrite);
    AddSyntheticRun(*store, {"standard", {{"0", "correct", 10, "end"}, {"1", "incorrect", 12, "end"}}});
    AddSyntheticRun(*store, {"latent", {{"0", "incorrect", 5, "length"}, {"1", "correct", 9, "end"}}});
  }

  std::string Compare(std::vector<std::string> words) {
    CLI::App app;
    Action action;
    AddCompare(app, &action);
    words.insert(words.begin(), {"compare", "--store", path});
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(words);
    testing::internal::CaptureStdout();
    ExitCode code = ExitCode::kFailed;
    try {
      code = action();
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    EXPECT_EQ(code, ExitCode::kDone);
    return testing::internal::GetCapturedStdout();
  }
};

TEST_F(CliCompare, PrintsTables) {
  const std::string text = Compare({"standard", "latent"});
  EXPECT_THAT(text, HasSubstr("# B against A"));
  EXPECT_THAT(text, HasSubstr("toy-1m/latent"));
  EXPECT_THAT(text, HasSubstr("not told apart"));
  EXPECT_THAT(text, HasSubstr("| gsm8k | completion, 5 shots |"));
}

TEST_F(CliCompare, PrintsJson) {
  const auto json = nlohmann::json::parse(Compare({"--json", "latent", "standard"}));
  EXPECT_EQ(json["suites"][0]["b"]["setting"], "standard");
  EXPECT_EQ(json["suites"][0]["items"], 2);
}

TEST_F(CliCompare, Narrows) {
  EXPECT_THAT(Compare({"standard", "latent", "--suite", "gsm8k", "--format", "completion", "--shots", "5"}),
              HasSubstr("gsm8k"));
  EXPECT_THROW(Compare({"standard", "latent", "--shots", "0"}), Error);
  EXPECT_THROW(Compare({"standard", "latent", "--format", "chat"}), Error);
}

TEST_F(CliCompare, KnowsItsOptions) {
  EXPECT_THROW(Compare({"standard"}), CLI::RequiredError);
  EXPECT_THROW(Compare({"standard", "latent", "--format", "prose"}), CLI::ValidationError);
  EXPECT_THROW(Compare({"standard", "latent", "more"}), CLI::ExtrasError);
}

}  // namespace
}  // namespace fullband
