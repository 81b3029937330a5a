#include "reports/comparisons/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/comparisons/tables.h"
#include "reports/document/tables.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

// What the runs differ in beyond what they are compared by.
void AddDifferences(const Comparison& pair, const std::string& name, Notes* notes) {
  if (!pair.same_model && !pair.same_setting)
    notes->notes.push_back({name, "the runs differ in both model and setting.", true});
  if (pair.also_differs.empty()) return;
  const char* cause = pair.same_model ? "the setting" : "the weights alone";
  notes->notes.push_back(
      {"* " + name,
       fmt::format("the runs also differ in {}. Their difference is not attributable to {}.",
                   Joined(pair.also_differs), cause),
       true});
}

void AddLeftOut(const Comparison& pair, const std::string& name, Notes* notes) {
  std::vector<std::string> left_out;
  if (pair.faults > 0) left_out.push_back(Count(pair.faults) + " with a fault");
  if (pair.ungraded > 0) left_out.push_back(Count(pair.ungraded) + " not graded yet");
  if (pair.unpaired > 0) left_out.push_back(Count(pair.unpaired) + " answered in one run only");
  if (!left_out.empty()) notes->notes.push_back({name, fmt::format("items left out: {}.", Joined(left_out))});
}

void AddCut(const Comparison& pair, const std::string& name, Notes* notes) {
  if (!pair.lengths || !pair.lengths->cut || pair.lengths->cut->sign_holds) return;
  notes->notes.push_back(
      {name, "which run's traces are longer hangs on how long the truncated ones would have become.", true});
}

void AddCost(const Comparison& pair, const std::string& name, Notes* notes) {
  if (!pair.cost || pair.cost->incomparable.empty() || pair.a->run.ask != "generate") return;
  if (pair.a->imported || pair.b->imported) return;
  notes->notes.push_back({name, fmt::format("no overhead is stated: {}.", pair.cost->incomparable)});
}

Notes PairNotes(std::span<const Comparison> pairs) {
  Notes notes;
  std::set<int64_t> imported;  // models
  for (const Comparison& pair : pairs) {
    const std::string name = NameOfPair(pair);
    AddDifferences(pair, name, &notes);
    if (pair.same_model && pair.a->imported && imported.insert(pair.a->model.id).second)
      notes.notes.push_back({pair.a->model.name, "that the weights are the same rests on the name alone."});
    AddLeftOut(pair, name, &notes);
    AddCut(pair, name, &notes);
    AddCost(pair, name, &notes);
  }
  return notes;
}

std::optional<Section> SectionOf(const std::string& suite, const std::string& part, std::string title,
                                 std::string about, std::span<const Comparison> pairs, PairRows rows) {
  if (pairs.empty()) return std::nullopt;
  Section section{std::move(title), SafeName(suite) + "_" + part, {Paragraph{std::move(about)}}, {}};
  for (Block& block : PairBlocks(pairs, rows)) section.blocks.push_back(std::move(block));
  return section;
}

// The comparisons of settings stand before those of models.
std::span<const Comparison> Part(std::span<const Comparison> comparisons, bool settings) {
  const auto models = std::find_if(comparisons.begin(), comparisons.end(),
                                   [](const Comparison& pair) { return !pair.same_model; });
  const size_t count = static_cast<size_t>(models - comparisons.begin());
  return settings ? comparisons.first(count) : comparisons.subspan(count);
}

constexpr char kAccuracyText[] =
    "Who was right by the headline grader. p is the chance of so large a difference among runs that are "
    "alike: exact two-sided McNemar test; where items have several samples, Student's t on the items' "
    "differences. p (Holm) is corrected for all tests of its family, whose number stands beside it. Items "
    "needed: so many would show such a difference in 80 % of all cases.";
constexpr char kLengthText[] =
    "Trace length in tokens, item by item: over all items, and over those that both got right.";
constexpr char kCutText[] =
    "Truncated traces would have become longer. Up to the horizon the difference is known (Kaplan-Meier); "
    "then over the items that neither run truncated; then had the truncated ones become so many times as "
    "long. Turns at: so many more tokens in each would turn the sign.";
constexpr char kPartingText[] =
    "Where traces part: tokens in common before the first that differs, of the pairs that do. Margin: by how "
    "much a run preferred its token there to the best other one (median, nats). Swapped: each one's token is "
    "the other's second choice.";
constexpr char kCostText[] =
    "Of the whole runs. ms a token: of one sequence among those decoded at once; compared only where both "
    "ran on the same machine with the same threads and batch. Forwards: positions run through the model; "
    "right a million: right answers for a million of them.";

}  // namespace

std::vector<Block> PairBlocks(std::span<const Comparison> pairs, PairRows rows) {
  std::vector<Block> blocks = {SummaryTable(pairs, rows)};
  const auto add = [&](const char* text, Table table) {
    if (table.rows.empty()) return;
    blocks.push_back(Paragraph{text});
    blocks.push_back(std::move(table));
  };
  if (Notes notes = PairNotes(pairs); !notes.notes.empty()) blocks.push_back(std::move(notes));
  add(kAccuracyText, PairedAccuracyTable(pairs, rows));
  add(kLengthText, PairedLengthTable(pairs, rows));
  add(kCutText, CutTracesTable(pairs, rows));
  add(kPartingText, PartingTable(pairs, rows));
  add(kCostText, PairedCostTable(pairs, rows));
  return blocks;
}

std::optional<Section> SettingsSection(const std::string& suite, std::span<const Comparison> comparisons) {
  return SectionOf(suite, "settings", "Settings compared on the same weights",
                   "B against A, item by item; 95 % intervals in brackets. “Better” and “worse” where the "
                   "difference is significant at 5 % among all pairs of the model.",
                   Part(comparisons, true), PairRows::kSettings);
}

std::optional<Section> ModelsSection(const std::string& suite, std::span<const Comparison> comparisons) {
  return SectionOf(suite, "models", "Models compared under the same setting",
                   "B against A, item by item; 95 % intervals in brackets. “Better” and “worse” where the "
                   "difference is significant at 5 % among all pairs under the setting.",
                   Part(comparisons, false), PairRows::kModels);
}

Section AcrossSuitesSection(std::span<const AcrossSuites> across) {
  Section section{"Across suites", "across_suites", {}, {}};
  section.blocks.push_back(
      Paragraph{"Mean accuracy over the suites that both runs have: macro counts every suite once, micro "
                "every item. 95 % intervals in brackets: what other items of the same suites might give."});
  section.blocks.push_back(AcrossSuitesTable(across));
  Notes notes;
  for (const AcrossSuites& of : across) {
    if (of.further > 0)
      notes.notes.push_back({NameOfSide(*of.suites.front()->a) + " and " + NameOfSide(*of.suites.front()->b),
                             fmt::format("of suites that were asked in several ways the first counts; left "
                                         "out: {}.",
                                         Count(of.further))});
  }
  if (!notes.notes.empty()) section.blocks.push_back(std::move(notes));
  return section;
}

}  // namespace fullband
