// RenderShown: an item for people to read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/columns.h"
#include "reports/shown.h"

namespace fullband {
namespace {

constexpr int kLeastColumn = 36;  // narrower columns are hard to read: one run comes after the other then
constexpr int kLeastWidth = 20;
constexpr char kMark[] = "»";  // stands before the first token in which the traces differ

// A trace with what its text does not show: <end 0> for an end token, <token 7> for another.
std::string TraceText(const ShownRun& shown, const std::optional<size_t>& first_difference) {
  std::string text;
  for (size_t i = 0; i < shown.trace.size(); ++i) {
    const ShownToken& token = shown.trace[i];
    if (first_difference == i) text += kMark;
    text += TerminalText(token.text);
    if (token.hidden) text += fmt::format("<{} {}>", token.end ? "end" : "token", token.id);
  }
  if (first_difference && *first_difference >= shown.trace.size())
    text += fmt::format("{}(ends here)", kMark);
  return text;
}

std::string ChoicesText(const SampleRecord& sample) {
  std::string text;
  double best = sample.choices.front().logprob;
  for (const ChoiceRecord& choice : sample.choices) best = std::max(best, choice.logprob);
  for (const ChoiceRecord& choice : sample.choices)
    text += fmt::format("{} {:10.4f}{}\n", choice.logprob == best ? ">" : " ", choice.logprob,
                        choice.gold ? " gold" : "") +
            "  " + TerminalText(choice.text) + "\n";
  return text;
}

// Of another engine's trace: its text as a whole where nothing tells which token gave which part of it.
std::string ImportedText(const ShownRun& shown) {
  const SampleRecord& sample = *shown.sample;
  std::string text =
      shown.imported->Has("completion") ? TerminalText(sample.text) : "(imported without text)";
  std::vector<std::string> known;
  if (shown.imported->Has("generated_tokens"))
    known.push_back(fmt::format("{} tokens", sample.generated_tokens));
  if (shown.imported->Has("trace_tokens")) known.push_back(fmt::format("{} of text", sample.trace_tokens));
  if (shown.imported->Has("stop_reason")) known.push_back("stopped by " + sample.stop_reason);
  return fmt::format("{}\n-- {}\n", text,
                     known.empty() ? "tokens unknown" : fmt::format("{}", fmt::join(known, ", ")));
}

std::string AnswerText(const ShownRun& shown, const std::optional<size_t>& first_difference) {
  if (!shown.sample) return "not asked yet\n";
  const SampleRecord& sample = *shown.sample;
  if (!sample.fault.empty()) return "fault: " + TerminalText(sample.fault) + "\n";
  if (!sample.choices.empty()) return ChoicesText(sample);
  if (shown.imported && !shown.imported->Has("text_ends")) return ImportedText(shown);
  const std::string counts = fmt::format("-- {} tokens ({} of text), stopped by {}\n",
                                         sample.generated_tokens, sample.trace_tokens, sample.stop_reason);
  return TraceText(shown, first_difference) + "\n" + counts;
}

std::string GradesText(const ShownRun& shown) {
  std::string text;
  for (const GradeRecord& grade : shown.grades) {
    text += fmt::format("{}: {}{}", grade.grader, grade.outcome, grade.detail.empty() ? "" : ", ") +
            TerminalText(grade.detail);
    if (!grade.extracted.empty()) text += ", extracted: " + TerminalText(grade.extracted);
    text += "\n";
  }
  return text.empty() && shown.sample ? "no grades\n" : text;
}

bool SamePrompts(const Shown& shown) {
  return std::all_of(shown.runs.begin(), shown.runs.end(),
                     [&](const ShownRun& run) { return run.item.prompt == shown.runs.front().item.prompt; });
}

std::string PromptText(const ShownRun& run) {
  if (run.imported && run.item.prompt.empty()) return "(imported without what was asked)";
  return TerminalText(run.item.prompt);
}

std::string RunText(const Shown& shown, const ShownRun& run, bool with_prompt) {
  std::string text = fmt::format("{} ({}{}, run {})", run.run.setting, TerminalText(run.model),
                                 run.imported ? ", imported" : "", run.run.key.substr(0, 8));
  if (run.samples > 1) text += fmt::format(", sample {} of {}", run.sample->sample, run.samples);
  text += "\n\n";
  if (with_prompt) text += PromptText(run) + "\n\n";
  return text + AnswerText(run, shown.first_difference) + "\n" + GradesText(run);
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A reference answer as people read it: tests of a program may be half a megabyte.
std::string GoldText(const std::string& gold) {
  constexpr size_t kMost = 2000;
  if (gold.size() <= kMost) return TerminalText(gold);
  size_t end = kMost;
  while ((static_cast<unsigned char>(gold[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return TerminalText(gold.substr(0, end)) + fmt::format(" … ({} bytes; --json shows all)", gold.size());
}

}  // namespace

std::string RenderShown(const Shown& shown, int width) {
  width = std::max(width, kLeastWidth);
  const ShownRun& first = shown.runs.front();
  const bool same_prompts = SamePrompts(shown);
  std::string head = fmt::format("{}, item {}", first.run.suite, TerminalText(first.item.item));
  if (first.item.shots_dropped > 0) head += fmt::format(", {} shots dropped", first.item.shots_dropped);
  head += "\n\n";
  if (same_prompts) head += PromptText(first) + "\n\n";
  head += "gold: " + GoldText(first.item.gold);
  if (shown.first_difference)
    head += fmt::format("\nfirst difference: token {} (counted from 0), marked {}", *shown.first_difference,
                        kMark);
  std::string text = Lines(Wrap(head, width)) + "\n";

  const int count = static_cast<int>(shown.runs.size());
  const int column = (width - 3 * (count - 1)) / count;
  std::vector<std::vector<std::string>> columns;
  for (const ShownRun& run : shown.runs)
    columns.push_back(Wrap(RunText(shown, run, !same_prompts), column >= kLeastColumn ? column : width));
  if (column >= kLeastColumn) return text + SideBySide(columns, column);
  for (const auto& lines : columns) text += Lines(lines);
  return text;
}

}  // namespace fullband
