// Faults in tokenizer.json and tokenizer_config.json: each is refused, naming the file and the part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/error.h"
#include "tests/tokenizer/small_tokenizer.h"

namespace fullband {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

void ExpectFault(const TempFolder& folder, const std::string& subject, const std::string& why) {
  try {
    Tokenizer::Load(folder.path());
    ADD_FAILURE() << "accepted; expected: " << subject << ": " << why;
  } catch (const Error& error) {
    EXPECT_THAT(error.subject(), HasSubstr(subject)) << error.what();
    EXPECT_THAT(error.why(), HasSubstr(why)) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
  }
}

struct Fault {
  const char* name;
  std::function<void(Json&)> spoil;
  const char* subject;
  const char* why;
};

Json Nested(int depth) {
  Json part = {{"type", "NFC"}};
  for (int i = 0; i < depth; ++i) part = {{"type", "Sequence"}, {"normalizers", Json::array({part})}};
  return part;
}

Json SplitPart(const std::string& pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

void SetPreTokenizers(Json& j, std::vector<Json> parts) {
  j["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", parts}};
}

Json Template(const Json& single, const Json& special = Json::object()) {
  return {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", special}};
}

const Json kSequenceA = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
const Json kBos = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};

const Fault kFaults[] = {
    {"not an object", [](Json& j) { j = Json::array({1}); }, "tokenizer.json", "is array, not an object"},
    {"no model", [](Json& j) { j.erase("model"); }, "tokenizer.json", "has no \"model\""},
    {"model of a wrong type", [](Json& j) { j["model"] = 7; }, "tokenizer.json: model", "not an object"},
    {"another model", [](Json& j) { j["model"]["type"] = "Unigram"; }, "model.type", "kind \"Unigram\""},
    {"no vocab", [](Json& j) { j["model"].erase("vocab"); }, "model", "has no \"vocab\""},
    {"vocab is a list", [](Json& j) { j["model"]["vocab"] = Json::array(); }, "model.vocab", "is array"},
    {"no merges", [](Json& j) { j["model"].erase("merges"); }, "model", "has no \"merges\""},
    {"negative id", [](Json& j) { j["model"]["vocab"]["a"] = -1; }, "model.vocab: \"a\"",
     "is -1, not a token id"},
    {"huge id", [](Json& j) { j["model"]["vocab"]["a"] = 4000000000u; }, "model.vocab", "not a token id"},
    {"id is no number", [](Json& j) { j["model"]["vocab"]["a"] = "64"; }, "model.vocab", "not a token id"},
    {"two tokens, one id", [](Json& j) { j["model"]["vocab"]["aa"] = 64; }, "model.vocab",
     "the id 64 to both"},
    {"no token for a byte", [](Json& j) { j["model"]["vocab"].erase("a"); }, "model.vocab", "byte 0x61"},
    {"no byte-level vocab",
     [](Json& j) {
       j["model"]["vocab"] = {{"hello", 0}};
     },
     "model.vocab", "for the byte"},
    {"merge of unknown tokens", [](Json& j) { j["model"]["merges"] = {"a zz"}; }, "model.merges[0]",
     "\"zz\""},
    {"merge to an unknown token", [](Json& j) { j["model"]["merges"] = {"a b"}; }, "model.merges[0]",
     "\"ab\""},
    {"merge of one", [](Json& j) { j["model"]["merges"] = {"ab"}; }, "model.merges[0]", "one space"},
    {"merge of three",
     [](Json& j) {
       j["model"]["merges"] = Json::array({{"a", "b", "c"}});
     },
     "merges[0]", "3 parts"},
    {"merge is a number", [](Json& j) { j["model"]["merges"] = {5}; }, "model.merges[0]", "not a string"},
    {"dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }, "model.dropout", "is not null"},
    {"byte fallback", [](Json& j) { j["model"]["byte_fallback"] = true; }, "model.byte_fallback", "is true"},
    {"flag is no boolean", [](Json& j) { j["model"]["ignore_merges"] = "yes"; }, "ignore_merges",
     "not true or false"},
    {"subword prefix", [](Json& j) { j["model"]["continuing_subword_prefix"] = "##"; }, "prefix",
     "not empty"},
    {"unknown token unknown", [](Json& j) { j["model"]["unk_token"] = "<u>"; }, "model.unk_token", "\"<u>\""},
    {"another normalizer",
     [](Json& j) {
       j["normalizer"] = {{"type", "Lowercase"}};
     },
     "normalizer", "\"Lowercase\""},
    {"nested normalizers", [](Json& j) { j["normalizer"] = Nested(17); }, "normalizers[0]",
     "more than 16 deep"},
    {"normalizer without type", [](Json& j) { j["normalizer"] = Json::object(); }, "normalizer",
     "no \"type\""},
    {"no pre-tokenizer", [](Json& j) { j["pre_tokenizer"] = nullptr; }, "tokenizer.json",
     "no \"pre_tokenizer\""},
    {"another pre-tokenizer",
     [](Json& j) {
       j["pre_tokenizer"] = {{"type", "Metaspace"}};
     },
     "pre_tokenizer", "Metaspace"},
    {"not byte-level", [](Json& j) { j["pre_tokenizer"] = SplitPart("a"); }, "pre_tokenizer", "no ByteLevel"},
    {"byte-level not last",
     [](Json& j) {
       SetPreTokenizers(j, {j["pre_tokenizer"], SplitPart("a")});
     },
     "pretokenizers[1]", "after ByteLevel"},
    {"malformed expression",
     [](Json& j) {
       SetPreTokenizers(j, {SplitPart("(a"), j["pre_tokenizer"]});
     },
     "pretokenizers[0].pattern", "not a regular expression"},
    {"unsupported expression",
     [](Json& j) {
       SetPreTokenizers(j, {SplitPart("\\w"), j["pre_tokenizer"]});
     },
     "pretokenizers[0].pattern", "\\w"},
    {"no decoder", [](Json& j) { j.erase("decoder"); }, "tokenizer.json", "has no \"decoder\""},
    {"another decoder",
     [](Json& j) {
       j["decoder"] = {{"type", "WordPiece"}};
     },
     "decoder", "\"WordPiece\""},
    {"another post-processor",
     [](Json& j) {
       j["post_processor"] = {{"type", "BertProcessing"}};
     },
     "post_processor", "\"BertProcessing\""},
    {"template without text", [](Json& j) { j["post_processor"] = Template(Json::array()); }, "single",
     "no sequence A"},
    {"template with text twice",
     [](Json& j) {
       j["post_processor"] = Template({kSequenceA, kSequenceA});
     },
     "single[1].Sequence", "not the one sequence A"},
    {"template of an unknown token",
     [](Json& j) {
       j["post_processor"] = Template({kBos, kSequenceA});
     },
     "single[0].SpecialToken", "\"<s>\""},
    {"template of an unknown id",
     [](Json& j) {
       j["post_processor"] = Template({kBos, kSequenceA}, {{"<s>", {{"ids", {999}}}}});
     },
     "post_processor", "the id 999"},
    {"added token of a wrong id", [](Json& j) { j["added_tokens"] = {Added(300, "<a>")}; },
     "added_tokens[0].id", "gets the id 256"},
    {"added token twice",
     [](Json& j) {
       j["added_tokens"] = {Added(256, "<a>"), Added(256, "<a>")};
     },
     "added_tokens[1]", "second time"},
    {"two added tokens, one id",
     [](Json& j) {
       j["added_tokens"] = {Added(256, "<a>"), Added(256, "<b>")};
     },
     "added_tokens[1].id", "gets the id 257"},
    {"empty added token", [](Json& j) { j["added_tokens"] = {Added(256, "")}; }, "added_tokens[0].content",
     "is empty"},
    {"negative added id", [](Json& j) { j["added_tokens"] = {Added(-2, "<a>")}; }, "added_tokens[0].id",
     "not a token id"},
};

TEST(Definition, FaultsAreNamed) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    Json json = SmallTokenizer();
    fault.spoil(json);
    TempFolder folder;
    std::ofstream(folder / "tokenizer.json") << json;
    ExpectFault(folder, fault.subject, fault.why);
  }
}

