// `fullband report`, from its command line to what it prints and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/command.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

ExitCode Report(std::vector<std::string> words) {
  CLI::App app;
  Action action;
  AddReport(app, &action);
  words.insert(words.begin(), "report");
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  app.parse(words);
  return action();
}

std::string Content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// The error that a store brings; empty where there is none.
std::string ErrorOf(const std::filesystem::path& store) {
  try {
    Report({"--store", store.string()});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailed);
    EXPECT_THAT(error.subject(), HasSubstr(store.string()));
    return error.why();
  }
  return "";
}

struct CliReport : testing::Test {
  TempFolder folder;
  std::filesystem::path path = folder / "s.db";

  void MakeStore(bool with_run) {
    const auto store = OpenStore(path, StoreMode::kReadWrite);
    if (with_run) AddSyntheticRun(*store, {"standard", {{"0", "correct", 10, "end"}}});
  }
};

TEST_F(CliReport, PrintsAndWritesTheSameText) {
  MakeStore(true);
  testing::internal::CaptureStdout();
  EXPECT_EQ(Report({"--store", path.string(), "--out", (folder / "out").string()}), ExitCode::kDone);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_THAT(printed, HasSubstr("# Fullband report"));
  EXPECT_THAT(printed, HasSubstr("| toy-1m | standard |"));
  EXPECT_EQ(Content(folder / "out" / "report.md"), printed);
}

TEST_F(CliReport, WritesTheFormatsThatAreAskedFor) {
  MakeStore(true);
  testing::internal::CaptureStdout();
  EXPECT_EQ(Report({"--store", path.string(), "--out", (folder / "out").string(), "--format", "csv,latex"}),
            ExitCode::kDone);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_THAT(printed, HasSubstr("# Fullband report"));
  EXPECT_THAT(Content(folder / "out" / "csv" / "gsm8k_accuracy.csv"),
              HasSubstr("accuracy,95 % interval low,"));
  EXPECT_THAT(Content(folder / "out" / "latex" / "gsm8k_accuracy.tex"), HasSubstr("\\toprule"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out" / "report.md"));
}

TEST_F(CliReport, RefusesFormatsBeforeItReads) {
  const std::string missing = (folder / "missing.db").string(), out = (folder / "out").string();
  try {
    Report({"--store", missing, "--out", out, "--format", "md,latx"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_EQ(error.subject(), "--format latx");
    EXPECT_THAT(error.remedy(), HasSubstr("latex"));
  }
  EXPECT_THROW(Report({"--store", missing, "--format", "md"}), CLI::RequiresError);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(CliReport, LeavesTheStoreAsItIs) {
  MakeStore(true);
  const std::string before = Content(path);
  testing::internal::CaptureStdout();
  Report({"--store", path.string()});
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(Content(path), before);
}

TEST_F(CliReport, RefusesWhatIsNoStore) {
  EXPECT_EQ(ErrorOf(folder / "missing.db"), "no such store");
  EXPECT_FALSE(std::filesystem::exists(folder / "missing.db"));
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("is a folder"));
  std::ofstream(folder / "text.db") << "not a database, but long enough to have a header of its own";
  EXPECT_THAT(ErrorOf(folder / "text.db"), HasSubstr("not a store"));
  std::ofstream(folder / "empty.db").flush();
  EXPECT_THAT(ErrorOf(folder / "empty.db"), HasSubstr("is empty"));
  MakeStore(false);
  EXPECT_EQ(ErrorOf(path), "holds no runs");
}

TEST_F(CliReport, NeedsAStoreAndKnowsItsOptions) {
  EXPECT_THROW(Report({}), CLI::RequiredError);
  EXPECT_THROW(Report({"--store", path.string(), "--outt", "x"}), CLI::ExtrasError);
}

}  // namespace
}  // namespace fullband
