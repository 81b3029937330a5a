// What renderers share: a document's tables under names that are files'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.h"

namespace fullband {

// Letters, digits, '.', '-' and '_' of the text; '_' for each run of others, none at its ends. Never empty,
// never begins with '.'.
std::string SafeName(std::string_view text);

// What `own` in this section is called: "gsm8k_lengths" with "_" and "mean", but "gsm8k_accuracy" alone with
// "accuracy", which it ends with.
std::string NameWithin(const std::string& section, const std::string& own);

struct NamedTable {
  std::string name;  // "gsm8k_accuracy": of the section and, unless that ends with it, the table; each once
  const Section* section = nullptr;  // nothing for tables of the head
  const Table* table = nullptr;
};

// All of them in their order, those of sections within sections behind these. They point into `document`.
// Throws as CheckShape.
std::vector<NamedTable> TablesOf(const Document& document);

// Throws std::logic_error for a row that has another number of cells than the table has columns.
void CheckShape(const Table& table);

}  // namespace fullband
