#include "reports/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/error.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

std::string Content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<std::string> Listed(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    names.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Output, FilesAreWrittenWhole) {
  TempFolder folder;
  const std::filesystem::path out = folder / "a" / "b";
  EXPECT_THAT(WriteFiles({{"report.md", "first\n"}, {"csv/t.csv", std::string("x\0y\r\n", 5)}}, out),
              testing::ElementsAre(out / "report.md", out / "csv" / "t.csv"));
  EXPECT_EQ(Content(out / "csv" / "t.csv"), std::string("x\0y\r\n", 5));
  WriteFiles({{"report.md", "second\n"}}, out);
  EXPECT_EQ(Content(out / "report.md"), "second\n");
  EXPECT_THAT(Listed(out), testing::ElementsAre("csv", "csv/t.csv", "report.md"));
}

std::string ErrorOf(const std::vector<ReportFile>& files, const std::filesystem::path& folder) {
  try {
    WriteFiles(files, folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Output, WhatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  TempFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_THAT(ErrorOf({{"report.md", "text"}}, folder / "file"), HasSubstr((folder / "file").string()));
  const std::filesystem::path out = folder / "out";
  WriteFiles({{"report.md", "old\n"}}, out);
  std::filesystem::create_directories(out / "csv" / "t.csv" / "full");
  EXPECT_THAT(ErrorOf({{"csv/t.csv", "x"}, {"report.md", "new\n"}}, out), HasSubstr("t.csv"));
  std::ofstream(out / "latex") << "x";
  EXPECT_THAT(ErrorOf({{"report.md", "new\n"}, {"latex/t.tex", "x"}}, out), HasSubstr("latex"));
  EXPECT_EQ(Content(out / "report.md"), "old\n");
  EXPECT_THAT(Listed(out), testing::ElementsAre("csv", "csv/t.csv", "csv/t.csv/full", "latex", "report.md"));
}

}  // namespace
}  // namespace fullband
