#include "evals/execute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json_text.h"
#include "evals/graders/thoughts.h"
#include "evals/machine.h"
#include "evals/sample_thoughts.h"
#include "evals/sandbox/assemble.h"

namespace fullband {
namespace {

constexpr int kVersion = 2;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Limits LimitsOf(const Execution& execution) {
  Limits limits;
  limits.wall_seconds = execution.wall_seconds;
  limits.cpu_seconds = execution.cpu_seconds;
  limits.memory = int64_t{execution.memory_mib} << 20;
  return limits;
}

// One line of a comment; the program may have chosen the text.
std::string Comment(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "# " + text + "\n";
}

Verdict Judged(const Sandbox& sandbox, const Limits& limits, const VisibleText& visible,
               const std::string& gold_text) {
  const ProgramGold gold = ParseProgramGold(gold_text);
  ProgramOfCompletion assembled = AssembleProgram(visible.text, gold);
  if (IsBlank(assembled.code))
    return {Outcome::kNoAnswer, 0, "", visible.ends_in_thought ? "truncated_in_thought" : "empty"};
  return VerdictOf(assembled.code, sandbox.Run(assembled.program, limits));
}

void CheckModules(const Sandbox& sandbox, const Execution& execution, const std::string& whose) {
  for (const std::string& module : execution.modules) {
    Program program;
    program.tests = {"import " + module};
    const ProgramResult result = sandbox.Run(program, LimitsOf(execution));
    if (result.detail == Detail::kPassed) continue;
    const SandboxOptions defaults;
    throw Error(whose,
                fmt::format("its tests import {}, which {} cannot: {}", module, defaults.python.string(),
                            result.message),
                fmt::format("install python3-{} (scripts/setup does)", module));
  }
}

std::shared_ptr<const Sandbox> MakeSandbox(const GradingOptions& options, const std::string& whose) {
  SandboxOptions sandbox;
  sandbox.unprotected = options.unprotected;
  try {
    return std::make_shared<const Sandbox>(sandbox);
  } catch (const Error& error) {
    throw Error(whose, error.why(), error.remedy() + (options.unprotected ? "" : ": --unprotected"));
  }
}

}  // namespace

ProgramGold ParseProgramGold(const std::string& text) {
  const auto fail = [](const std::string& why) {
    throw Error("gold", why, "it is the field `program` of an item that asks for one");
  };
  ProgramGold gold;
  try {
    const nlohmann::json value = ParseJson(text);
    gold.entry_point = value.at("entry_point").get<std::string>();
    if (value.contains("prompt")) {
      gold.prompt = value.at("prompt").get<std::string>();
      gold.tests = {value.at("test").get<std::string>()};
    } else {
      gold.setup = value.at("setup").get<std::string>();
      gold.tests = value.at("tests").get<std::vector<std::string>>();
    }
  } catch (const JsonFault& fault) {
    fail(fmt::format("is no program's JSON: {}", fault.what()));
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("is not what programs are run by: {}", error.what()));
  }
  if (gold.tests.empty()) fail("has no test");  // what nothing tests would pass
  return gold;
}

ProgramOfCompletion AssembleProgram(std::string_view completion, const ProgramGold& gold) {
  if (!gold.prompt.empty())
    return {ExtractCode(completion, gold.entry_point),
            HumanEvalProgram(gold.prompt, completion, gold.tests.front(), gold.entry_point)};
  Program program = MbppProgram(completion, gold.setup, gold.tests, gold.entry_point);
  std::string code = program.source;
  return {std::move(code), std::move(program)};
}

std::string KeptProgram(const std::string& completion, const std::vector<std::string>& stop_strings,
                        const std::string& gold_text) {
  size_t cut = completion.size();
  for (const std::string& stop : stop_strings) cut = std::min(cut, completion.find(stop));
  std::string kept = completion.substr(0, cut);
  if (cut == completion.size()) return kept;
  const ProgramGold gold = ParseProgramGold(gold_text);
  if (gold.prompt.empty()) return kept;
  const auto is_module = [&](const std::string& text) {
    return DefinesAtTop(ExtractCode(text, gold.entry_point), gold.entry_point);
  };
  return is_module(completion) && !is_module(kept) ? completion : kept;
}

Verdict VerdictOf(const std::string& code, const ProgramResult& result) {
  Verdict verdict{result.outcome(), 0, code, result.detail_text()};
  if (result.tests > 0) verdict.score = static_cast<double>(result.tests_run) / result.tests;
  if (!code.ends_with('\n')) verdict.extracted += '\n';
  if (verdict.outcome != Outcome::kCorrect)
    verdict.extracted += Comment(fmt::format("{} after {} of {} tests: {}", result.detail_text(),
                                             result.tests_run, result.tests, result.message));
  for (const std::string& reason : result.suspicious) verdict.extracted += Comment("suspicious: " + reason);
  if (!result.is_protected) verdict.extracted += Comment("run unprotected");
  if (verdict.outcome == Outcome::kCorrect && !result.suspicious.empty()) verdict.detail = "suspicious";
  return verdict;
}

Judge ExecuteJudge(const Execution& execution, const GradingOptions& options, const std::string& whose) {
  const std::shared_ptr<const Sandbox> sandbox = MakeSandbox(options, whose);
  CheckModules(*sandbox, execution, whose);
  Judge judge{kExecute, kVersion,
              [sandbox, limits = LimitsOf(execution), markers = options.thoughts](const SampleRecord& sample,
                                                                                  const std::string& gold) {
                const Thoughts thoughts = FindThoughts(sample, markers);
                return Judged(*sandbox, limits, WithoutThoughts(sample.text, thoughts), gold);
              }};
  judge.at_once = options.workers > 0 ? options.workers : UsableThreads();
  return judge;
}

}  // namespace fullband
