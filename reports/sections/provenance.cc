#include "reports/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "reports/columns.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {
namespace {

std::string OrDash(const std::string& text) { return text.empty() ? kNoValue : text; }

// What was run, and what on. One row a run.
Table RunTable(std::span<const RunResults> runs) {
  Table table{"runs",
              {{"run", Align::kLeft},
               {"model", Align::kLeft},
               {"suite", Align::kLeft},
               {"version"},
               {"setting", Align::kLeft},
               {"asked as", Align::kLeft},
               {"seed"},
               {"most tokens"},
               {"graders", Align::kLeft},
               {"program", Align::kLeft},
               {"begun", Align::kLeft},
               {"machines", Align::kLeft}},
              {},
              "The runs: what was asked, graders and their versions, by which program, when and where."};
  for (const RunResults& results : runs) {
    const RunRecord& run = results.run;
    std::map<std::string, std::set<int>> graders;
    for (const ItemResult& item : results.items)
      for (const SampleResult& sample : item.samples)
        for (const auto& [grader, grade] : sample.grades) graders[grader].insert(grade.version);
    std::vector<std::string> names;
    for (const auto& [grader, versions] : graders)
      names.push_back(fmt::format("{} {}", grader, fmt::join(versions, " and ")));
    const bool generates = run.ask == "generate";
    const std::string most = generates ? IdentityPart(run, "max_new_tokens") : "";
    table.rows.push_back({KeyOf(results), results.model.name, run.suite, std::to_string(run.suite_version),
                          run.setting, AskedAs(results), generates ? std::to_string(run.seed) : kNoValue,
                          OrDash(most), OrDash(Joined(names)), run.program_version, run.created,
                          OrDash(Joined(results.machines, "; "))});
  }
  return table;
}

// With which arithmetic; nothing where no run of ours is there.
Table NumericsTable(std::span<const RunResults> runs) {
  Table table{"numerics",
              {{"run", Align::kLeft},
               {"device", Align::kLeft},
               {"instruction set", Align::kLeft},
               {"arithmetic", Align::kLeft},
               {"weights", Align::kLeft},
               {"activations", Align::kLeft},
               {"keys and values", Align::kLeft}},
              {},
              "Where and with which types of numbers the runs were computed."};
  for (const RunResults& results : runs) {
    if (results.imported) continue;
    const RunRecord& run = results.run;
    const std::string kv = IdentityPart(run, "numerics.kv");
    table.rows.push_back({KeyOf(results), OrDash(IdentityPart(run, "numerics.device")),
                          OrDash(IdentityPart(run, "numerics.target")),
                          OrDash(IdentityPart(run, "numerics.version")),
                          OrDash(IdentityPart(run, "numerics.weights")),
                          OrDash(IdentityPart(run, "numerics.activations")), kv.empty() ? "f32" : kv});
  }
  return table;
}

class Hashes {
 public:
  void Add(const std::string& what, const std::string& of, const std::string& sha256) {
    if (!sha256.empty() && seen_.insert({what, of, sha256}).second) table_.rows.push_back({what, of, sha256});
  }
  Table Take() { return std::move(table_); }

 private:
  Table table_{"hashes",
               {{"what", Align::kLeft}, {"of", Align::kLeft}, {"SHA-256", Align::kLeft}},
               {},
               "SHA-256 of what the runs were made of, and of their identities."};
  std::set<std::tuple<std::string, std::string, std::string>> seen_;
};

Table HashTable(std::span<const RunResults> runs) {
  Hashes hashes;
  for (const RunResults& results : runs) {
    if (results.imported) continue;
    hashes.Add("weights", results.model.name, results.model.weights_sha256);
    hashes.Add("tokenizer", results.model.name, IdentityPart(results.run, "tokenizer"));
    hashes.Add("chat template", results.model.name, IdentityPart(results.run, "chat_template"));
  }
  for (const RunResults& results : runs) {
    const RunRecord& run = results.run;
    const std::string suite = fmt::format("{}, version {}", run.suite, run.suite_version);
    hashes.Add("data", suite, IdentityPart(run, "data"));
    if (run.shots > 0)
      hashes.Add("shots", fmt::format("{}, {}, {}", suite, run.format, run.shots),
                 IdentityPart(run, "shots.text_sha256"));
  }
  for (const RunResults& results : runs)
    if (results.imported) hashes.Add("imported file", NameOf(results), results.imported->file_sha256);
  for (const RunResults& results : runs) hashes.Add("run", NameOf(results), results.run.key);
  return hashes.Take();
}

Notes ImportedNotes(std::span<const RunResults> runs) {
  Notes notes;
  for (const RunResults& results : runs)
    if (results.imported)
      notes.notes.push_back(
          {NameOf(results),
           fmt::format("imported from a file of the layout {} that another engine made, as of "
                       "the model “{}”; of its weights and arithmetic nothing is known.",
                       OrDash(results.imported->layout), results.imported->model)});
  return notes;
}

// A comment and a command for each run.
Code CommandsOf(std::span<const RunResults> runs, const HasName& has_name) {
  Code code;
  for (const RunResults& results : runs) {
    const std::optional<std::string> command = CommandOf(results, has_name);
    if (!command) continue;
    // Names must not end the comment.
    if (!code.text.empty()) code.text += "\n";
    code.text += TerminalLine("# " + results.run.suite + ": " + NameOf(results)) + "\n" + *command;
  }
  return code;
}

}  // namespace

Section ProvenanceSection(std::span<const RunResults> runs, const HasName& has_name) {
  Section section{"Provenance", "provenance", {}};
  section.blocks = {RunTable(runs)};
  if (Table numerics = NumericsTable(runs); !numerics.rows.empty())
    section.blocks.push_back(std::move(numerics));
  if (Notes notes = ImportedNotes(runs); !notes.notes.empty()) section.blocks.push_back(std::move(notes));
  section.blocks.push_back(HashTable(runs));
  if (Code commands = CommandsOf(runs, has_name); !commands.text.empty()) {
    section.blocks.push_back(Paragraph{
        "The same again, into another store: the key of a run is the same where nothing has changed that "
        "could "
        "change an answer. Models and suites that are files are named as they were. The store keeps which "
        "examples were drawn, not the seed of the draw: where it was not 0, add --fewshot-seed."});
    section.blocks.push_back(std::move(commands));
  }
  return section;
}

}  // namespace fullband
