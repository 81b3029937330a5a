#include "evals/sample_thoughts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/error.h"
#include "evals/identity.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_tokenizer.h"

namespace fullband {
namespace {

using testing::HasSubstr;

constexpr int32_t kOpen = 90, kClose = 91, kEnd = 92;

// A trace whose tokens are these texts; one of no text is a special token.
struct Piece {
  std::string text;
  int32_t id = 1;
};

SampleRecord Trace(const std::vector<Piece>& pieces, const std::string& prompt_end = "Q:") {
  SampleRecord sample;
  sample.prompt_end = prompt_end;
  for (const Piece& piece : pieces) {
    sample.text += piece.text;
    sample.tokens.push_back(piece.id);
    sample.text_ends.push_back(static_cast<int32_t>(sample.text.size()));
    sample.trace_tokens += !piece.text.empty();
  }
  return sample;
}

ThoughtMarkers Special() {
  ThoughtMarkers markers{"[THINK]", "[/THINK]"};
  markers.open_token = kOpen;
  markers.close_token = kClose;
  return markers;
}

TEST(SampleThoughts, TokensAreCountedApart) {
  const ThoughtCounts counts = CountThoughts(
      Trace({{"<think>"}, {"so"}, {" 7"}, {"</think>"}, {"\n"}, {"It is"}, {" 7"}, {"", kEnd}}), {});
  EXPECT_EQ(counts.thought, 4);
  EXPECT_EQ(counts.visible, 3);
  EXPECT_FALSE(counts.unfinished);
}

TEST(SampleThoughts, AMarkerOfSeveralTokensCountsWhereItBegins) {
  const ThoughtCounts counts =
      CountThoughts(Trace({{"a <"}, {"thi"}, {"nk> b"}, {"</"}, {"think> c"}, {" d"}}), {});
  EXPECT_EQ(counts.thought, 4);  // the first token begins before it
  EXPECT_EQ(counts.visible, 2);
}

TEST(SampleThoughts, SpecialTokensGiveNoTextAndStillMark) {
  const SampleRecord sample = Trace({{"", kOpen}, {"a"}, {"b"}, {"", kClose}, {"c"}, {"", kEnd}});
  const ThoughtCounts counts = CountThoughts(sample, Special());
  EXPECT_EQ(counts.thought, 2);
  EXPECT_EQ(counts.visible, 1);
  EXPECT_EQ(WithoutThoughts(sample.text, FindThoughts(sample, Special())).text, "c");
  // By text alone nothing would be seen of it.
  EXPECT_EQ(CountThoughts(sample, {}).thought, 0);
  // Spelt out, such a marker is text as any other.
  EXPECT_EQ(CountThoughts(Trace({{"[THINK]"}, {"a"}}), Special()).thought, 0);
  EXPECT_TRUE(CountThoughts(Trace({{"a"}, {"", kOpen}, {"b"}}), Special()).unfinished);
}

TEST(SampleThoughts, ThePromptMayOpenOne) {
  for (const char* prompt : {"user\n<think>", "user\n<think>\n", "<think> \n\n"}) {
    const ThoughtCounts counts = CountThoughts(Trace({{"a"}, {"b"}, {"</think>"}, {"c"}}, prompt), {});
    EXPECT_EQ(counts.thought, 3) << prompt;
    EXPECT_TRUE(CountThoughts(Trace({{"a"}, {"b"}}, prompt), {}).unfinished) << prompt;
  }
  // A template that switches thinking off closes it, too.
  EXPECT_EQ(CountThoughts(Trace({{"a"}, {"b"}}, "<think>\n\n</think>\n\n"), {}).thought, 0);
  EXPECT_EQ(CountThoughts(Trace({{"a"}}, "user [THINK]"), Special()).thought, 1);
}

TEST(SampleThoughts, PartsOfCharactersCountWhereTheCharacterStands) {
  // The four bytes of one character as two tokens, inside and outside.
  SampleRecord sample =
      Trace({{"<think>"}, {""}, {"\xF0\x9F\x98\x80"}, {"</think>"}, {""}, {"\xF0\x9F\x98\x80"}, {"", kEnd}});
  sample.trace_tokens = 6;
  const ThoughtCounts counts = CountThoughts(sample, {});
  EXPECT_EQ(counts.thought, 4);
  EXPECT_EQ(counts.visible, 2);
}

TEST(SampleThoughts, WhatAStopStringCutCountsNowhere) {
  SampleRecord sample = Trace({{"<think>"}, {"a"}, {" Question: b"}});
  sample.text = "<think>a";
  sample.trace_tokens = 2;
  const ThoughtCounts counts = CountThoughts(sample, {});
  EXPECT_EQ(counts.thought, 2);
  EXPECT_EQ(counts.visible, 0);
  EXPECT_TRUE(counts.unfinished);
}

TEST(Markers, AreTwoTexts) {
  const ThoughtMarkers markers = ParseMarkers("[a],[/a]", "--think");
  EXPECT_EQ(markers.open, "[a]");
  EXPECT_EQ(markers.close, "[/a]");
  for (const char* wrong : {"", "x", ",", "a,", ",b", "a,b,c", "a,a", "ab,b", "a,ab"}) {
    try {
      ParseMarkers(wrong, "--think");
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_EQ(error.subject(), "--think");
    }
  }
}

TEST(Markers, MayBeNamedInTheModelsFolder) {
  const TempFolder folder;
  EXPECT_FALSE(MarkersInFolder(folder.path()));
  const auto write = [&](const std::string& text) {
    std::ofstream(folder / "tokenizer_config.json") << text;
  };
  write(R"({"eos_token": "</s>"})");
  EXPECT_FALSE(MarkersInFolder(folder.path()));
  write(R"({"fullband": {"think": ["<a>", "</a>"]}})");
  EXPECT_EQ(MarkersInFolder(folder.path())->close, "</a>");
  for (const char* wrong :
       {R"("<a>,</a>")", R"(["<a>"])", R"(["<a>", 1])", R"(["", "b"])", R"(["a", "a"])"}) {
    write(std::string(R"({"fullband": {"think": )") + wrong + "}}");
    try {
      MarkersInFolder(folder.path());
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_THAT(error.subject(), HasSubstr("tokenizer_config.json, fullband.think"));
    }
  }
}

TEST(Markers, OfAModelAreThoseGivenOrThoseOfItsTokenizer) {
  const auto plain = MakeTestTokenizer({"<end>", "a"}, {0});
  EXPECT_EQ(MarkersOfModel({}, *plain), ThoughtMarkers());
  const auto thinking = MakeTestTokenizer({"<end>", "[THINK]", "[/THINK]", "</a>"}, {0, 1, 2, 3});
  ThoughtMarkers markers = MarkersOfModel({}, *thinking);
  EXPECT_EQ(markers.open, "[THINK]");
  EXPECT_EQ(markers.open_token, 1);
  EXPECT_EQ(markers.close_token, 2);
  markers = MarkersOfModel(ThoughtMarkers{"<a>", "</a>"}, *thinking);
  EXPECT_EQ(markers.open, "<a>");
  EXPECT_EQ(markers.open_token, -1);
  EXPECT_EQ(markers.close_token, 3);
  // A token of its own that is not special gives text.
  EXPECT_EQ(MarkersOfModel({}, *MakeTestTokenizer({"<end>", "<think>", "</think>"}, {0})), ThoughtMarkers());
}

TEST(Markers, StandInARunsIdentityWhereTheyAreNotTheUsualOnes) {
  RunIdentity identity;
  EXPECT_FALSE(IdentityJson(identity).contains("thoughts"));
  const std::string key = RunKey(identity);
  identity.model.thoughts = Special();
  EXPECT_NE(RunKey(identity), key);
  RunRecord run;
  run.identity = IdentityJson(identity).dump();
  EXPECT_EQ(MarkersOfRun(run), Special());
  run.identity = "{}";
  EXPECT_EQ(MarkersOfRun(run), ThoughtMarkers());
}

TEST(Markers, ChangeNothingWhereChoicesAreAsked) {
  ModelIdentity model;
  model.thoughts = Special();
  Task task;
  task.suite.ask = Ask::kChoose;
  EXPECT_FALSE(IdentityJson(Identify(model, task, Setting::Parse("standard"), {})).contains("thoughts"));
  task.suite.ask = Ask::kGenerate;
  EXPECT_TRUE(IdentityJson(Identify(model, task, Setting::Parse("standard"), {})).contains("thoughts"));
}

}  // namespace
}  // namespace fullband
