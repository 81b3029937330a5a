#include "tasks/data_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "common/error.h"
#include "common/hash.h"
#include "common/paths.h"
#include "common/toml_table.h"
#include "tasks/gzip.h"

namespace fullband {
namespace {

// The name by which `fullband data` knows the public file or folder at `path`, or nothing.
std::optional<std::string> PublicDataSet(const std::string& path) {
  const std::filesystem::path table = HomeFolder() / "tasks" / "data" / "sources.toml";
  const size_t slash = path.find('/');
  if (slash == std::string::npos || !std::filesystem::exists(table)) return std::nullopt;
  const toml::table sources = ParseTomlFile(table, "table of sources");
  const std::string data_set = path.substr(0, slash), rest = path.substr(slash + 1);
  const toml::array* files = sources[data_set]["files"].as_array();
  for (size_t i = 0; files && i < files->size(); ++i) {
    const toml::node_view<const toml::node> entry((*files)[i]);
    const std::string file = entry["file"].value_or<std::string>("");
    if (file == rest || file.starts_with(rest + "/")) return entry["name"].value_or(data_set);
  }
  return std::nullopt;
}

// What to type for a file of the public data sets to be had, in words for a remedy; else empty.
std::string FetchRemedy(const DataFile& file, const std::filesystem::path& data_folder) {
  const std::optional<std::string> name = PublicDataSet(file.path);
  if (!name) return "";
  return fmt::format("fullband data fetch {}{} gets it", *name,
                     data_folder.empty() ? "" : " --data-dir " + data_folder.string());
}

Error Missing(const DataFile& file, const std::vector<std::filesystem::path>& folders,
              const std::filesystem::path& data_folder) {
  std::vector<std::string> looked;
  for (const std::filesystem::path& folder : folders) looked.push_back(folder.string());
  const std::string origin = file.origin.empty() ? "" : fmt::format("it is {}; ", file.origin);
  const std::string fetch = FetchRemedy(file, data_folder);
  return Error(file.path, fmt::format("was not found; looked for it below {}", fmt::join(looked, ", ")),
               origin + fetch + (fetch.empty() ? "" : ", or ") +
                   "name the folder that has it with --data-dir or $FULLBAND_DATA");
}

}  // namespace

std::vector<std::filesystem::path> SuiteFolders(const Suite& suite,
                                                const std::filesystem::path& data_folder) {
  if (!data_folder.empty() && !std::filesystem::is_directory(data_folder))
    throw UsageError(data_folder.string(), "is not a folder",
                     "--data-dir names the folder that holds the data files");
  std::vector<std::filesystem::path> folders{suite.file.parent_path()};
  for (std::filesystem::path& folder : DataFolders(data_folder)) folders.push_back(std::move(folder));
  return folders;
}

std::optional<std::filesystem::path> FindData(const Suite& suite, const DataFile& file,
                                              const std::filesystem::path& data_folder) {
  for (const std::filesystem::path& folder : SuiteFolders(suite, data_folder)) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / file.path, ignored)) return folder / file.path;
  }
  return std::nullopt;
}

DataBytes ReadData(const Suite& suite, const DataFile& file, const std::filesystem::path& data_folder) {
  const auto path = FindData(suite, file, data_folder);
  if (!path) throw Missing(file, SuiteFolders(suite, data_folder), data_folder);
  if (!std::filesystem::is_regular_file(*path))
    throw Error(path->string(), "is not a file", "expected a data file");
  std::ifstream stream(*path, std::ios::binary);
  DataBytes data{*path, {std::istreambuf_iterator<char>(stream), {}}, ""};
  if (!stream || stream.bad()) throw Error(path->string(), "cannot be read", "check its permissions");
  data.sha256 = Sha256Hex(data.bytes);
  if (!file.sha256.empty() && data.sha256 != file.sha256) {
    std::string origin =
        file.origin.empty() ? "get the file that the suite was made for" : "get " + file.origin;
    if (const std::string fetch = FetchRemedy(file, data_folder); !fetch.empty()) origin += ": " + fetch;
    throw Error(path->string(),
                fmt::format("has SHA-256 {}, but suite {} is about {}", data.sha256, suite.name, file.sha256),
                origin + "; for other data, write a suite file of your own");
  }
  if (IsGzip(data.bytes)) data.bytes = Gunzip(data.bytes, path->string());
  return data;
}

}  // namespace fullband
