// TOML files read strictly: types, ranges, places, keys that nobody asked for.
#include "common/toml_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fullband {
namespace {

using testing::ElementsAre;

constexpr char kText[] = R"(word = "a"
number = 2
fraction = 0.5
numbers = [1, 3]
mixed = [1, "b"]
[[part]]
name = "x"
[[part]]
name = "y"
more = 1
[inner]
yes = true
)";

struct TomlTableTest : testing::Test {
  toml::table parsed = toml::parse(kText);
  TomlTable table{parsed, "a.toml", "test file"};

  std::string ErrorOf(const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(TomlTableTest, TakesWhatIsOfTheType) {
  EXPECT_EQ(table.Text("word"), "a");
  EXPECT_TRUE(table.IsText("word"));
  EXPECT_FALSE(table.IsText("number"));
  EXPECT_FALSE(table.IsText("absent"));
  EXPECT_EQ(table.Integer("number", 0, 5), 2);
  EXPECT_EQ(table.Number("number"), 2.0);
  EXPECT_EQ(table.Number("fraction"), 0.5);
  EXPECT_THAT(table.Integers("number", 0, 5), ElementsAre(2));
  EXPECT_THAT(table.Integers("numbers", 0, 5), ElementsAre(1, 3));
  EXPECT_TRUE(table.Table("inner").Boolean("yes", false));
  std::vector<std::string> names;
  for (TomlTable& part : table.Tables("part")) names.push_back(part.Text("name"));
  EXPECT_THAT(names, ElementsAre("x", "y"));
  EXPECT_TRUE(table.Tables("absent").empty());
}

TEST_F(TomlTableTest, NamesFileLineAndKeyOfWhatIsNot) {
  EXPECT_EQ(ErrorOf([&] { table.Number("word"); }), "a.toml, line 1, word: is of type string, not a number");
  EXPECT_EQ(ErrorOf([&] { table.Integer("number", 3, 5); }),
            "a.toml, line 2, number: is 2 (allowed: 3 to 5)");
  EXPECT_EQ(ErrorOf([&] { table.Integers("fraction", 0, 5); }),
            "a.toml, line 3, fraction: is of type floating-point, not a whole number");
  EXPECT_EQ(ErrorOf([&] { table.Integers("numbers", 0, 2); }),
            "a.toml, line 4, numbers: is 3 (allowed: 0 to 2)");
  EXPECT_EQ(ErrorOf([&] { table.Integers("mixed", 0, 2); }),
            "a.toml, line 5, mixed: is of type string, not a whole number");
  EXPECT_EQ(ErrorOf([&] { table.Tables("inner"); }),
            "a.toml, line 11, inner: is of type table, not an array of tables (write [[inner]] above each)");
  EXPECT_EQ(
      ErrorOf([&] { table.Tables("numbers"); }),
      "a.toml, line 4, numbers: is of type array, not an array of tables (write [[numbers]] above each)");
  EXPECT_THAT(ErrorOf([&] { table.Text("absent"); }), testing::HasSubstr("a test file must state it"));
  EXPECT_EQ(table.Place("number"), "a.toml, line 2, number");
}

TEST_F(TomlTableTest, RefusesKeysThatNobodyAskedFor) {
  std::vector<TomlTable> parts = table.Tables("part");
  for (TomlTable& part : parts) part.Text("name");
  parts[0].Finish();
  EXPECT_THAT(ErrorOf([&] { parts[1].Finish(); }),
              testing::HasSubstr("a.toml, line 10, part.more: is not a key of a test file"));
}

}  // namespace
}  // namespace fullband
