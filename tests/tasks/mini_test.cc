// The bundled data: written by the generator as it stands, fair, and right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "common/paths.h"
#include "tasks/fewshot.h"
#include "tasks/readers.h"
#include "tasks/task_data.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Item> Read(const std::string& reader, const std::string& name) {
  const std::filesystem::path path = HomeFolder() / "tasks" / "mini" / name;
  return ReadItems(*FindReader(reader), BytesOf(path), path);
}

TEST(MiniSuites, AreWhatTheGeneratorWrites) {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const TempFolder folder;
  const std::string script = (HomeFolder() / "scripts" / "make_mini").string();
  ASSERT_EQ(
      std::system(("python3 '" + script + "' --out '" + folder.path().string() + "' > /dev/null").c_str()),
      0);
  for (const char* name : {"mini_gsm8k.jsonl", "mini_gsm8k_shots.jsonl", "mini_choice.jsonl"})
    EXPECT_EQ(BytesOf(folder.path() / name), BytesOf(HomeFolder() / "tasks" / "mini" / name)) << name;
  ASSERT_EQ(
      std::system(
          ("python3 '" + script + "' --seed 2 --out '" + folder.path().string() + "' > /dev/null").c_str()),
      0);
  EXPECT_NE(BytesOf(folder.path() / "mini_choice.jsonl"),
            BytesOf(HomeFolder() / "tasks" / "mini" / "mini_choice.jsonl"));
}

TEST(MiniSuites, ItemsAreUniqueAndShotsApart) {
  std::set<std::string> problems;
  const std::vector<Item> asked = Read("gsm8k_jsonl", "mini_gsm8k.jsonl"),
                          shots = Read("gsm8k_jsonl", "mini_gsm8k_shots.jsonl");
  for (const std::vector<Item>& items : {asked, shots})
    for (const Item& item : items)
      problems.insert(NormalisedQuestion(item.fields["question"].get<std::string>()));
  EXPECT_EQ(problems.size(), asked.size() + shots.size());
  EXPECT_EQ(asked.size(), 500u);
  EXPECT_EQ(shots.size(), 60u);
  std::set<std::string> queries;
  const std::vector<Item> choices = Read("multiple_choice_jsonl", "mini_choice.jsonl");
  for (const Item& item : choices)
    queries.insert(NormalisedQuestion(item.fields["query"].get<std::string>()));
  EXPECT_EQ(queries.size(), choices.size());
  EXPECT_EQ(choices.size(), 500u);
}

// Every worked step holds, and the last one's result is the answer.
TEST(MiniSuites, StepsAreRight) {
  const std::regex step(R"((\d+) ([-+*/]) (\d+) = \$?(\d+))");
  for (const char* name : {"mini_gsm8k.jsonl", "mini_gsm8k_shots.jsonl"}) {
    for (const Item& item : Read("gsm8k_jsonl", name)) {
      const std::string answer = item.fields["answer"];
      long last = -1;
      for (std::sregex_iterator it(answer.begin(), answer.end(), step), end; it != end; ++it) {
        const long a = std::stol((*it)[1]), b = std::stol((*it)[3]);
        last = std::stol((*it)[4]);
        const char op = (*it)[2].str()[0];
        EXPECT_EQ(last, op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b) << answer;
        if (op == '/') {
          EXPECT_EQ(a % b, 0) << answer;
        }
      }
      EXPECT_EQ(std::to_string(last), item.fields["final"].get<std::string>()) << answer;
    }
  }
}

// Nothing but the question tells the right choice: not its place, its length or, among numbers, its rank.
TEST(MiniSuites, ChoicesGiveNothingAway) {
  const std::vector<Item> items = Read("multiple_choice_jsonl", "mini_choice.jsonl");
  std::vector<int> places(4, 0), ranks(4, 0);
  double longest = 0, shortest = 0;
  int numeric = 0;
  for (const Item& item : items) {
    const std::vector<std::string> choices = ChoiceTexts(item);
    ASSERT_EQ(choices.size(), 4u);
    EXPECT_EQ(std::set<std::string>(choices.begin(), choices.end()).size(), 4u);
    const std::string& right = choices[GoldChoice(item)];
    ++places[GoldChoice(item)];
    const auto share = [&](auto wins) {  // of a guess at the longest (shortest) choice, ties broken at random
      const auto best = std::count_if(choices.begin(), choices.end(), [&](const std::string& choice) {
        return std::none_of(choices.begin(), choices.end(),
                            [&](const auto& other) { return wins(other, choice); });
      });
      return std::any_of(choices.begin(), choices.end(),
                         [&](const auto& other) { return wins(other, right); })
                 ? 0.0
                 : 1.0 / static_cast<double>(best);
    };
    longest += share([](const auto& a, const auto& b) { return a.size() > b.size(); });
    shortest += share([](const auto& a, const auto& b) { return a.size() < b.size(); });
    const std::string query = item.fields["query"];
    const bool computed = query.rfind("What is", 0) == 0 || query.rfind("Which number comes", 0) == 0;
    if (!computed || right.find_first_not_of("0123456789") != std::string::npos) continue;
    ++numeric;
    ++ranks[static_cast<size_t>(std::count_if(choices.begin(), choices.end(), [&](const auto& choice) {
      return std::stol(choice) < std::stol(right);
    }))];
  }
  for (const int count : places) EXPECT_EQ(count, 125);
  EXPECT_NEAR(longest / 500, 0.25, 0.06);
  EXPECT_NEAR(shortest / 500, 0.25, 0.06);
  for (const int count : ranks) EXPECT_NEAR(count, numeric / 4.0, numeric / 8.0);
}

}  // namespace
}  // namespace fullband
