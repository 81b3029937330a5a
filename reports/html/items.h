// A store's items as the HTML report shows them: an index with a row an item, which a page reads at once, and
// the texts in blocks of items, which it unpacks when someone opens one.
//
// Texts are read from the store block by block as they are asked for: what stays in memory is the index.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evals/store/imported.h"
#include "evals/store/store.h"

namespace fullband {

struct HtmlItemsOptions {
  // Of a longer text (UTF-8 bytes) the first three quarters of this and the last quarter are kept.
  size_t longest_text = size_t{64} << 10;
  // Items whose texts are packed together. What they share (the shots of a prompt, traces that begin alike)
  // takes no space; one opened unpacks all.
  size_t items_in_block = 32;
};

class HtmlItems {
 public:
  // Reads the index of all runs. `store` must outlive this.
  explicit HtmlItems(Store& store, const HtmlItemsOptions& options = {});

  // {"block": items in one,
  //  "columns": [{"model", "setting"}],            what runs of several suites have in common
  //  "suites": [{"name", "runs": [run...], "first": its first block, "items": [id...], "golds": [...]}],
  //  "runs": [{"suite", "column", "key", "asked", "ask", "headline", "samples": most that an item has,
  //            "stops": whether stop reasons are known, "outcomes": "cCi-...", "tokens": [...] or null}]}
  // Outcomes and trace lengths stand item by item, `samples` of each: c(orrect), i(ncorrect), n(o answer),
  // t(ime-out), f(ault), u(ngraded), - (no such sample); capital where the trace was truncated.
  nlohmann::json Index() const;

  size_t size() const;    // items, those of each suite for themselves
  size_t blocks() const;  // of all suites

  // Block i, 0 <= i < blocks():
  // {"t": texts, each a string or [beginning, characters left out, end]
  //  "i": [items]}, an item: {"r": [by the suite's runs: null or
  //    {"p": prompt, "g": gold, "d": shots dropped, "s": [samples]}], "l": [shared beginnings]}
  //  a sample: {"n": number, "f": fault} or
  //    {"n", "x": text, "w": [UTF-16 units of each token's text], "k": [prompt, generated, trace tokens],
  //     "s": stop reason, "e": {place: [id, log-probability, runner-up, its log-probability, end token]},
  //     "c": [[choice's text, log-probability, tokens, greedy, gold]],
  //     "v": [[grader, outcome, extracted, detail]]}, what is not known left out or null;
  //  shared beginnings of traces whose ids mean the same: {"m": [[run, sample]...] in order, "n": [tokens],
  //  "p": [shared]}
  // Prompt, gold, text and so on are indices of "t"; runs are counted within the suite.
  nlohmann::json Block(size_t i) const;

 private:
  struct Run {
    RunRecord record;
    std::string model, asked;
    std::string tokenizer;  // token ids of runs in which this is the same mean the same
    std::vector<int32_t> end_tokens;
    std::optional<ImportedRun> imported;
    size_t column = 0;
    size_t samples = 0;             // most that an item has
    std::vector<int64_t> item_ids;  // by the suite's items; 0: not asked
    // By item, `samples` of each.
    std::vector<int64_t> sample_ids;  // 0: none
    std::string outcomes;
    std::vector<int64_t> trace_tokens;  // -1: none

    bool Knows(const std::string& field) const { return !imported || imported->Has(field); }
  };
  struct Suite {
    std::string name;
    size_t first_run = 0, runs = 0, first_block = 0;
    std::vector<std::string> items, golds;
  };
  struct Column {
    std::string model, setting;
  };
  class Texts;

  void ReadRuns();
  void ReadItems(Suite* suite);
  void ReadSamples(Run* run);
  void PlaceColumns();
  nlohmann::json Item(const Suite& suite, size_t item, Texts* texts) const;
  nlohmann::json Sample(const Run& run, const SampleRecord& sample, Texts* texts) const;

  Store& store_;
  HtmlItemsOptions options_;
  std::vector<Run> runs_;
  std::vector<Suite> suites_;
  std::vector<Column> columns_;
};

}  // namespace fullband
