#include "reports/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.h"
#include "reports/report.h"
#include "tests/reports/synthetic_store.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& names) {
  try {
    FindFormats(names);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Formats, AreFoundByName) {
  const std::vector<const ReportFormat*> found = FindFormats({"csv", "md"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]->name, "csv");
  EXPECT_EQ(found[1]->name, "md");
  EXPECT_THAT(ErrorOf({"md", "latx"}), testing::AllOf(HasSubstr("--format latx"), HasSubstr("latex")));
  EXPECT_THAT(ErrorOf({"xyzzy"}), testing::AllOf(HasSubstr("md"), HasSubstr("csv")));
  EXPECT_THAT(ErrorOf({"md", "csv", "md"}), HasSubstr("stands twice"));
}

// Whatever formats there are: no two names alike, no two write one file, each writes below its folder.
TEST(Formats, WriteFilesOfTheirOwn) {
  TempFolder folder;
  const auto store = OpenStore(folder / "s.db", StoreMode::kReadWrite);
  AddSyntheticRun(*store, {"standard", {{"0", "correct", 10, "end", "correct"}}});
  AddSyntheticRun(*store, {"latent", {{"0", "incorrect", 12, "end", "correct"}}});
  const std::vector<RunResults> runs = ReadResults(*store);
  const Document document = BuildReport(store->path(), runs);
  std::vector<std::string> names, paths;
  for (const ReportFormat& format : ReportFormats()) {
    names.push_back(format.name);
    const std::vector<ReportFile> files = format.render({*store, runs, document});
    EXPECT_FALSE(files.empty()) << format.name;
    for (const ReportFile& file : files) {
      EXPECT_TRUE(file.path.is_relative()) << file.path;
      EXPECT_EQ(file.path.string().find(".."), std::string::npos);
      EXPECT_FALSE(file.content.empty()) << file.path;
      paths.push_back(file.path.string());
    }
  }
  for (std::vector<std::string>* list : {&names, &paths}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
  EXPECT_THAT(paths,
              testing::IsSupersetOf({"report.md", "csv/gsm8k_accuracy.csv", "csv/gsm8k_pairs_lengths.csv",
                                     "latex/report.tex", "latex/models.tex"}));
}

}  // namespace
}  // namespace fullband
