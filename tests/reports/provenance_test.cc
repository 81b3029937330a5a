#include "reports/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "reports/document/markdown.h"
#include "reports/sections/sections.h"
#include "tests/reports/made_results.h"

namespace fullband {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json IdentityOfARun() {
  return {{"setting", "latent"},
          {"suite",
           {{"name", "sums"},
            {"definition",
             {{"shots", {{"default", 5}}},
              {"generate", {{"max_new_tokens", 256}}},
              {"completion", {{"stop", {"Q:"}}}},
              {"chat", {{"stop", json::array()}}}}}}},
          {"numerics",
           {{"version", "n1"},
            {"device", "cpu"},
            {"target", "AVX2"},
            {"weights", "bfloat16"},
            {"activations", "float32"}}},
          {"data", std::string(64, 'd')},
          {"tokenizer", std::string(64, 'e')},
          {"shots", {{"ids", {"7"}}, {"text_sha256", std::string(64, 'f')}}},
          {"system", ""},
          {"max_new_tokens", 256},
          {"stop_strings", {"Q:"}},
          {"sampling", {{"temperature", 0}, {"top_k", 0}, {"top_p", 1.0}}}};
}

RunResults RunOf(const json& identity) {
  RunResults results = MakeResults("latent", {{{}}, {{}}});
  results.run.suite = "sums";
  results.run.shots = 5;
  results.run.items_total = 2;
  results.run.key = std::string(64, '9');
  results.run.identity = identity.dump();
  results.model.name = "toy";
  results.model.folder = "models/toy";
  results.model.weights_sha256 = std::string(64, 'c');
  return results;
}

std::string Command(const RunResults& results, bool named = true) {
  return CommandOf(results, [named](const std::string&) { return named; }).value_or("none");
}

TEST(Provenance, WhatIsUsualIsLeftOut) {
  EXPECT_EQ(Command(RunOf(IdentityOfARun())),
            "fullband run --model models/toy --suite sums --setting latent --target AVX2 --store again.db");
  EXPECT_THAT(Command(RunOf(IdentityOfARun()), false), HasSubstr(" --suite sums.toml "));
}

TEST(Provenance, WhatIsNotUsualIsThere) {
  json identity = IdentityOfARun();
  identity["max_new_tokens"] = 64;
  identity["stop_strings"] = {"Q:", "\n\nA", "-x"};
  identity["system"] = "Don't.\n";
  identity["sampling"] = {{"temperature", 0.7}, {"top_k", 5}, {"top_p", 0.9}};
  identity["numerics"]["kv"] = "bf16";
  identity["numerics"]["device"] = "other";
  identity["thoughts"] = {{"open", "<a>"}, {"close", "</a>"}};
  RunResults results = RunOf(identity);
  results.run.shots = 0;
  results.run.items_total = 10;
  results.run.temperature = 0.7;
  results.run.seed = 18446744073709551615u;
  results.samples_per_item = 4;
  EXPECT_EQ(Command(results),
            "fullband run --model models/toy --suite sums --setting latent --shots 0 --limit 2 "
            "--system $'Don\\'t.\\n' --max-new 64 --stop $'\\n\\nA' --stop=-x --temperature 0.7 --samples 4 "
            "--top-k 5 --top-p 0.9 --seed 18446744073709551615 --device other --target AVX2 --kv-dtype bf16 "
            "--think '<a>,</a>' --store again.db");
  results.run.format = "chat";
  EXPECT_THAT(Command(results), testing::AllOf(HasSubstr("--format chat"), HasSubstr("--stop Q:")));
  results.run.ask = "choose";
  EXPECT_THAT(Command(results), testing::AllOf(Not(HasSubstr("--max-new")), Not(HasSubstr("--stop"))));
  results.imported = ImportedRun();
  EXPECT_EQ(Command(results), "none");
}

TEST(Provenance, PartsOfIdentities) {
  const RunResults results = RunOf(IdentityOfARun());
  EXPECT_EQ(IdentityPart(results.run, "numerics.target"), "AVX2");
  EXPECT_EQ(IdentityPart(results.run, "max_new_tokens"), "256");
  EXPECT_EQ(IdentityPart(results.run, "numerics.kv"), "");
  EXPECT_EQ(IdentityPart(results.run, "none.at.all"), "");
  RunRecord run;
  run.identity = "not JSON";
  EXPECT_EQ(IdentityPart(run, "data"), "");
}

// What bash makes of the words.
TEST(Provenance, WordsSurviveAShell) {
  for (const std::string word : {"plain", "", "two words", "it's", "$HOME `id` \"x\" \\n", "a\nb\tc\x01'\\",
                                 "--x=*?[a]~", "é–日本", "!bang", "#no", "~", "a;b|c&d>e<f(g)"}) {
    const std::string command =
        "bash -c \"$(cat <<'EOF_OF_WORD'\nprintf %s " + ShellWord(word) + "\nEOF_OF_WORD\n)\"";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string got;
    std::array<char, 256> buffer;
    for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) got.append(buffer.data(), n);
    EXPECT_EQ(pclose(pipe), 0);
    EXPECT_EQ(got, word) << ShellWord(word);
  }
}

TEST(Provenance, SectionHasHashesInFull) {
  std::vector<RunResults> runs = {RunOf(IdentityOfARun())};
  runs[0].machines = {"host: processor"};
  runs.push_back(MakeResults("standard", {{{}}}));
  runs[1].run.suite = "sums";
  runs[1].run.key = std::string(64, '8');
  runs[1].imported = ImportedRun{"other model", std::string(64, 'b'), "lm_eval", {}};
  runs[1].model.name = "other model (imported)";
  const std::string text = RenderMarkdown({"t", {}, {ProvenanceSection(runs, nullptr)}});
  for (const char digit : {'b', 'c', 'd', 'e', 'f', '9', '8'})
    EXPECT_THAT(text, HasSubstr(std::string(64, digit))) << digit;
  EXPECT_THAT(text, HasSubstr("host: processor"));
  EXPECT_THAT(text, HasSubstr("number 1"));  // grader and version
  EXPECT_THAT(
      text, HasSubstr("| 99999999 | cpu    | AVX2            | n1         | bfloat16 | float32     | f32 "));
  EXPECT_THAT(text, HasSubstr("layout lm_eval"));
  EXPECT_THAT(text, Not(HasSubstr("| 88888888 | cpu")));
  EXPECT_THAT(text, HasSubstr("```\n# sums: toy, latent (99999999)\nfullband run --model models/toy"));
}

// A name with a line end would be a command of its own.
TEST(Provenance, NamesCannotLeaveTheComment) {
  RunResults results = RunOf(IdentityOfARun());
  results.model.name = "toy\nrm -rf x\r\n";
  results.model.folder = "models/$(rm x)\n";
  const Section section = ProvenanceSection({&results, 1}, nullptr);
  const std::string& code = std::get<Code>(section.blocks.back()).text;
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), 1) << code;
  EXPECT_THAT(code, HasSubstr("--model $'models/$(rm x)\\n' "));
}

}  // namespace
}  // namespace fullband
