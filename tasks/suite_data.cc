#include "tasks/suite_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "common/names.h"
#include "tasks/text_template.h"

namespace fullband {
namespace {

constexpr int64_t kMostShots = 1000;
constexpr char kPart[] = "part";

std::string ReadSha256(TomlTable& table, const std::string& key) {
  std::string sha256 = table.Text(key, "");
  const bool hex = sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!sha256.empty() && (sha256.size() != 64 || !hex))
    throw table.Wrong(key, "is not 64 lower-case hex digits");
  return sha256;
}

std::optional<IdRange> ReadIdRange(TomlTable& table) {
  constexpr int64_t kMostId = int64_t{1} << 53;
  if (!table.Has("first_id") && !table.Has("last_id")) return std::nullopt;
  IdRange range;
  range.first = table.Integer("first_id", 0, kMostId);
  range.last = table.Integer("last_id", range.first, kMostId);
  return range;
}

DataFile ReadDataFile(TomlTable& table) {
  DataFile file;
  file.path = table.Text("path");
  file.origin = table.Text("origin", "");
  file.sha256 = ReadSha256(table, "sha256");
  const std::filesystem::path path(file.path);
  if (path.is_absolute() || std::count(path.begin(), path.end(), ".."))
    throw table.Wrong("path", "leads out of the data folders",
                      "name a file below the suite's folder or a data folder");
  file.ids = ReadIdRange(table);
  return file;
}

void ReadShots(TomlTable& table, Suite* suite) {
  suite->shots = static_cast<int>(table.Integer("default", 0, kMostShots));
  const std::vector<std::string> of_file = {"path", "sha256", "origin", "first_id", "last_id"};
  if (std::any_of(of_file.begin(), of_file.end(), [&](const std::string& key) { return table.Has(key); }))
    suite->shot_data = ReadDataFile(table);
  table.MayHave(of_file);
  suite->first_shots = table.Boolean("first", false);
  suite->same_ids = table.Boolean("same_ids", false);
  for (const char* key : {"first", "same_ids"})
    if (table.Boolean(key, false) && suite->shot_data.path.empty())
      throw table.Wrong(key, "needs a file of shots", "name one as shots.path");
}

void ReadReplaced(TomlTable& file, Suite* suite) {
  std::optional<TomlTable> table = file.OptionalTable("replaced");
  if (!table) return;
  if (!suite->parts.empty()) throw file.Wrong("replaced", "does not go with [parts]");
  suite->replaced = Replaced{ReadDataFile(*table), table->Texts("ids")};
  if (suite->replaced->ids.empty()) throw table->Wrong("ids", "names no item");
  table->Finish();
}

// The file of one part: `whole` with its {part} filled.
DataFile PartFile(const TomlTable& table, const DataFile& whole, const std::string& part,
                  const std::string& sha256) {
  if (!whole.sha256.empty())
    throw table.Wrong("sha256", "stands for one file, and the suite has parts",
                      "state it in each table of [parts]");
  DataFile file = whole;
  try {
    const TextTemplate path = ParseTemplate(whole.path);
    if (path.holes != std::vector<std::string>{kPart})
      throw std::invalid_argument("must have the hole {part} and no other");
    file.path = FillTemplate(whole.path, {{kPart, part}});
  } catch (const std::invalid_argument& error) {
    throw table.Wrong("path", error.what(), "each part has a file of its own");
  }
  file.sha256 = sha256;
  return file;
}

bool IsPartName(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

void ReadParts(TomlTable& file, const TomlTable& data, const TomlTable& shots, const Reader& reader,
               Suite* suite) {
  std::optional<TomlTable> parts = file.OptionalTable("parts");
  if (!parts) {
    if (!reader.part_fields.empty())
      throw file.Wrong("parts", "is missing", fmt::format("items of {} are read in parts", reader.name));
    return;
  }
  for (const std::string& name : parts->Keys()) {
    if (!IsPartName(name)) throw parts->Wrong(name, "is not a part's name", "use a-z, 0-9 and _");
    TomlTable table = parts->Table(name);
    Part part;
    part.name = name;
    part.data = PartFile(data, suite->data, name, ReadSha256(table, "sha256"));
    const std::string shots_sha256 = ReadSha256(table, "shots_sha256");
    if (!suite->shot_data.path.empty())
      part.shot_data = PartFile(shots, suite->shot_data, name, shots_sha256);
    else if (!shots_sha256.empty())
      throw table.Wrong("shots_sha256", "is of a file that the suite does not name", "name it as shots.path");
    for (const std::string& field : reader.part_fields) part.fields[field] = table.Text(field);
    table.Finish();
    suite->parts.push_back(std::move(part));
  }
  if (suite->parts.empty()) throw file.Wrong("parts", "names no part");
  parts->Finish();
}

void ReadDerived(TomlTable& file, const Reader& reader, Suite* suite) {
  std::optional<TomlTable> tables = file.OptionalTable("fields");
  if (!tables) return;
  const std::vector<std::string> taken = TemplateFields(*suite, reader);
  for (const std::string& name : tables->Keys()) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end() || name == "choice")
      throw tables->Wrong(name, fmt::format("is a field that items of {} have", reader.name),
                          "give it another name");
    TomlTable table = tables->Table(name);
    DerivedField field{name, table.Text("from"), nullptr};
    if (std::find(taken.begin(), taken.end(), field.from) == taken.end())
      throw table.Wrong("from", fmt::format("{} is not a text field of this suite's items", field.from),
                        DidYouMean(field.from, taken));
    field.pattern = std::make_shared<const Regex>(table.Text("pattern"),
                                                  suite->file.string() + ", fields." + name + ".pattern");
    table.Finish();
    suite->derived.push_back(std::move(field));
  }
  tables->Finish();
}

}  // namespace

void ReadSuiteData(TomlTable& file, const Reader& reader, Suite* suite) {
  TomlTable data = file.Table("data");
  suite->data = ReadDataFile(data);
  data.Finish();
  TomlTable shots = file.Table("shots");
  ReadShots(shots, suite);
  shots.Finish();
  ReadParts(file, data, shots, reader, suite);
  ReadReplaced(file, suite);
  ReadDerived(file, reader, suite);
}

std::vector<std::string> TemplateFields(const Suite& suite, const Reader& reader) {
  std::vector<std::string> fields = reader.fields;
  fields.insert(fields.end(), reader.part_fields.begin(), reader.part_fields.end());
  for (const DerivedField& field : suite.derived) fields.push_back(field.name);
  return fields;
}

std::vector<DataFile> DataFiles(const Suite& suite) {
  std::vector<DataFile> files;
  const auto add = [&files](const DataFile& data, const DataFile& shots) {
    files.push_back(data);
    if (!shots.path.empty()) files.push_back(shots);
  };
  for (const Part& part : suite.parts) add(part.data, part.shot_data);
  if (suite.parts.empty()) add(suite.data, suite.shot_data);
  if (suite.replaced) files.push_back(suite.replaced->data);
  return files;
}

}  // namespace fullband
