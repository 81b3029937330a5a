// A file of JSON objects, one a line, read line by line; every complaint names the file, the line and what to
// do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace fullband {

class LineFile {
 public:
  // Throws Error where the file cannot be read.
  explicit LineFile(const std::filesystem::path& path);

  // Goes on to the next line; false at the end. Throws Error for a line that is no JSON object, and for a
  // file without lines.
  bool Next();

  const nlohmann::json& line() const { return line_; }
  size_t number() const { return number_; }  // of the line, from 1
  const std::filesystem::path& path() const { return path_; }

  // Whether the line has the field, and not as null.
  bool Has(const std::string& field) const;
  // These throw Error where the line lacks the field, or has it with another type or out of range.
  std::string Text(const std::string& field) const;
  std::string Id(const std::string& field) const;  // text, or a whole number as some data sets have them
  int64_t Whole(const std::string& field, int64_t least, int64_t most) const;
  double Number(const std::string& field, double least) const;
  std::vector<int64_t> Wholes(const std::string& field, int64_t least, int64_t most) const;
  std::vector<double> Numbers(const std::string& field) const;
  std::vector<bool> Flags(const std::string& field) const;

  // Throws Error for a field that is not among these, with near ones.
  void CheckFields(const std::set<std::string>& known) const;
  [[noreturn]] void Fail(const std::string& why, const std::string& remedy = {}) const;

 private:
  const nlohmann::json& Field(const std::string& field) const;
  const nlohmann::json& List(const std::string& field) const;

  const std::filesystem::path path_;
  std::ifstream file_;
  size_t number_ = 0;
  nlohmann::json line_;
};

}  // namespace fullband
