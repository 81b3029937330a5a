#include "reports/charts/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/error.h"
#include "common/paths.h"
#include "tests/reports/charts/made_runs.h"

namespace fullband {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

// A folder that goes with the test.
class Render : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(PythonInterpreter())) GTEST_SKIP() << "no Python environment (run scripts/setup)";
    folder_ = fs::temp_directory_path() / ("charts_" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<Chart> charts_ = ChartsOf(MakeSweep({{"toy"}, {"standard", "latent"}, 40}));
  fs::path folder_;
};

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

std::string WordsOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Render, DrawsEveryChartInOrder) {
  std::vector<Chart> many;  // more than one process draws
  for (int i = 0; i < 5; ++i) many.insert(many.end(), charts_.begin(), charts_.end());
  for (size_t i = 0; i < many.size(); ++i) many[i].title = "number " + std::to_string(i) + " of them";
  const std::vector<std::string> drawn = RenderCharts(many, ChartTheme::kPage);
  ASSERT_EQ(drawn.size(), many.size());
  for (size_t i = 0; i < many.size(); ++i) {
    EXPECT_THAT(drawn[i], HasSubstr("aria-label=\"number " + std::to_string(i) + " of them\""));
    EXPECT_THAT(drawn[i], StartsWith("<svg "));
    EXPECT_THAT(drawn[i], HasSubstr("var(--chart-ink, "));
  }
  // The same chart is the same drawing, whoever drew it.
  const std::vector<std::string> once = RenderCharts(charts_, ChartTheme::kPage);
  const size_t last = many.size() - 1;
  EXPECT_EQ(drawn[last].substr(drawn[last].find("><")), once.back().substr(once.back().find("><")));
  EXPECT_TRUE(RenderCharts({}, ChartTheme::kLight).empty());
}

TEST_F(Render, ThemesDifferInColoursOnly) {
  const auto light = ChartColours(ChartTheme::kLight), dark = ChartColours(ChartTheme::kDark);
  ASSERT_EQ(light.size(), dark.size());
  std::string drawn = RenderCharts(charts_, ChartTheme::kLight)[0];
  const std::string expected = RenderCharts(charts_, ChartTheme::kDark)[0];
  EXPECT_THAT(drawn, HasSubstr(light.at("--chart-ink")));
  EXPECT_THAT(drawn, Not(HasSubstr("var(")));
  for (const auto& [name, colour] : light) {
    for (size_t at = 0; (at = drawn.find('"' + colour + '"')) != std::string::npos;)
      drawn.replace(at + 1, colour.size(), dark.at(name));
  }
  EXPECT_EQ(drawn, expected);
}

TEST_F(Render, WritesFiles) {
  const Section inner = {"Inner", "gsm8k_pairs", {charts_[1], charts_[1]}};
  const Section suite = {"Suite", "gsm8k", {Paragraph{"no chart"}, charts_[0]}, {inner}};
  const Document document = {"Report", {}, {suite}};
  const std::vector<fs::path> files =
      WriteChartFiles(document, {.svg = true, .pdf = true}, folder_ / "charts");
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename());
  EXPECT_THAT(
      names,
      ElementsAre("gsm8k_accuracy.svg", "gsm8k_accuracy.dark.svg", "gsm8k_accuracy.pdf",
                  "gsm8k_pairs_accuracy_differences.svg", "gsm8k_pairs_accuracy_differences.dark.svg",
                  "gsm8k_pairs_accuracy_differences.pdf", "gsm8k_pairs_accuracy_differences_2.svg",
                  "gsm8k_pairs_accuracy_differences_2.dark.svg", "gsm8k_pairs_accuracy_differences_2.pdf"));
  EXPECT_EQ(Read(files[0]), RenderCharts(std::span(charts_).subspan(0, 1), ChartTheme::kLight)[0]);
  const std::string pdf = Read(files[2]);
  EXPECT_THAT(pdf, StartsWith("%PDF-1."));
  EXPECT_THAT(pdf.substr(pdf.size() - 8), HasSubstr("%%EOF"));
  size_t there = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "charts")) ++there;
  EXPECT_EQ(there, files.size());  // and nothing else
  EXPECT_EQ(WriteChartFiles(document, {.pdf = true}, folder_ / "again").size(), 3);
  EXPECT_EQ(Read(folder_ / "again" / "gsm8k_accuracy.pdf"), pdf);  // the same bytes
}

TEST_F(Render, SaysWhichChartCannotBeDrawn) {
  charts_[2].spec["mark"] = "no such mark";
  charts_[2].spec.erase("layer");
  EXPECT_THAT(WordsOf([&] { RenderCharts(charts_, ChartTheme::kLight); }),
              HasSubstr("chart " + charts_[2].name + ": "));
}

TEST_F(Render, SaysWhatToInstall) {
  const Variable variable("FULLBAND_PYTHON", "/no/such/python3");
  EXPECT_THAT(WordsOf([&] { RenderCharts(charts_, ChartTheme::kLight); }), HasSubstr("scripts/setup"));
}

TEST_F(Render, SaysWhichPackageIsMissing) {
  constexpr char kBare[] = "/usr/bin/python3";  // of the system, without our packages
  if (!fs::exists(kBare)) GTEST_SKIP() << kBare << " is missing";
  const Variable variable("FULLBAND_PYTHON", kBare);
  const std::string words = WordsOf([&] { RenderCharts(charts_, ChartTheme::kLight); });
  if (words == "no error") GTEST_SKIP() << kBare << " has vl_convert";
  EXPECT_THAT(words, AllOf(HasSubstr("vl_convert"), HasSubstr("scripts/setup")));
}

TEST_F(Render, SaysWhereItCannotWrite) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "in the way";
  const Document document = {"Report", {charts_[0]}, {}};
  EXPECT_THAT(WordsOf([&] { WriteChartFiles(document, {.svg = true}, folder_ / "file" / "charts"); }),
              HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace fullband