TEST(Definition, FilesThatAreNotJson) {
  TempFolder folder;
  ExpectFault(folder, "tokenizer.json", "does not exist");
  for (const std::string& text : {std::string(), std::string("{\"model\": "), std::string("\x00\xFF", 2),
                                  std::string("{\"a\": \"\xC3\"}"), std::string(100000, '[')}) {
    std::ofstream(folder / "tokenizer.json", std::ios::trunc) << text;
    ExpectFault(folder, "tokenizer.json", "is not JSON");
  }
}

TEST(Definition, ConfigFaultsAreNamed) {
  const struct {
    Json config;
    const char* subject;
    const char* why;
  } rows[] = {
      {Json::array(), "tokenizer_config.json", "not an object"},
      {{{"eos_token", "<none>"}}, "tokenizer_config.json: eos_token", "\"<none>\""},
      {{{"bos_token", 3}}, "tokenizer_config.json: bos_token", "not a string"},
      {{{"add_bos_token", "yes"}, {"bos_token", "<a>"}}, "add_bos_token", "not true or false"},
      {{{"added_tokens_decoder", {{"256", {{"content", "<b>"}}}}}}, "added_tokens_decoder.256", "\"<b>\""},
      {{{"added_tokens_decoder", {{"300", {{"content", "<a>"}}}}}}, "added_tokens_decoder.300", "is 256"},
      {{{"added_tokens_decoder", {{"x", {{"content", "<a>"}}}}}}, "added_tokens_decoder.x", "not a token id"},
      {{{"additional_special_tokens", {"<none>"}}}, "additional_special_tokens[0]", "\"<none>\""},
      {{{"split_special_tokens", true}}, "split_special_tokens", "is true"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.config.dump());
    Json json = SmallTokenizer();
    json["added_tokens"] = {Added(256, "<a>")};
    TempFolder folder;
    std::ofstream(folder / "tokenizer.json") << json;
    std::ofstream(folder / "tokenizer_config.json") << row.config;
    ExpectFault(folder, row.subject, row.why);
  }
}

TEST(Definition, HashCoversWhatIsUsed) {
  const Json json = SmallTokenizer();
  const std::string plain = LoadTokenizer(json)->sha256();
  EXPECT_EQ(plain.size(), 64u);
  EXPECT_EQ(LoadTokenizer(json, {{"model_max_length", 5}})->sha256(), plain);
  EXPECT_NE(LoadTokenizer(json, {{"eos_token", "a"}})->sha256(), plain);
  Json other = json;
  other["model"]["vocab"]["ab"] = 256;
  EXPECT_NE(LoadTokenizer(other)->sha256(), plain);
}

}  // namespace
}  // namespace fullband
