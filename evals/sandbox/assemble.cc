#include "evals/sandbox/assemble.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace fullband {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string_view WithoutIndent(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == std::string_view::npos; }

bool IsNameByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

bool StartsIndented(std::string_view code) {
  for (const std::string_view line : LinesOf(code))
    if (!IsBlank(line)) return line[0] == ' ' || line[0] == '\t';
  return false;
}

// A line's word and what follows it, after blanks.
std::string_view TakeWord(std::string_view* line) {
  size_t end = 0;
  while (end < line->size() && IsNameByte((*line)[end])) ++end;
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(end);
  *line = WithoutIndent(*line);
  return word;
}

// Whether a line without indent defines `name`.
bool LineDefines(std::string_view line, std::string_view name) {
  std::string_view word = TakeWord(&line);
  if (word == "async") word = TakeWord(&line);
  if (word == "def" || word == "class") return TakeWord(&line) == name;
  return word == name && !line.empty() && line[0] == '=' && (line.size() < 2 || line[1] != '=');
}

// `name = …`, `name: type = …`, `module.function(…)`.
bool IsStatement(std::string_view line) {
  if (TakeWord(&line).empty() || line.empty()) return false;
  if (line[0] == '.') {
    while (!line.empty() && line[0] == '.') {
      line.remove_prefix(1);
      if (TakeWord(&line).empty()) return false;
    }
    const size_t last = line.find_last_not_of(" \t\r\n");
    return !line.empty() && line[0] == '(' && line[last] == ')';
  }
  if (line[0] == ':') {
    line = WithoutIndent(line.substr(1));
    if (TakeWord(&line).empty()) return false;
    if (!line.empty() && line[0] == '[') line = WithoutIndent(line.substr(line.rfind(']') + 1));
  }
  return line.size() > 1 && line[0] == '=' && line[1] != '=';
}

// Whether a line without indent is the start of a program's text rather than of prose about it.
bool StartsCode(std::string_view line) {
  if (!line.empty() && line[0] == '@') return true;
  if (IsStatement(line)) return true;
  const std::string_view word = TakeWord(&line);
  if (word == "from") {
    while (!line.empty() && line[0] != ' ') line.remove_prefix(1);
    line = WithoutIndent(line);
    return TakeWord(&line) == "import";
  }
  const bool ends_def = line.find_first_of("(:") != std::string_view::npos;
  return word == "import" ||
         ((word == "def" || word == "class" || word == "async") && (ends_def || word == "async"));
}

struct Fence {
  char mark;
  size_t length;
  bool bare;  // nothing follows the marks, as in a closing fence
};

std::optional<Fence> FenceOf(std::string_view line) {
  std::string_view rest = WithoutIndent(line);
  if (line.size() - rest.size() > 3 || rest.size() < 3 || (rest[0] != '`' && rest[0] != '~'))
    return std::nullopt;
  size_t length = 0;
  while (length < rest.size() && rest[length] == rest[0]) ++length;
  // `code` between marks on one line is no fence.
  if (length < 3 || rest.find(rest[0], length) != std::string_view::npos) return std::nullopt;
  return Fence{rest[0], length, IsBlank(rest.substr(length))};
}

// Fenced blocks; where the fences do not pair up, the lone one is a bound with code on its one side.
std::vector<std::string> BlocksOf(std::string_view text) {
  std::vector<std::string> blocks;
  std::string outside, inside;
  std::optional<Fence> open;
  for (const std::string_view line : LinesOf(text)) {
    const std::optional<Fence> fence = FenceOf(line);
    if (open) {
      if (fence && fence->bare && fence->mark == open->mark && fence->length >= open->length) {
        blocks.push_back(std::exchange(inside, ""));
        open.reset();
      } else {
        inside += line;
      }
    } else if (fence) {
      open = fence;
    } else if (blocks.empty()) {
      outside += line;
    }
  }
  if (!open) return blocks;
  // A lone fence opens a block that was cut off, or closes one whose opening stood in the prompt.
  if (open->bare && blocks.empty() && StartsIndented(outside)) blocks.push_back(std::exchange(outside, ""));
  for (const std::string* side : {&inside, &outside})
    if (!IsBlank(*side)) blocks.push_back(*side);
  if (blocks.empty()) blocks.emplace_back();
  return blocks;
}

// Drops prose before the code, where there is code.
std::string WithoutPreface(std::string_view code, std::string_view entry_point) {
  if (entry_point.empty() || !DefinesAtTop(code, entry_point)) return std::string(code);
  size_t at = 0;
  for (const std::string_view line : LinesOf(code)) {
    if (StartsCode(line) || LineDefines(line, entry_point)) return std::string(code.substr(at));
    if (!IsBlank(line) && (line[0] == '#' || line[0] == '"' || line[0] == '\'')) return std::string(code);
    at += line.size();
  }
  return std::string(code);
}

// The prompt's last function with a body that does nothing.
std::string WithEmptyBody(std::string_view prompt) {
  std::string text(prompt);
  if (!text.empty() && text.back() != '\n') text += '\n';
  std::string indent = "    ";
  for (const std::string_view line : LinesOf(prompt)) {
    if (IsBlank(line)) continue;
    const std::string_view body = WithoutIndent(line);
    if (body.size() < line.size())
      indent = line.substr(0, line.size() - body.size());
    else
      indent = "    ";
  }
  return text + indent + "pass\n";
}

}  // namespace

bool DefinesAtTop(std::string_view code, std::string_view name) {
  for (const std::string_view line : LinesOf(code))
    if (LineDefines(line, name)) return true;
  return false;
}

std::string ExtractCode(std::string_view completion, std::string_view entry_point) {
  const std::vector<std::string> blocks = BlocksOf(completion);
  if (blocks.empty()) return WithoutPreface(completion, entry_point);
  for (auto block = blocks.rbegin(); block != blocks.rend() && !entry_point.empty(); ++block)
    if (DefinesAtTop(*block, entry_point)) return WithoutPreface(*block, entry_point);
  return blocks.front();
}

Program HumanEvalProgram(std::string_view prompt, std::string_view completion, std::string_view test,
                         std::string_view entry_point) {
  const std::string code = ExtractCode(completion, entry_point);
  Program program;
  program.helpers = WithEmptyBody(prompt);
  if (!StartsIndented(code) && DefinesAtTop(code, entry_point))
    program.source = program.helpers + "\n" + code;
  else
    program.source = std::string(prompt) + code;
  program.tests = {std::string(test) + "\ncheck(" + std::string(entry_point) + ")\n"};
  program.entry_point = entry_point;
  return program;
}

Program MbppProgram(std::string_view completion, std::string_view setup,
                    const std::vector<std::string>& tests, std::string_view entry_point) {
  Program program;
  program.source = ExtractCode(completion, entry_point);
  program.entry_point = entry_point;
  program.setup = setup;
  program.tests = tests;
  return program;
}

}  // namespace fullband
