#include "common/names.h"

#include <gmock/gmock.h>

namespace fullband {
namespace {

TEST(NearNames, FindsTyposAndParts) {
  const std::vector<std::string> known = {"gsm8k", "arc_easy", "mini_gsm8k", "mini_choice"};
  EXPECT_THAT(NearNames("gsm8", known), testing::Contains("gsm8k"));
  EXPECT_THAT(NearNames("arc_esay", known), testing::ElementsAre("arc_easy"));
  EXPECT_THAT(NearNames("zzzzzzzz", known), testing::IsEmpty());
}

TEST(DidYouMean, ListsAllWhereNothingIsNear) {
  EXPECT_EQ(DidYouMean("zzzzzzz", {"a_name", "b_name"}), "known: a_name, b_name");
}

}  // namespace
}  // namespace fullband
