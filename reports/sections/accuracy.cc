#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/document/cells.h"
#include "reports/import_notes.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

// A share of truncated traces above which a report warns: accuracy then says as much about the limit as about
// the model.
constexpr double kManyTruncated = 0.1;

std::vector<Cell> AccuracyCells(const RunResults& results, const RunFigures& figures) {
  const Accuracy& accuracy = figures.headline;
  const TraceLengths& lengths = figures.lengths;
  const bool generates = results.run.ask == "generate";
  std::optional<double> truncated;
  if (generates && lengths.samples > 0 && results.Knows("stop_reason"))
    truncated = static_cast<double>(lengths.truncated) / static_cast<double>(lengths.samples);
  return RunCells(
      results, {CountCell(accuracy.items), PercentCell(accuracy.share),
                PercentIntervalCell(accuracy.share ? std::optional(accuracy.interval) : std::nullopt),
                generates ? PercentCell(accuracy.answered) : kNoValue, PercentCell(truncated),
                generates ? PercentCell(figures.accuracy_of_finished) : kNoValue, CountCell(accuracy.faults),
                CountCell(accuracy.timeouts), KeyOf(results)});
}

// How a chat run was asked, beyond its row: another template or system prompt asks something else.
std::string ChatNote(const RunRecord& run) {
  constexpr size_t kShown = 80;
  const nlohmann::json identity = nlohmann::json::parse(run.identity, nullptr, false);
  const auto text = [&](const char* key) {
    return identity.is_object() && identity.contains(key) && identity[key].is_string()
               ? identity[key].get<std::string>()
               : std::string();
  };
  const std::string whole = text("system");
  size_t end = std::min(whole.size(), kShown);
  while (end > 0 && end < whole.size() && (whole[end] & 0xC0) == 0x80) --end;  // no half characters
  std::string system = whole.substr(0, end);
  if (system.size() < whole.size()) system += "…";
  return fmt::format("chat template {}, {}{}.", text("chat_template").substr(0, 12),
                     system.empty() ? "no system prompt" : "system prompt “" + system + "”",
                     run.shots > 0 ? ", shots as turns" : "");
}

void AddCountNotes(const RunResults& results, const RunFigures& figures, Notes* notes) {
  const auto add = [&](const std::string& text, bool warns = false) {
    notes->notes.push_back({NameOf(results), text, warns});
  };
  const int64_t asked = figures.items_done + figures.items_open;
  if (figures.items_open > 0)
    add(fmt::format("incomplete: {} of {} items done.", Count(figures.items_done), Count(asked)), true);
  if (asked < results.run.items_total)
    add(fmt::format("asked {} of the suite's {} items.", Count(asked), Count(results.run.items_total)));
  if (figures.headline.ungraded > 0)
    add(fmt::format("samples not graded yet and left out: {}.", Count(figures.headline.ungraded)), true);
  const TraceLengths& lengths = figures.lengths;
  if (static_cast<double>(lengths.truncated) > kManyTruncated * static_cast<double>(lengths.samples))
    add(fmt::format("{} of {} traces were truncated, so accuracy also measures the limit.",
                    Count(lengths.truncated), Count(lengths.samples)),
        true);
  if (results.shots_dropped > 0)
    add(fmt::format("items that lost shots to fit the context: {}.", Count(results.shots_dropped)));
}

void AddNotes(const RunResults& results, const RunFigures& figures, Notes* notes) {
  AddCountNotes(results, figures, notes);
  const std::string name = NameOf(results);
  if (results.imported)
    for (const std::string& note : ImportNotes(results)) notes->notes.push_back({name, note});
  else if (results.run.format == "chat")
    notes->notes.push_back({name, ChatNote(results.run)});
  for (const Accuracy& accuracy : figures.graders)
    if (accuracy.versions.size() > 1)
      notes->notes.push_back({name,
                              fmt::format("grader {} judged in versions {}; regrade before comparing.",
                                          accuracy.grader, fmt::join(accuracy.versions, ", ")),
                              true});
}

}  // namespace

std::optional<Section> AccuracySection(const SuiteRows& suite) {
  std::set<std::string> headlines;
  Table table{"accuracy",
              RunColumns({{"items"},
                          {"accuracy"},
                          {"95 % interval"},
                          {"answer found"},
                          {"truncated"},
                          {"accuracy of finished"},
                          {"faults"},
                          {"time-outs"},
                          {"run", Align::kLeft}}),
              {}};
  Notes notes;
  for (const auto& [results, figures] : suite.rows) {
    headlines.insert(results->run.headline);
    table.rows.push_back(AccuracyCells(*results, figures));
    AddNotes(*results, figures, &notes);
  }
  const std::string judges = fmt::format("{}", fmt::join(headlines, " or "));
  const bool clustered = std::any_of(suite.rows.begin(), suite.rows.end(),
                                     [](const RunRow& row) { return row.figures.headline.clustered; });
  const std::string how = std::string("correct / (asked − faults), ") +
                          (clustered ? "95 % interval: Wilson's; clustered by item (Student's t over the "
                                       "means of items' samples) where "
                                       "items have several samples."
                                     : "Wilson 95 % interval.");
  table.caption = CaptionOf(suite, fmt::format("accuracy by {}; {}", judges, how));
  Section section = SectionOf(suite, "Accuracy", "accuracy");
  section.blocks.push_back(Paragraph{fmt::format("By {}; {}", judges, how)});
  section.blocks.push_back(std::move(table));
  if (!notes.notes.empty()) section.blocks.push_back(std::move(notes));
  return section;
}

}  // namespace fullband
