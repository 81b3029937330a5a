// Groups of suites: names that stand for several, as tasks/groups.toml lists them.
#pragma once

#include <string>
#include <vector>

namespace fullband {

inline constexpr char kGroupFile[] = "groups.toml";

struct SuiteGroup {
  std::string name;
  std::vector<std::string> suites;
};

// In the order of their names, and last "all": every suite in tasks/. Throws Error where the file is
// malformed or names something that is no suite.
std::vector<SuiteGroup> SuiteGroups();

// `names` (suites, groups, paths to TOML files) with each group's suites in its place. A suite that a group
// brings and that is there already is left out; one that is named twice by itself is kept twice, for the
// caller to refuse.
std::vector<std::string> ExpandGroups(const std::vector<std::string>& names);

}  // namespace fullband
