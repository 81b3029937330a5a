// What charts call runs, and which setting is drawn in which way.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/results.h"

namespace fullband {

// `text` as a chart can show it: one line of valid UTF-8 without control characters (they are written out),
// and at most `columns` wide: longer texts lose their middle, since names often differ at their ends. A dash
// where nothing is left.
std::string ChartText(std::string_view text, int columns = 48);

// A name for files and anchors: a-z, 0-9, "_" and "-", at most 40 of them, "chart" where nothing is left.
std::string ChartName(std::string_view text);

// The first of NAME, NAME_2, NAME_3, ... that is not among `taken`, which it is added to.
std::string TakeName(const std::string& name, std::set<std::string>* taken);

// Texts of which some may be the same, made different: " (2)", " (3)", ... behind the further ones.
std::vector<std::string> Distinct(std::vector<std::string> texts);

// A setting has the same colour, shape and dash in every chart of a report: those of its place among the
// report's settings. The first place is kept for "standard", whether a run has it or not.
class ChartLooks {
 public:
  // Settings of the runs, as SettingBefore sorts them, behind "standard".
  explicit ChartLooks(std::span<const RunResults> runs);
  // Any names of series, in their order.
  explicit ChartLooks(std::vector<std::string> names);
  // The same with these names behind, where they are not there yet.
  ChartLooks With(std::span<const std::string> names) const;

  // As charts show them (ChartText), all different.
  const std::vector<std::string>& Shown() const { return shown_; }
  // The text that stands for a name. Throws std::invalid_argument for one that is not there.
  const std::string& Shown(const std::string& name) const;

 private:
  std::vector<std::string> names_, shown_;
};

// How a chart names one run: `group` is its model, and how it was asked where the runs of the chart differ in
// that; `label` its setting. No two runs have both alike: those that would have their key behind the setting.
struct RunLabel {
  std::string group, label;
};

std::vector<RunLabel> LabelRuns(std::span<const RunResults* const> runs, const ChartLooks& looks);

// The groups in order of appearance.
std::vector<std::string> GroupsOf(const std::vector<RunLabel>& labels);

}  // namespace fullband
