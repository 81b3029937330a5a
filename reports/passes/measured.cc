#include "reports/passes/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "common/json_text.h"

namespace fullband {
namespace {

using nlohmann::json;

constexpr char kRemedy[] = "give a file that this version's fullband contraction --json printed";

// One object of the file, with what leads to it.
class Object {
 public:
  Object(const std::filesystem::path& file, const json& value, std::string place)
      : file_(file), value_(value), place_(std::move(place)) {
    if (!value_.is_object()) throw Wrong("", "is no object");
  }

  Object Inner(const char* key) const { return Object(file_, At(key), Name(key)); }
  bool Has(const char* key) const { return value_.contains(key) && !value_[key].is_null(); }
  const json& At(const char* key) const {
    if (!value_.contains(key)) throw Wrong(key, "is missing");
    return value_[key];
  }
  double Number(const char* key) const {
    const json& value = At(key);
    if (!value.is_number()) throw Wrong(key, "is no number");
    return value.get<double>();
  }
  // A norm, or a share of one.
  double Norm(const char* key) const {
    const double value = Number(key);
    if (value < 0) throw Wrong(key, "is negative");
    return value;
  }
  std::optional<double> NormOrNull(const char* key) const {
    return At(key).is_null() ? std::nullopt : std::optional(Norm(key));
  }
  int64_t Whole(const char* key, int64_t least) const {
    const json& value = At(key);
    if (!value.is_number_integer() || value.get<int64_t>() < least)
      throw Wrong(key, fmt::format("is no whole number from {} on", least));
    return value.get<int64_t>();
  }
  std::string Text(const char* key) const {
    const json& value = At(key);
    if (!value.is_string()) throw Wrong(key, "is no text");
    return value.get<std::string>();
  }
  Error Wrong(const std::string& key, const std::string& why) const {
    const std::string name = Name(key);
    return Error(file_.string(), (name.empty() ? "" : name + " ") + why, kRemedy);
  }

 private:
  std::string Name(const std::string& key) const {
    return place_.empty() || key.empty() ? place_ + key : place_ + "." + key;
  }

  const std::filesystem::path& file_;
  const json& value_;
  std::string place_;
};

json ReadJson(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream || std::filesystem::is_directory(file)) throw Error(file.string(), "cannot be read", kRemedy);
  try {
    return ParseJson(text.str());
  } catch (const JsonFault& fault) {
    throw Error(file.string(), std::string("is not JSON: ") + fault.what(), kRemedy);
  }
}

double Loss(const Object& figures) {
  const bool answers = figures.Has("answer");
  return answers ? figures.Inner("answer").Norm("nats_per_token") : figures.Norm("nats_per_token");
}

MeasuredPass ReadPass(const Object& figures, int pass) {
  if (figures.Whole("pass", 1) != pass) throw figures.Wrong("pass", fmt::format("is not {}", pass));
  return {pass,
          figures.NormOrNull("residual"),
          figures.NormOrNull("open_residual"),
          figures.Norm("distance"),
          figures.NormOrNull("open_distance"),
          Loss(figures)};
}

std::string ModelName(const std::filesystem::path& file, const std::string& weights,
                      std::span<const RunResults> runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const RunResults& results) {
    return !weights.empty() && results.model.weights_sha256 == weights;
  });
  if (found != runs.end()) return found->model.name;
  throw Error(file.string(),
              fmt::format("measures weights {}…, which no run of the store has", weights.substr(0, 12)),
              "give what was measured of the store's models, or another --store");
}

}  // namespace

MeasuredPasses ReadMeasuredPasses(const std::filesystem::path& file, std::span<const RunResults> runs) {
  const json value = ReadJson(file);
  const Object object(file, value, "");
  MeasuredPasses measured;
  measured.file = file;
  const json& passes = object.At("passes");
  if (!passes.is_array() || passes.size() < 2) throw object.Wrong("passes", "is no list of two or more");
  for (size_t i = 0; i < passes.size(); ++i)
    measured.passes.push_back(
        ReadPass(Object(file, passes[i], fmt::format("passes[{}]", i)), static_cast<int>(i) + 1));
  const Object source = object.Inner("source");
  measured.suite = source.Has("suite");
  measured.source =
      measured.suite ? source.Text("suite") : std::filesystem::path(source.Text("text")).filename().string();
  if (object.Has("control")) measured.control = object.Text("control");
  measured.texts = object.Whole("texts", 1);
  measured.recurrence_loss = Loss(object.Inner("recurrence"));
  measured.verdict = object.Text("verdict");
  measured.reason = object.Text("reason");
  measured.weights_sha256 = object.Text("weights_sha256");
  measured.model = ModelName(file, measured.weights_sha256, runs);
  return measured;
}

std::vector<std::string> NamesOf(std::span<const MeasuredPasses> measured) {
  std::vector<std::string> names;
  for (const MeasuredPasses& one : measured)
    names.push_back(one.model + (one.control.empty() ? "" : ":" + one.control));
  return names;
}

}  // namespace fullband
