// `fullband show`, from its command line to what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::Not;

struct CliShow : testing::Test {
  TempFolder folder;
  std::string path = (folder / "s.db").string();
  std::string standard;  // key of the run

  CliShow() {
    const auto store = OpenStore(path, StoreMode::kReadWrite);
    const int64_t run = AddSyntheticRun(*store, {"standard", {{"0", "correct", 10, "end"}}});
    AddSyntheticRun(*store, {"latent", {{"0", "incorrect", 5, "length"}}});
    for (const RunRecord& record : store->Runs())
      if (record.id == run) standard = record.key;
  }

  std::string Show(std::vector<std::string> words) {
    CLI::App app;
    Action action;
    AddShow(app, &action);
    words.insert(words.begin(), {"show", "--store", path, "--run", standard, "--item", "0"});
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(words);
    testing::internal::CaptureStdout();
    const ExitCode code = action();
    EXPECT_EQ(code, ExitCode::kDone);
    return testing::internal::GetCapturedStdout();
  }
};

TEST_F(CliShow, PrintsOneRun) {
  const std::string text = Show({"--width", "70"});
  EXPECT_THAT(text, HasSubstr("gsm8k, item 0\n"));
  EXPECT_THAT(text, HasSubstr("standard (toy-1m, run " + standard.substr(0, 8)));
  EXPECT_THAT(text, HasSubstr("number: correct, extracted: 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("latent")));
}

TEST_F(CliShow, PutsSettingsSideBySideWhereThereIsRoom) {
  EXPECT_THAT(Show({"--setting", "latent", "--width", "90"}), HasSubstr(" | latent (toy-1m"));
  EXPECT_THAT(Show({"--setting", "latent", "--width", "70"}), HasSubstr("\nlatent (toy-1m"));
}

TEST_F(CliShow, TakesTheWidthFromTheEnvironmentWhereThereIsNoTerminal) {
  setenv("COLUMNS", "90", 1);
  EXPECT_THAT(Show({"--setting", "latent"}), HasSubstr(" | latent (toy-1m"));
  setenv("COLUMNS", "wide", 1);
  EXPECT_THAT(Show({"--setting", "latent"}), HasSubstr(" | latent (toy-1m"));  // 80
  unsetenv("COLUMNS");
}

TEST_F(CliShow, PrintsJson) {
  const auto json = nlohmann::json::parse(Show({"--setting", "latent", "--json"}));
  EXPECT_EQ(json["runs"][0]["run"], standard);
  EXPECT_EQ(json["runs"][1]["setting"], "latent");
  EXPECT_EQ(json["first_difference"], 5);
}

TEST_F(CliShow, KnowsItsOptions) {
  EXPECT_THROW(Show({"--width", "3"}), CLI::ValidationError);
  EXPECT_THROW(Show({"--settings", "latent"}), CLI::ExtrasError);
}

}  // namespace
}  // namespace fullband
