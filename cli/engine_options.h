// Options that several subcommands share: each name, default and help text stands here once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tasks/task_data.h"

namespace fullband {

// For check(): a whole number from `least` on. Without it CLI11 takes -1 for a large unsigned number.
CLI::Validator WholeNumber(int64_t least);

// --model DIR, required.
void AddModelOption(CLI::App& command, std::filesystem::path* folder);
// --setting, required. Takes the one name; parse it with Setting::Parse.
void AddSettingOption(CLI::App& command, std::string* setting);
// --device --threads --batch --chunk --prefix-cache --target --kv-dtype
void AddEngineOptions(CLI::App& command, EngineOptions* options);
// --limit --shots --max-new --data-dir
void AddItemOptions(CLI::App& command, TaskOptions* task);
// --temperature --top-k --top-p --seed
void AddSamplingOptions(CLI::App& command, Sampling* sampling);
// --stop TEXT, as often as one likes
void AddStopOption(CLI::App& command, std::vector<std::string>* stop_strings);

// Token ids as they are given on the command line, e.g. "1,2,3". Throws a usage Error naming `option`.
std::vector<int32_t> ParseTokens(const std::string& option, const std::string& text);

// Where the model has no tokenizer: throws a usage Error that names the option that takes token ids instead.
const Tokenizer& TokenizerOf(const Engine& engine, const std::string& tokens_option);

// Throws an error that says where a text has something that the model would not see.
void CheckSeen(const Tokenizer& tokenizer, const std::string& option, const std::string& text);

}  // namespace fullband
