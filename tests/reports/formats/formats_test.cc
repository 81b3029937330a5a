#include "reports/formats/formats.h"

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
  const Document document = BuildReport(*store, runs);
  const std::filesystem::path out = folder / "out";
  std::vector<std::string> names, paths;
  for (const ReportFormat& format : ReportFormats()) {
    names.push_back(format.name);
    const std::vector<std::filesystem::path> written = format.write({*store, runs, document}, out);
    EXPECT_FALSE(written.empty()) << format.name;
    for (const std::filesystem::path& path : written) {
      const std::filesystem::path below = path.lexically_relative(out);
      EXPECT_NE(*below.begin(), "..") << path;
      EXPECT_GT(std::filesystem::file_size(path), 0) << path;
      paths.push_back(below.string());
    }
  }
  for (std::vector<std::string>* list : {&names, &paths}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
  EXPECT_THAT(paths, testing::IsSupersetOf({"report.md", "report.html", "csv/gsm8k_accuracy.csv",
                                            "latex/report.tex", "latex/models.tex",
                                            "charts/gsm8k_accuracy.svg", "charts/gsm8k_accuracy.pdf"}));
}

}  // namespace
}  // namespace fullband
