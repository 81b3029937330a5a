// `fullband`: reads the command line and hands over to one subcommand.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "common/names.h"
#include "common/paths.h"
#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

// One line, whatever names and values it quotes: control characters are written out.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      line += fmt::format("\\x{:02x}", byte);
    else
      line += c;
  }
  return line;
}

int Fail(const Error& error) {
  fmt::print(stderr, "fullband: {}\n", OneLine(error.what()));
  return static_cast<int>(error.code());
}

// Texts go into JSON, the store and the tokenizer, which all take UTF-8 only.
void CheckUtf8(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const size_t bad = FirstInvalidByte(word);
    if (bad == std::string_view::npos) continue;
    const std::string_view before = i > 1 ? argv[i - 1] : "";
    std::string name = fmt::format("argument {}", i);
    if (word.rfind("--", 0) == 0 && word.find('=') < bad)
      name = word.substr(0, word.find('='));
    else if (before.rfind("--", 0) == 0)
      name = before;
    throw UsageError(
        name,
        fmt::format("is not UTF-8: byte 0x{:02X} at offset {}", static_cast<unsigned char>(word[bad]), bad),
        "write it in UTF-8");
  }
}

// The subcommand that the line is about, to look for near option names in.
CLI::App& Named(CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
      if (command->get_name() == argv[i]) return *command;
  return app;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 knows what is wrong, not what was meant: an unknown word gets near names.
Error Explain(CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  CLI::App& named = Named(app, argc, argv);
  const std::string help = "see fullband " + (&named == &app ? "" : named.get_name() + " ") + "--help";
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    word = word.substr(0, word.find('='));
    if (&named == &app && word.rfind("-", 0) != 0) {
      std::vector<std::string> commands;
      for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        commands.push_back(command->get_name());
      return UsageError(word, "is not a command", DidYouMean(word, commands));
    }
    if (word.rfind("--", 0) != 0 || named.get_option_no_throw(word)) continue;
    const std::vector<std::string> near = NearNames(word, OptionNames(named));
    return UsageError(word, "is not an option here", near.empty() ? help : DidYouMean(word, near));
  }
  return UsageError(&named == &app ? "command line" : named.get_name(), error.what(), help);
}

int Main(int argc, char** argv) {
  CLI::App app{"Evaluates Full-bandwidth Transformers: standard and latent decoding on the same weights.",
               "fullband"};
  app.set_version_flag("--version", "fullband " + Version());
  app.require_subcommand(1);
  Action action;
  AddRun(app, &action);
  AddSweep(app, &action);
  AddCompare(app, &action);
  AddReport(app, &action);
  AddShow(app, &action);
  AddBench(app, &action);
  AddDecode(app, &action);
  AddScore(app, &action);
  AddContraction(app, &action);
  AddTokenize(app, &action);
  AddGrade(app, &action);
  AddImport(app, &action);
  AddRegrade(app, &action);
  AddInspect(app, &action);
  AddSuites(app, &action);
  AddData(app, &action);
  AddSandboxCheck(app, &action);
  CheckUtf8(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return Fail(Explain(app, error, argc, argv));
  }
  return static_cast<int>(action());
}

}  // namespace
}  // namespace fullband

int main(int argc, char** argv) {
  try {
    return fullband::Main(argc, argv);
  } catch (const fullband::Error& error) {
    return fullband::Fail(error);
  } catch (const std::bad_alloc&) {
    return fullband::Fail(fullband::Error("memory", "ran out", "use a smaller --batch or a smaller model"));
  } catch (const std::exception& error) {
    return fullband::Fail(fullband::Error("internal error", error.what(), "please report it"));
  }
}
