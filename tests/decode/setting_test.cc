#include "engine/decode/setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace fullband {
namespace {

using ::testing::HasSubstr;

TEST(Setting, NamesComeBackAsTheyAreWritten) {
  for (const char* name : {"standard", "standard@2", "standard@exact", "standard@2:stale", "latent",
                           "latent@2", "latent@3", "latent@exact", "latent@exact:zero",
                           "latent:constant_gate", "latent@17:reversed", "parallel@2", "parallel@4:stale"})
    EXPECT_EQ(Setting::Parse(name).Name(), name);
}

TEST(Setting, WhatMeansTheSameIsWrittenOneWay) {
  const std::pair<const char*, const char*> same[] = {
      {"standard@1", "standard"},      {"parallel@1", "standard"}, {"parallel", "standard"},
      {"latent@1", "latent"},          {"latent@02", "latent@2"},  {"parallel@exact", "latent@exact"},
      {"latent@1:zero", "latent:zero"}};
  for (const auto& [written, name] : same) {
    EXPECT_EQ(Setting::Parse(written).Name(), name);
    EXPECT_EQ(Setting::Parse(written), Setting::Parse(name));
  }
}

TEST(Setting, FeedbackIsUsedWhereAnInputIsFused) {
  for (const char* name : {"standard", "parallel@1"})
    EXPECT_FALSE(Setting::Parse(name).UsesFeedback()) << name;
  for (const char* name : {"standard@2", "standard@exact", "latent", "latent@exact", "parallel@2"})
    EXPECT_TRUE(Setting::Parse(name).UsesFeedback()) << name;
}

std::string Refusal(const std::string& name) {
  try {
    Setting::Parse(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.subject(), HasSubstr("'" + name + "'"));
    return error.why() + " / " + error.remedy();
  }
  return "accepted";
}

TEST(Setting, WhatIsNoSettingIsRefusedWithNearNames) {
  EXPECT_THAT(Refusal("latnet"), HasSubstr("did you mean latent"));
  EXPECT_THAT(Refusal("Standard"), HasSubstr("standard"));
  EXPECT_THAT(Refusal("latent:stael"), HasSubstr("did you mean stale"));
  for (const char* name : {"", "latent@", "latent@0", "latent@-1", "latent@two", "latent@1.5", "latent@ 2",
                           "latent@+2", "latent@99999999999999999999", "latent@2@3",
                           "latent:", "latent:zero:stale", " latent", "latent@exact2", "latent:zero@2"})
    EXPECT_NE(Refusal(name), "accepted") << name;
}

TEST(Setting, AControlNeedsAFusedPosition) {
  for (const char* name : {"standard:zero", "standard@1:stale", "parallel@1:zero", "parallel:reversed"})
    EXPECT_THAT(Refusal(name), HasSubstr("fused")) << name;
}

std::string ModelRefusal(const char* name, Fusion fusion) {
  try {
    CheckSetting(Setting::Parse(name), fusion);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(Setting, AnOrdinaryModelHasNoLatentSettings) {
  EXPECT_EQ(ModelRefusal("standard", Fusion::kNone), "accepted");
  for (const char* name : {"latent", "standard@2", "parallel@2", "standard@exact"}) {
    const std::string refusal = ModelRefusal(name, Fusion::kNone);
    EXPECT_THAT(refusal, HasSubstr("latent_feedback.state_proj.weight"));
    EXPECT_THAT(refusal, HasSubstr("latent_feedback.token_gate.weight"));
  }
}

TEST(Setting, AdditiveFusionHasNoGate) {
  EXPECT_THAT(ModelRefusal("latent:constant_gate", Fusion::kAdditive), HasSubstr("additive"));
  EXPECT_EQ(ModelRefusal("latent:constant_gate", Fusion::kGlu), "accepted");
  EXPECT_EQ(ModelRefusal("latent:stale", Fusion::kAdditive), "accepted");
}

}  // namespace
}  // namespace fullband
