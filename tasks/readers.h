// Readers: a data file's bytes in, its items out. One row of a table for each data format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/suite.h"

namespace fullband {

struct Reader {
  std::string name;
  Ask ask;  // the kind of suite it serves; kChoose items have `choices` (texts) and `gold` (an index into
            // them)
  std::vector<std::string> fields;  // the text fields that templates may use
  std::vector<std::string> groups;  // the fields, texts or whole numbers, that reports may group items by
  std::vector<Item> (*read)(std::string_view bytes, const std::filesystem::path& path);
  // Fields that no data file holds: a suite of this reader has [parts], each of which states these texts.
  // Templates may use them, and reports may group by them.
  std::vector<std::string> part_fields = {};
  Choices choices = Choices::kContinuations;  // kChoose
  // Whether items ask for a program: they have the field `program`, and its gold is that.
  bool programs = false;
};

const std::vector<Reader>& Readers();
std::vector<std::string> ReaderNames();
// Null for an unknown name.
const Reader* FindReader(std::string_view name);

// Reads the items of a file that holds `bytes`. Throws Error naming the file and, where there is one, line
// and field: no items, a line that is not a JSON object or not UTF-8, a field that is missing, of the wrong
// type or out of range, an id that stands twice.
std::vector<Item> ReadItems(const Reader& reader, std::string_view bytes, const std::filesystem::path& path);

}  // namespace fullband
