// `fullband tokenize`: JSON strings to token ids, or back, a line at a time.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "common/json_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace fullband {
namespace {

struct TokenizeOptions {
  std::string model;
  bool decode = false;
  bool no_special = false;
  bool split_special = false;
  bool skip_special = false;
};

Error LineError(size_t line, const std::string& why, const std::string& remedy) {
  return Error(fmt::format("standard input: line {}", line), why, remedy);
}

nlohmann::json ParseLine(const std::string& text, size_t line) {
  try {
    return ParseJson(text);
  } catch (const JsonFault& fault) {
    throw LineError(line, fmt::format("is not JSON: {}", fault.what()), "write one JSON value a line");
  }
}

std::vector<int32_t> ReadIds(const nlohmann::json& value, const Tokenizer* tokenizer, size_t line) {
  if (!value.is_array())
    throw LineError(line, "is not a list of token ids", "write a JSON list of numbers a line");
  std::vector<int32_t> ids;
  for (const nlohmann::json& element : value) {
    const uint64_t limit = tokenizer ? static_cast<uint64_t>(tokenizer->vocab_size()) : uint64_t{1} << 31;
    if (!element.is_number_unsigned() || element.get<uint64_t>() >= limit)
      throw LineError(line, fmt::format("{} is not a token id of this model", element.dump()),
                      fmt::format("ids go from 0 to {}", limit - 1));
    ids.push_back(element.get<int32_t>());
  }
  return ids;
}

nlohmann::json Answer(const nlohmann::json& value, const Tokenizer* tokenizer, const TokenizeOptions& options,
                      size_t line) {
  if (options.decode) {
    const std::vector<int32_t> ids = ReadIds(value, tokenizer, line);
    if (!tokenizer) return {{"text", nullptr}};
    return {{"text", tokenizer->Decode(ids, options.skip_special)}};
  }
  if (!value.is_string()) throw LineError(line, "is not a JSON string", "write one JSON string a line");
  const EncodeOptions encode{!options.no_special, options.split_special};
  return {{"ids", tokenizer->Encode(value.get_ref<const std::string&>(), encode)}};
}

ExitCode Tokenize(const TokenizeOptions& options) {
  std::shared_ptr<const Tokenizer> tokenizer;
  if (!std::filesystem::is_directory(options.model))
    throw Error(options.model, "is not a model folder", "give the folder that has tokenizer.json");
  if (!options.decode || Tokenizer::Exists(options.model)) tokenizer = Tokenizer::Load(options.model);
  std::string text;
  for (size_t line = 1; std::getline(std::cin, text); ++line) {
    const std::string out = Answer(ParseLine(text, line), tokenizer.get(), options, line).dump() + '\n';
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size())
      throw Error("standard output", "cannot be written to", "check the disk or the program reading it");
  }
  if (std::fflush(stdout) != 0)
    throw Error("standard output", "cannot be written to", "check the disk or the program reading it");
  return ExitCode::kDone;
}

}  // namespace

void AddTokenize(CLI::App& app, Action* action) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Turn JSON strings on standard input into token ids, or back");
  auto options = std::make_shared<TokenizeOptions>();
  command->add_option("--model", options->model, "Model folder")->required();
  command->add_flag("--decode", options->decode, "Read a list of token ids a line, write text");
  command->add_flag("--no-special", options->no_special,
                    "Leave out what the tokenizer adds around a text (BOS)");
  command->add_flag("--split-special", options->split_special,
                    "Read special tokens in the text as ordinary text");
  command->add_flag("--skip-special", options->skip_special, "With --decode: leave out special tokens");
  command->callback([=] { *action = [=] { return Tokenize(*options); }; });
}

}  // namespace fullband
