#include "reports/document/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace fullband {
namespace {

using testing::ElementsAre;

Table Named(const std::string& name) { return {name, {{"x"}}, {{"1"}}}; }

std::vector<std::string> NamesOf(const Document& document) {
  std::vector<std::string> names;
  for (const NamedTable& table : TablesOf(document)) names.push_back(table.name);
  return names;
}

TEST(Tables, SafeNamesAreFilesNames) {
  EXPECT_EQ(SafeName("gsm8k"), "gsm8k");
  EXPECT_EQ(SafeName("by kind and difficulty"), "by_kind_and_difficulty");
  EXPECT_EQ(SafeName("../../etc/passwd"), "etc_passwd");
  EXPECT_EQ(SafeName(".hidden-1.5"), "hidden-1.5");
  EXPECT_EQ(SafeName("é|<b>"), "b");
  EXPECT_EQ(SafeName(""), "unnamed");
  EXPECT_EQ(SafeName("/"), "unnamed");
}

TEST(Tables, AreNamedAfterSectionAndTable) {
  Document document{"t", {Named("models")}, {}};
  document.sections.push_back({"GSM8K", "gsm8k", {Paragraph{"p"}}});
  document.sections[0].sections.push_back({"Accuracy", "gsm8k_accuracy", {Named("accuracy")}});
  document.sections[0].sections.push_back({"Pairs", "gsm8k_pairs", {Named("accuracy"), Named("lengths")}});
  EXPECT_THAT(NamesOf(document),
              ElementsAre("models", "gsm8k_accuracy", "gsm8k_pairs_accuracy", "gsm8k_pairs_lengths"));
  EXPECT_EQ(TablesOf(document)[0].section, nullptr);
  EXPECT_EQ(TablesOf(document)[2].section, &document.sections[0].sections[1]);
}

// Suites "a b" and "a/b" of one store, and a file system that knows no case.
TEST(Tables, NoTwoHaveOneName) {
  Document document{"t", {}, {}};
  for (const char* name : {"a b", "a/b", "A_B", "a_b_2"})
    document.sections.push_back({name, name, {Named("accuracy")}});
  EXPECT_THAT(NamesOf(document),
              ElementsAre("a_b_accuracy", "a_b_accuracy_2", "A_B_accuracy_3", "a_b_2_accuracy"));
}

TEST(Tables, ARowOfAnotherLengthIsAFault) {
  Document document{"t", {Named("models")}, {}};
  std::get<Table>(document.head[0]).rows.push_back({"1", "2"});
  EXPECT_THROW(TablesOf(document), std::logic_error);
}

}  // namespace
}  // namespace fullband
