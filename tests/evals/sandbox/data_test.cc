// The data sets' own solutions, where the data are at hand.
#include <gtest/gtest.h>

#include <boost/process/io.hpp>
#include <boost/process/system.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "evals/sandbox/assemble.h"
#include "tests/evals/sandbox/usable.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

std::vector<nlohmann::json> ReadLines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

class Solutions : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (!IsSkipped() && !SharedDatasets()) GTEST_SKIP() << "no shared/datasets";
  }

  static void AllPass(const std::vector<Program>& programs, const std::vector<std::string>& ids) {
    Limits limits;
    limits.wall_seconds = 120;  // other tests may run beside
    limits.cpu_seconds = 30;
    int passed = 0;
    double wall = 0;
    const std::vector<ProgramResult> results = TheSandbox().sandbox->RunAll(programs, limits);
    for (size_t i = 0; i < results.size(); ++i) {
      const ProgramResult& result = results[i];
      EXPECT_EQ(result.detail_text(), "passed") << ids[i] << ": " << result.message;
      EXPECT_EQ(result.tests_run, result.tests) << ids[i];
      EXPECT_TRUE(result.suspicious.empty()) << ids[i] << ": " << result.suspicious.front();
      passed += result.detail == Detail::kPassed;
      wall += result.wall_seconds;
    }
    std::cout << passed << " of " << results.size() << " passed, " << wall << " s in all\n";
  }
};

TEST_F(Solutions, OfHumanEvalPass) {
  const TempFolder folder;
  const std::filesystem::path unpacked = folder.path() / "HumanEval.jsonl";
  const auto packed = *SharedDatasets() / "humaneval" / "HumanEval.jsonl.gz";
  ASSERT_EQ(boost::process::system("/bin/gzip", "-dc", packed.string(),
                                   boost::process::std_out > unpacked.string()),
            0);
  std::vector<Program> programs;
  std::vector<std::string> ids;
  for (const nlohmann::json& row : ReadLines(unpacked)) {
    programs.push_back(
        HumanEvalProgram(row["prompt"].get<std::string>(), row["canonical_solution"].get<std::string>(),
                         row["test"].get<std::string>(), row["entry_point"].get<std::string>()));
    ids.push_back(row["task_id"]);
  }
  EXPECT_EQ(programs.size(), 164u);
  AllPass(programs, ids);
}

TEST_F(Solutions, OfMbppPass) {
  std::vector<Program> programs;
  std::vector<std::string> ids;
  for (const nlohmann::json& row : ReadLines(*SharedDatasets() / "mbpp" / "mbpp.jsonl")) {
    const int id = row["task_id"];
    if (id < 11 || id > 510) continue;
    programs.push_back(MbppProgram(row["code"].get<std::string>(), row["test_setup_code"].get<std::string>(),
                                   row["test_list"].get<std::vector<std::string>>()));
    ids.push_back(std::to_string(id));
  }
  EXPECT_EQ(programs.size(), 500u);
  AllPass(programs, ids);
}

}  // namespace
}  // namespace fullband
