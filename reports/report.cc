#include "reports/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <system_error>

#include "common/error.h"
#include "common/paths.h"
#include "reports/breakdown.h"
#include "reports/comparison.h"
#include "reports/figures.h"
#include "reports/import_notes.h"
#include "reports/markdown.h"
#include "reports/results.h"
#include "reports/sample_tables.h"

namespace fullband {

namespace {

constexpr Table::Align kLeft = Table::Align::kLeft;
using Columns = std::vector<Table::Column>;
using Cells = std::vector<std::string>;

// A share of truncated traces above which a report warns: accuracy then says as much about the limit as about
// the model.
constexpr double kManyTruncated = 0.1;

struct Row {
  const RunResults* results;
  RunFigures figures;
};

std::string Key(const RunResults& results) { return results.run.key.substr(0, 8); }

// Which runs a row or a note is about, short.
std::string AskedAs(const RunResults& results) {
  const RunRecord& run = results.run;
  std::string text = fmt::format("{}, {} shot{}", run.format, run.shots, run.shots == 1 ? "" : "s");
  if (run.temperature > 0) text += fmt::format(", T {:g}", run.temperature);
  if (results.samples_per_item > 1) text += fmt::format(", {} samples", results.samples_per_item);
  return text;
}

Columns RunColumns(const Columns& more) {
  Columns columns = {{"model", kLeft}, {"setting", kLeft}, {"asked as", kLeft}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

Cells RunCells(const RunResults& results, const Cells& more) {
  Cells cells = {results.model.name, results.run.setting, AskedAs(results)};
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

std::string Bullets(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "- " + note + "\n";
  return notes.empty() ? "" : text + "\n";
}

std::string Joined(const std::vector<std::string>& parts, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string AccuracyTable(const std::vector<Row>& rows) {
  Table table(RunColumns({{"items"},
                          {"accuracy"},
                          {"95 % interval"},
                          {"answer found"},
                          {"truncated"},
                          {"accuracy of finished"},
                          {"faults"},
                          {"time-outs"},
                          {"run", kLeft}}));
  for (const auto& [results, figures] : rows) {
    const Accuracy& accuracy = figures.headline;
    const bool generates = results->run.ask == "generate";
    const TraceLengths& lengths = figures.lengths;
    std::optional<double> truncated;
    if (generates && lengths.samples > 0 && results->Knows("stop_reason")) {
      truncated = static_cast<double>(lengths.truncated) / static_cast<double>(lengths.samples);
    }
    table.Add(RunCells(*results, {Count(accuracy.items), Percent(accuracy.share),
                                  accuracy.share ? PercentInterval(accuracy.interval) : kNoValue,
                                  generates ? Percent(accuracy.answered) : kNoValue, Percent(truncated),
                                  generates ? Percent(figures.accuracy_of_finished) : kNoValue,
                                  Count(accuracy.faults), Count(accuracy.timeouts), Key(*results)}));
  }
  return table.Render();
}

// Every grader's accuracy side by side; nothing where there is only the headline's.
std::string GraderTable(const std::vector<Row>& rows) {
  std::vector<std::string> graders;
  for (const Row& row : rows) {
    for (const Accuracy& accuracy : row.figures.graders) {
      if (std::find(graders.begin(), graders.end(), accuracy.grader) == graders.end())
        graders.push_back(accuracy.grader);
    }
  }
  if (graders.size() < 2) return "";
  Columns columns;
  for (const std::string& grader : graders) columns.push_back({grader});
  Table table(RunColumns(columns));
  for (const auto& [results, figures] : rows) {
    Cells cells;
    for (const std::string& grader : graders) {
      const auto found = std::find_if(figures.graders.begin(), figures.graders.end(),
                                      [&](const Accuracy& accuracy) { return accuracy.grader == grader; });
      if (found == figures.graders.end() || !found->share) {
        cells.push_back(kNoValue);
        continue;
      }
      std::string cell = Percent(found->share) + " (" + PercentInterval(found->interval) + ")";
      if (results->run.ask == "generate" && found->answered) cell += ", found " + Percent(found->answered);
      cells.push_back(cell);
    }
    table.Add(RunCells(*results, cells));
  }
  return "### Graders\n\nAccuracy and 95 % interval by each grader" +
         std::string(rows.front().results->run.ask == "generate"
                         ? ", and the share in which it found an answer"
                         : "") +
         ".\n\n" + table.Render();
}

// A column's title for each run: its setting, and whatever else it takes to tell the runs apart.
std::vector<std::string> RunTitles(const std::vector<const RunResults*>& runs) {
  std::set<std::string> models, prompts;
  for (const RunResults* results : runs) {
    models.insert(results->model.name);
    prompts.insert(AskedAs(*results));
  }
  std::vector<std::string> titles;
  for (const RunResults* results : runs) {
    std::string title = models.size() > 1 ? results->model.name + ", " : "";
    title += results->run.setting;
    if (prompts.size() > 1) title += ", " + AskedAs(*results);
    titles.push_back(title);
  }
  const std::vector<std::string> short_titles = titles;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::count(short_titles.begin(), short_titles.end(), titles[i]) > 1)
      titles[i] += " (" + Key(*runs[i]) + ")";
  }
  return titles;
}

std::string BreakdownTable(const Breakdown& breakdown) {
  Columns columns;
  for (const std::string& field : breakdown.fields) columns.push_back({field, kLeft});
  for (const std::string& title : RunTitles(breakdown.runs)) columns.push_back({title});
  Table table(columns);
  for (const BreakdownRow& row : breakdown.rows) {
    Cells cells = row.labels;
    for (const BreakdownCell& cell : row.cells) {
      cells.push_back(cell.items == 0 ? std::string(kNoValue)
                                      : fmt::format("{} ({})", Percent(cell.Share()), Count(cell.items)));
    }
    table.Add(cells);
  }
  const bool means = std::any_of(breakdown.rows.begin(), breakdown.rows.end(), [](const BreakdownRow& row) {
    return row.kind == BreakdownRow::Kind::kMean;
  });
  const std::string note =
      means ? fmt::format(" `all` weighs every item alike, `mean` every {} (in brackets their number).",
                          breakdown.fields.back())
            : "";
  return fmt::format("### Accuracy by {}\n\nBy the headline grader; in brackets the items that count.{}\n\n",
                     Joined(breakdown.fields, " and "), note) +
         table.Render();
}

// Nothing where no items are grouped.
std::string BreakdownSection(std::span<const RunResults> runs) {
  const std::vector<Breakdown> breakdowns = BreakDown(runs);
  if (breakdowns.empty()) return "";
  std::string section;
  for (const Breakdown& breakdown : breakdowns) section += BreakdownTable(breakdown);
  std::vector<std::string> notes;
  for (const RunResults& results : runs) {
    const bool grouped = std::any_of(results.items.begin(), results.items.end(),
                                     [](const ItemResult& item) { return !item.groups.empty(); });
    if (!grouped && !results.items.empty())
      notes.push_back(
          fmt::format("{}, {} ({}): its items' groups are not in the store; running it once more adds "
                      "them, without asking anything anew.",
                      results.model.name, results.run.setting, Key(results)));
  }
  return section + Bullets(notes);
}

// Nothing where items have several choices.
std::string PerplexityTable(const std::vector<Row>& rows) {
  Table table(RunColumns({{"items"}, {"perplexity"}}));
  for (const auto& [results, figures] : rows) {
    const Perplexity& perplexity = figures.perplexity;
    if (perplexity.value)
      table.Add(RunCells(*results, {Count(perplexity.items), Fixed(perplexity.value, 3)}));
  }
  if (table.empty()) return "";
  return "### Perplexity\n\nexp(−mean log-probability of the continuation), all its tokens together.\n\n" +
         table.Render();
}

std::string LengthTable(const std::vector<Row>& rows) {
  Table table(RunColumns({{"mean"},
                          {"median"},
                          {"90th percentile"},
                          {"finished"},
                          {"right"},
                          {"not right"},
                          {"truncated"},
                          {"truncated traces"}}));
  for (const auto& [results, figures] : rows) {
    if (results->run.ask != "generate" || !results->Knows("trace_tokens")) continue;
    const TraceLengths& lengths = figures.lengths;
    table.Add(RunCells(*results, {Fixed(lengths.mean, 1), Fixed(lengths.median, 1),
                                  Fixed(lengths.percentile90, 1), Fixed(lengths.finished, 1),
                                  Fixed(lengths.right, 1), Fixed(lengths.wrong, 1), Fixed(lengths.cut, 1),
                                  results->Knows("stop_reason") ? Count(lengths.truncated) : kNoValue}));
  }
  if (table.empty()) return "";
  return "### Trace length\n\nTokens of the kept text (`trace_tokens`): mean, median and 90th percentile of "
         "all traces; then "
         "the means of those that finished, that are right or not by the headline grader, and that were "
         "truncated.\n\n" +
         table.Render();
}

// Nothing where no trace has a thought.
std::string ThoughtTable(const std::vector<Row>& rows) {
  if (std::none_of(rows.begin(), rows.end(),
                   [](const Row& row) { return row.figures.thoughts.thinking > 0; }))
    return "";
  Table table(
      RunColumns({{"traces that think"}, {"thought tokens"}, {"visible tokens"}, {"unfinished thoughts"}}));
  for (const auto& [results, figures] : rows) {
    const ThoughtFigures& thoughts = figures.thoughts;
    table.Add(RunCells(*results, {Percent(thoughts.share), Fixed(thoughts.thought, 1),
                                  Fixed(thoughts.visible, 1), Count(thoughts.unfinished)}));
  }
  return "### Thoughts\n\nMean tokens of the kept text inside thoughts, their markers included, and outside; "
         "traces that end inside a thought have no answer there.\n\n" +
         table.Render();
}

std::optional<double> PerSecond(int64_t count, double seconds) {
  if (count <= 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(count) / seconds;
}

std::string CostTable(const std::vector<Row>& rows) {
  Table table(RunColumns({{"generated tokens"},
                          {"seconds"},
                          {"tokens/s"},
                          {"tokens/s of a sequence"},
                          {"position-forwards"},
                          {"saved by cache"},
                          {"peak memory"}}));
  for (const auto& [results, figures] : rows) {
    const Cost& cost = results->cost;
    const bool generates = results->run.ask == "generate";
    if (results->imported && cost.generated_tokens == 0 && cost.wall_seconds == 0) continue;
    // Of imported runs no more is known than tokens and seconds, if that.
    const auto known = [ours = !results->imported](const std::string& cell) {
      return ours ? cell : std::string(kNoValue);
    };
    const std::optional<double> seconds =
        results->imported && cost.wall_seconds == 0 ? std::nullopt : std::optional(cost.wall_seconds);
    table.Add(RunCells(
        *results, {generates && results->Knows("generated_tokens") ? Count(cost.generated_tokens) : kNoValue,
                   Fixed(seconds, 1), Fixed(PerSecond(cost.generated_tokens, cost.wall_seconds), 1),
                   Fixed(generates ? PerSecond(cost.decode_forwards, cost.decode_seconds) : std::nullopt, 1),
                   known(Count(cost.prefill_forwards + cost.decode_forwards)),
                   known(Count(cost.saved_forwards)), known(Bytes(cost.peak_memory_bytes))}));
  }
  if (table.empty()) return "";
  return "### Cost\n\nSeconds are wall time of all sessions; position-forwards are the prompt positions run "
         "in every prefill "
         "pass and the positions decoded or scored.\n\n" +
         table.Render();
}

Cells PairCells(const Comparison& pair, const Cells& more) {
  const std::string mark = pair.also_differs.empty() ? "" : " *";
  Cells cells = {pair.a->model.name, pair.a->run.setting, pair.b->run.setting + mark, AskedAs(*pair.b)};
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

Columns PairColumns(const Columns& more) {
  Columns columns = {{"model", kLeft}, {"A", kLeft}, {"B", kLeft}, {"asked as", kLeft}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::string PairedAccuracy(const std::vector<Comparison>& pairs) {
  Table table(PairColumns({{"items"},
                           {"both right"},
                           {"only A"},
                           {"only B"},
                           {"neither"},
                           {"McNemar p"},
                           {"B − A, points"},
                           {"left out"}}));
  for (const Comparison& pair : pairs) {
    const auto count = [&](int64_t value) { return pair.single ? Count(value) : std::string(kNoValue); };
    table.Add(PairCells(pair, {Count(pair.items), count(pair.both), count(pair.only_a), count(pair.only_b),
                               count(pair.neither), pair.single && pair.items > 0 ? PValue(pair.p) : kNoValue,
                               Difference(pair.accuracy.mean, pair.accuracy.interval, 100),
                               Count(pair.faults + pair.ungraded + pair.unpaired)}));
  }
  return table.Render();
}

std::string PairedLengths(const std::vector<Comparison>& pairs) {
  Table table(PairColumns({{"identical traces"},
                           {"B − A, all items"},
                           {"items"},
                           {"B − A, both finished"},
                           {"items"},
                           {"B − A, both right"},
                           {"items"}}));
  for (const Comparison& pair : pairs) {
    if (pair.a->run.ask != "generate") continue;
    const bool unknown = pair.a->imported && !pair.identical && !pair.length.mean;
    if (unknown) continue;
    Cells cells = {Percent(pair.identical)};
    for (const PairedDifference* difference : {&pair.length, &pair.length_finished, &pair.length_right}) {
      cells.push_back(Difference(difference->mean, difference->interval));
      cells.push_back(Count(difference->items));
    }
    table.Add(PairCells(pair, cells));
  }
  if (table.empty()) return "";
  return "Trace length, item by item (mean difference in tokens, 95 % bootstrap interval):\n\n" +
         table.Render();
}

std::vector<std::string> PairNotes(const std::vector<Comparison>& pairs) {
  std::vector<std::string> notes;
  std::set<int64_t> imported;  // models
  for (const Comparison& pair : pairs) {
    const std::string name = fmt::format("{}, {} and {} ({}, {})", pair.a->model.name, pair.a->run.setting,
                                         pair.b->run.setting, Key(*pair.a), Key(*pair.b));
    if (!pair.also_differs.empty()) {
      notes.push_back(fmt::format(
          "\\* {}: the runs also differ in {}. Their difference is not attributable to the setting.", name,
          Joined(pair.also_differs)));
    }
    if (pair.a->imported && imported.insert(pair.a->model.id).second)
      notes.push_back(
          fmt::format("{}: that the weights are the same rests on the name alone.", pair.a->model.name));
    std::vector<std::string> left_out;
    if (pair.faults > 0) left_out.push_back(Count(pair.faults) + " with a fault");
    if (pair.ungraded > 0) left_out.push_back(Count(pair.ungraded) + " not graded yet");
    if (pair.unpaired > 0) left_out.push_back(Count(pair.unpaired) + " answered in one run only");
    if (!left_out.empty()) notes.push_back(fmt::format("{}: items left out: {}.", name, Joined(left_out)));
  }
  return notes;
}

std::string PairSection(const std::vector<Comparison>& pairs) {
  if (pairs.empty()) return "";
  return "### Settings compared on the same weights\n\nRight and wrong by the headline grader, item by item; "
         "exact two-sided "
         "McNemar test; difference in accuracy with a 95 % bootstrap interval over items.\n\n" +
         PairedAccuracy(pairs) + PairedLengths(pairs) + Bullets(PairNotes(pairs));
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
  std::replace(system.begin(), system.end(), '\n', ' ');
  if (system.size() < whole.size()) system += "…";
  return fmt::format("chat template {}, {}{}.", text("chat_template").substr(0, 12),
                     system.empty() ? "no system prompt" : "system prompt “" + system + "”",
                     run.shots > 0 ? ", shots as turns" : "");
}

void AddRunNotes(const Row& row, std::vector<std::string>* notes) {
  const auto& [results, figures] = row;
  const std::string name =
      fmt::format("{}, {} ({})", results->model.name, results->run.setting, Key(*results));
  const auto add = [&](const std::string& text) { notes->push_back(name + ": " + text); };
  if (figures.items_open > 0) {
    add(fmt::format("**incomplete**: {} of {} items done.", Count(figures.items_done),
                    Count(figures.items_done + figures.items_open)));
  }
  if (const int64_t asked = figures.items_done + figures.items_open; asked < results->run.items_total) {
    add(fmt::format("asked {} of the suite's {} items.", Count(asked), Count(results->run.items_total)));
  }
  if (figures.headline.ungraded > 0) {
    add(fmt::format("samples not graded yet and left out: {}.", Count(figures.headline.ungraded)));
  }
  const TraceLengths& lengths = figures.lengths;
  if (static_cast<double>(lengths.truncated) > kManyTruncated * static_cast<double>(lengths.samples)) {
    add(fmt::format("{} of {} traces were truncated, so accuracy also measures the limit.",
                    Count(lengths.truncated), Count(lengths.samples)));
  }
  if (results->shots_dropped > 0) {
    add(fmt::format("items that lost shots to fit the context: {}.", Count(results->shots_dropped)));
  }
  if (results->imported) {
    for (const std::string& note : ImportNotes(*results)) add(note);
  } else if (results->run.format == "chat") {
    add(ChatNote(results->run));
  }
  for (const Accuracy& accuracy : figures.graders) {
    if (accuracy.versions.size() < 2) continue;
    add(fmt::format("grader {} judged in versions {}; regrade before comparing.", accuracy.grader,
                    fmt::join(accuracy.versions, ", ")));
  }
}

std::string SamplesSection(const std::vector<Row>& rows, const ReportOptions& options) {
  std::vector<SampleRow> several;
  for (const auto& [results, figures] : rows) {
    if (results->samples_per_item < 2) continue;
    const std::vector<int> ks = options.pass_k.empty() ? UsualKs(results->samples_per_item) : options.pass_k;
    several.push_back({RunCells(*results, {}), Key(*results), FiguresOfSamples(*results, ks)});
  }
  return SampleSection(several);
}

std::string SuiteSection(std::span<const RunResults> runs, const ReportOptions& options) {
  std::vector<Row> rows;
  std::vector<std::string> notes;
  std::set<std::string> headlines;
  for (const RunResults& results : runs) {
    rows.push_back({&results, Figures(results)});
    headlines.insert(results.run.headline);
    AddRunNotes(rows.back(), &notes);
  }
  return fmt::format("## {}\n\n### Accuracy\n\nBy {}; correct / (asked − faults), Wilson 95 % interval.\n\n",
                     runs.front().run.suite, Joined({headlines.begin(), headlines.end()}, " or ")) +
         AccuracyTable(rows) + Bullets(notes) + GraderTable(rows) + PerplexityTable(rows) +
         SamplesSection(rows, options) + BreakdownSection(runs) + LengthTable(rows) + ThoughtTable(rows) +
         CostTable(rows) + PairSection(CompareSettings(runs));
}

std::string Head(Store& store, const std::vector<RunResults>& runs) {
  std::vector<std::string> machines;
  std::set<std::string> versions;
  std::set<int64_t> seen;
  Table models({{"model", kLeft},
                {"architecture", kLeft},
                {"parameters"},
                {"weights", kLeft},
                {"latent feedback", kLeft},
                {"SHA-256", kLeft}});
  for (const RunResults& results : runs) {
    versions.insert(results.run.program_version);
    for (const std::string& machine : results.machines) {
      if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(machine);
    }
    const ModelRecord& model = results.model;
    if (!seen.insert(model.id).second) continue;
    if (results.imported) {
      models.Add({model.name, "unknown", kNoValue, kNoValue, kNoValue, kNoValue});
      continue;
    }
    models.Add({model.name, model.architecture, Count(model.parameters), model.dtype, model.fusion,
                model.weights_sha256.substr(0, 12)});
  }
  std::sort(machines.begin(), machines.end());
  return fmt::format(
             "# Fullband report\n\n- store: {}\n- program: fullband {} (runs by {})\n- machines: {}\n\n",
             store.path().filename().string(), Version(), Joined({versions.begin(), versions.end()}),
             machines.empty() ? kNoValue : Joined(machines, "; ")) +
         models.Render();
}

void CheckKs(const std::vector<RunResults>& runs, const std::vector<int>& ks) {
  int most = 0;
  for (const RunResults& results : runs) most = std::max(most, results.samples_per_item);
  for (const int k : ks) {
    if (k < 1) throw UsageError(fmt::format("--pass-k {}", k), "must be 1 or more");
    if (k > most)
      throw UsageError(fmt::format("--pass-k {}", k),
                       fmt::format("no run here has so many samples of an item (the most is {})", most),
                       "ask for more with fullband run --samples");
  }
}

Error WriteError(const std::filesystem::path& path, const std::string& why) {
  return Error(path.string(), "cannot be written (" + why + ")", "choose another --out");
}

}  // namespace

std::string RenderReport(Store& store, const ReportOptions& options) {
  const std::vector<RunResults> runs = ReadResults(store, options.read);
  if (runs.empty()) throw Error(store.path().string(), "holds no runs", "fullband run --store adds some");
  CheckKs(runs, options.pass_k);
  std::string report = Head(store, runs);
  for (auto begin = runs.begin(); begin != runs.end();) {
    const auto end =
        std::find_if(begin, runs.end(), [&](const RunResults& r) { return r.run.suite != begin->run.suite; });
    report += SuiteSection({begin, end}, options);
    begin = end;
  }
  while (report.ends_with("\n\n")) report.pop_back();
  return report;
}

std::filesystem::path WriteReport(const std::string& text, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw WriteError(folder, error.message());
  const std::filesystem::path path = folder / "report.md";
  const std::filesystem::path part = folder / fmt::format(".report.md.{}", getpid());
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      const std::string why = std::error_code(errno, std::generic_category()).message();
      std::filesystem::remove(part, error);
      throw WriteError(path, why);
    }
  }
  std::filesystem::rename(part, path, error);
  if (error) {
    const std::string why = error.message();
    std::filesystem::remove(part, error);
    throw WriteError(path, why);
  }
  return path;
}

}  // namespace fullband
