#include "common/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fullband {
namespace {

std::string FaultOf(const std::string& text) {
  try {
    ParseJson(text);
  } catch (const JsonFault& fault) {
    return fault.what();
  }
  return "";
}

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsWhatJsonIs) {
  EXPECT_EQ(ParseJson(R"({"a": [1, -2.5, "[[\"{", null]})")["a"][2], "[[\"{");
  EXPECT_EQ(FaultOf("\"" + std::string(1000, '[') + R"(\\")"), "");
  EXPECT_EQ(FaultOf("[" + std::string(2000, ' ') + "[],[]]"), "");
}

TEST(ParseJson, SaysWhereItGoesWrong) {
  EXPECT_EQ(FaultOf("{\"a\": }"), "it goes wrong at byte 7");
  EXPECT_EQ(FaultOf("\"\xff\""), "it goes wrong at byte 2");
  EXPECT_THAT(FaultOf(""), testing::HasSubstr("byte 1"));
  EXPECT_EQ(FaultOf("[1e999]"), "it has a number that is too large");
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(FaultOf(Nested(kMaxJsonDepth)), "");
  for (const int depth : {kMaxJsonDepth + 1, 1'000'000})
    EXPECT_EQ(FaultOf(Nested(depth)), "it is nested more than 200 deep");
  EXPECT_EQ(FaultOf(R"({"a\"": )" + Nested(kMaxJsonDepth) + "}"), "it is nested more than 200 deep");
}

TEST(ParseJson, HandsTheCallbackOn) {
  int keys = 0;
  ParseJson(R"({"a": {"b": 1}})", [&](int, nlohmann::json::parse_event_t event, nlohmann::json&) {
    keys += event == nlohmann::json::parse_event_t::key;
    return true;
  });
  EXPECT_EQ(keys, 2);
}

}  // namespace
}  // namespace fullband
