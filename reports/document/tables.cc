#include "reports/document/tables.h"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

namespace fullband {
namespace {

class Namer {
 public:
  void Add(const Section* section, const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      const Table* table = std::get_if<Table>(&block);
      if (!table) continue;
      CheckShape(*table);
      tables_.push_back({Unused(NameOf(section, *table)), section, table});
    }
  }

  void Add(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      Add(&section, section.blocks);
      Add(section.sections);
    }
  }

  std::vector<NamedTable> Take() { return std::move(tables_); }

 private:
  static std::string NameOf(const Section* section, const Table& table) {
    const std::string own = SafeName(table.name);
    if (!section) return own;
    return NameWithin(SafeName(section->name), own);
  }

  // File systems that know no case must not mix them up either.
  std::string Unused(const std::string& name) {
    const auto lower = [](std::string text) {
      for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      return text;
    };
    std::string unused = name;
    for (int i = 2; !used_.insert(lower(unused)).second; ++i) unused = fmt::format("{}_{}", name, i);
    return unused;
  }

  std::vector<NamedTable> tables_;
  std::set<std::string> used_;
};

}  // namespace

std::string SafeName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      (!name.empty() && (c == '.' || c == '-'));
    if (safe)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string NameWithin(const std::string& section, const std::string& own) {
  return section == own || section.ends_with("_" + own) ? section : section + "_" + own;
}

std::vector<NamedTable> TablesOf(const Document& document) {
  Namer namer;
  namer.Add(nullptr, document.head);
  namer.Add(document.sections);
  return namer.Take();
}

void CheckShape(const Table& table) {
  for (const std::vector<Cell>& row : table.rows)
    if (row.size() != table.columns.size())
      throw std::logic_error(fmt::format("table {}: a row of {} cells, and {} columns", table.name,
                                         row.size(), table.columns.size()));
}

}  // namespace fullband
