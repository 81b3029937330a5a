// What a report says, before it is Markdown, LaTeX, CSV or HTML. Sections are put together from results;
// renderers turn them into one format each and know nothing of runs.
//
// Every text is plain: names, prompts and answers may hold anything, and each renderer escapes what its
// format would take for more than text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fullband {

struct Paragraph {
  std::string text;
};

struct Note {
  std::string about;  // which run or pair; may be empty
  std::string text;
  bool warns = false;  // figures cannot be taken at face value: shown in bold
};

struct Notes {
  std::vector<Note> notes;
};

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

// What a cell shows beside its number: the ends of an interval ("low", "high"), a standard error ("error"),
// how many items count ("items").
struct NamedNumber {
  std::string name;
  double value = 0;
};

// Numbers are in the unit that is shown, but shares are fractions where a text has per cent (0.25 for
// "25.0 %"). reports/document/cells.h makes the usual ones.
struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT: a text is a cell
  Cell(const char* shown) : text(shown) {}             // NOLINT
  Cell(std::string shown, std::optional<double> value, std::vector<NamedNumber> others = {})
      : text(std::move(shown)), number(value), further(std::move(others)) {}

  std::string text;              // as people read it
  std::optional<double> number;  // what it stands for, in full: what sorts, and what CSV has; none for texts
  std::vector<NamedNumber> further = {};  // what else it shows: CSV has a column for each name
};

struct Table {
  std::string name;  // of files and anchors, unique within its section: "accuracy", "paired_lengths"
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells each as there are columns
  std::string caption = {};             // LaTeX and HTML; may be empty
};

struct Chart {
  std::string name;   // as a table's
  std::string title;  // one line: what is drawn, in which unit
  // Vega-Lite 5 with its data inside and no size in pixels of its own; colours are the renderer's.
  nlohmann::json spec;
};

// What is to be copied, line by line as it stands: commands.
struct Code {
  std::string text;  // several lines, without a line end behind the last
};

using Block = std::variant<Paragraph, Notes, Table, Chart, Code>;

struct Section {
  std::string title;
  std::string name;  // of files and anchors: "gsm8k", "gsm8k_pairs"
  std::vector<Block> blocks;
  std::vector<Section> sections = {};
};

struct Document {
  std::string title;
  std::vector<Block> head;
  std::vector<Section> sections;
};

}  // namespace fullband
