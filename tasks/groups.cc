#include "tasks/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/names.h"
#include "common/toml_table.h"
#include "tasks/suite.h"

namespace fullband {
namespace {

constexpr char kAll[] = "all";

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<SuiteGroup> SuiteGroups() {
  const std::filesystem::path file = SuiteFolder() / kGroupFile;
  const std::vector<std::string> names = SuiteNames();
  std::vector<SuiteGroup> groups;
  if (std::filesystem::exists(file)) {
    const toml::table parsed = ParseTomlFile(file, "file of groups");
    TomlTable table(parsed, file, "file of groups");
    for (const std::string& key : table.Keys()) {
      SuiteGroup group{key, table.Texts(key)};
      if (key == kAll || Has(names, key)) throw table.Wrong(key, "is a name that is taken");
      if (group.suites.empty()) throw table.Wrong(key, "names no suite");
      for (const std::string& suite : group.suites)
        if (!Has(names, suite))
          throw table.Wrong(key, fmt::format("{} is not a suite", suite), DidYouMean(suite, names));
      groups.push_back(std::move(group));
    }
  }
  groups.push_back({kAll, names});
  return groups;
}

std::vector<std::string> ExpandGroups(const std::vector<std::string>& names) {
  const std::vector<SuiteGroup> groups = SuiteGroups();
  std::vector<std::string> expanded;
  for (const std::string& name : names) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const SuiteGroup& one) { return one.name == name; });
    if (group == groups.end()) {
      expanded.push_back(name);
      continue;
    }
    for (const std::string& suite : group->suites)
      if (!Has(expanded, suite) && !Has(names, suite)) expanded.push_back(suite);
  }
  return expanded;
}

}  // namespace fullband
