#include "tasks/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.h"
#include "common/hash.h"
#include "common/paths.h"

namespace fullband {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ChatTemplateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("chat_template_test_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  void WriteConfig(const json& config) { Write("tokenizer_config.json", config.dump()); }
  std::string WhyRefused() {
    try {
      ChatTemplate refused(folder_);
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }
  std::string RenderHello() { return ChatTemplate(folder_).Render({{"user", "hello"}}, false); }

  fs::path folder_;
};

class RenderedTemplateTest : public ChatTemplateTest {
 protected:
  void SetUp() override {
    ChatTemplateTest::SetUp();
    if (!fs::exists(PythonInterpreter()))
      GTEST_SKIP() << PythonInterpreter() << " is missing (run scripts/setup)";
  }
};

std::vector<ChatMessage> Messages(const json& list) {
  std::vector<ChatMessage> messages;
  for (const json& message : list) messages.push_back({message["role"], message["content"]});
  return messages;
}

// Counts the cases that agree with the recorded outcome of Hugging Face's apply_chat_template.
int CheckCases(const json& recorded, const std::string& name, ChatTemplate& chat) {
  int checked = 0;
  for (const json& expected : recorded["cases"]) {
    if (expected["template"] != name) continue;
    SCOPED_TRACE(expected.dump());
    ++checked;
    const bool prompt = expected["add_generation_prompt"];
    if (expected.contains("text")) {
      EXPECT_EQ(chat.Render(Messages(expected["messages"]), prompt), expected["text"].get<std::string>());
      continue;
    }
    try {
      chat.Render(Messages(expected["messages"]), prompt);
      ADD_FAILURE() << "no Error";
    } catch (const Error& error) {
      EXPECT_EQ(error.why(), expected["error"].get<std::string>());
    }
  }
  return checked;
}

json Recorded() {
  std::ifstream file(fs::path(FULLBAND_TEST_DATA) / "peers" / "chat_templates.json");
  return json::parse(file);
}

TEST_F(RenderedTemplateTest, RendersAsHuggingFaceDoes) {
  const json recorded = Recorded();
  for (const auto& [name, text] : recorded["templates"].items()) {
    json config = recorded["tokens"];
    config["chat_template"] = text;
    WriteConfig(config);
    ChatTemplate chat(folder_);
    EXPECT_EQ(CheckCases(recorded, name, chat), 12) << name;
  }
}

TEST_F(RenderedTemplateTest, RendersSmolLm2) {
  const fs::path model = HomeFolder() / "models" / "smollm2-135m-instruct";
  if (!fs::exists(model)) GTEST_SKIP() << model << " is missing (scripts/test makes it)";
  ChatTemplate chat(model);
  EXPECT_EQ(CheckCases(Recorded(), "smollm2", chat), 12);
}

TEST_F(RenderedTemplateTest, TheTemplateFileComesFirst) {
  Write("chat_template.jinja", "file {{ messages[0].content }}");
  WriteConfig({{"chat_template", "config"}});
  EXPECT_EQ(RenderHello(), "file hello");
}

TEST_F(RenderedTemplateTest, TakesTheDefaultOfAList) {
  WriteConfig(
      {{"chat_template",
        {{{"name", "tool_use"}, {"template", "tools"}}, {{"name", "default"}, {"template", "default"}}}}});
  EXPECT_EQ(RenderHello(), "default");
}

TEST_F(RenderedTemplateTest, FallsBackOnTheProcessorsFile) {
  WriteConfig({{"chat_template", nullptr}});
  Write("chat_template.json", R"({"chat_template": "processor"})");
  EXPECT_EQ(RenderHello(), "processor");
}

TEST_F(RenderedTemplateTest, SpecialTokensMayBeObjectsOrNull) {
  WriteConfig({{"chat_template", "[{{ bos_token }}|{{ eos_token }}|{{ unk_token is defined }}]"},
               {"bos_token", {{"content", "<s>"}, {"lstrip", false}}},
               {"eos_token", "</s>"},
               {"unk_token", nullptr}});
  EXPECT_EQ(RenderHello(), "[<s>|</s>|False]");
}

TEST_F(RenderedTemplateTest, ASyntaxErrorNamesTheLine) {
  WriteConfig({{"chat_template", "fine\n{% if %}"}});
  try {
    RenderHello();
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("chat template: line 2: "));
  }
}

TEST_F(RenderedTemplateTest, TheSandboxKeepsTemplatesFromPython) {
  WriteConfig({{"chat_template", "{{ messages.__class__.__mro__ }}"}});
  EXPECT_THROW(RenderHello(), Error);
  WriteConfig({{"chat_template", "{{ messages.append(1) }}"}});
  EXPECT_THROW(RenderHello(), Error);
}

TEST_F(ChatTemplateTest, RefusesWhatHasNoTemplate) {
  EXPECT_THAT(WhyRefused(), HasSubstr("has no chat template (use --format completion)"));
  WriteConfig({{"bos_token", "<s>"}});
  EXPECT_THAT(WhyRefused(), HasSubstr("has no chat template"));
}

TEST_F(ChatTemplateTest, RefusesMalformedFilesByName) {
  Write("tokenizer_config.json", "{");
  EXPECT_THAT(WhyRefused(), HasSubstr("tokenizer_config.json: is not a JSON object"));
  WriteConfig({{"chat_template", 3}});
  EXPECT_THAT(WhyRefused(), HasSubstr("chat_template: is neither a string nor a list"));
  WriteConfig({{"chat_template", {{{"name", "tool_use"}, {"template", "x"}}}}});
  EXPECT_THAT(WhyRefused(), HasSubstr("no template named \"default\""));
}

TEST_F(ChatTemplateTest, TheHashIsOfTheTemplateAlone) {
  WriteConfig({{"chat_template", "text"}, {"bos_token", "<s>"}});
  EXPECT_EQ(ChatTemplate(folder_).sha256(), Sha256Hex("text"));
}

}  // namespace
}  // namespace fullband
