#include "reports/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace fullband {
namespace {

using nlohmann::json;

json ParsedIdentity(const RunRecord& run) {
  json identity = json::parse(run.identity, nullptr, false);
  return identity.is_object() ? identity : json::object();
}

// The value at a path of keys; null where there is none.
const json& At(const json& object, std::initializer_list<std::string> path) {
  static const json nothing;
  const json* at = &object;
  for (const std::string& key : path) {
    if (!at->is_object() || !at->contains(key)) return nothing;
    at = &at->at(key);
  }
  return *at;
}

std::vector<std::string> Texts(const json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const json& text : list)
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

// Words of the command line, an option with its value at a time.
class Words {
 public:
  explicit Words(const std::string& command) : line_(command) {}
  void Add(const std::string& option, const std::string& value) {
    // What begins with a dash would pass for an option.
    line_ += " " + option + (value.starts_with('-') ? "=" : " ") + ShellWord(value);
  }
  std::string Take() { return std::move(line_); }

 private:
  std::string line_;
};

void AddTask(const RunResults& results, const json& identity, Words* words) {
  const RunRecord& run = results.run;
  const json& suite = At(identity, {"suite", "definition"});
  if (At(suite, {"shots", "default"}) != run.shots) words->Add("--shots", std::to_string(run.shots));
  const auto asked = static_cast<int64_t>(results.items.size());
  if (asked < run.items_total) words->Add("--limit", std::to_string(asked));
  if (run.format != "completion") words->Add("--format", run.format);
  if (const json& system = At(identity, {"system"}); system.is_string() && system != "")
    words->Add("--system", system.get<std::string>());
  if (run.ask != "generate") return;
  const json& most = At(identity, {"max_new_tokens"});
  if (!most.is_null() && most != At(suite, {"generate", "max_new_tokens"}))
    words->Add("--max-new", most.dump());
  const std::vector<std::string> own = Texts(At(suite, {run.format, "stop"}));
  for (const std::string& stop : Texts(At(identity, {"stop_strings"})))
    if (std::find(own.begin(), own.end(), stop) == own.end()) words->Add("--stop", stop);
}

void AddSampling(const RunResults& results, const json& identity, Words* words) {
  if (results.run.temperature > 0) {
    words->Add("--temperature", fmt::format("{}", results.run.temperature));
    if (results.samples_per_item > 1) words->Add("--samples", std::to_string(results.samples_per_item));
    if (const json& top_k = At(identity, {"sampling", "top_k"}); !top_k.is_null() && top_k != 0)
      words->Add("--top-k", top_k.dump());
    if (const json& top_p = At(identity, {"sampling", "top_p"}); !top_p.is_null() && top_p != 1)
      words->Add("--top-p", top_p.dump());
  }
  if (results.run.seed != 0) words->Add("--seed", std::to_string(results.run.seed));
}

void AddEngine(const json& identity, Words* words) {
  const json& numerics = At(identity, {"numerics"});
  if (const json& device = At(numerics, {"device"}); device.is_string() && device != "cpu")
    words->Add("--device", device.get<std::string>());
  if (const json& target = At(numerics, {"target"}); target.is_string())
    words->Add("--target", target.get<std::string>());
  if (const json& kv = At(numerics, {"kv"}); kv.is_string()) words->Add("--kv-dtype", kv.get<std::string>());
  const json& thoughts = At(identity, {"thoughts"});
  if (At(thoughts, {"open"}).is_string() && At(thoughts, {"close"}).is_string())
    words->Add("--think",
               thoughts.at("open").get<std::string>() + "," + thoughts.at("close").get<std::string>());
}

}  // namespace

std::string IdentityPart(const RunRecord& run, const std::string& name) {
  const json identity = ParsedIdentity(run);
  const json* at = &identity;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    at = &At(*at, {name.substr(begin, end - begin)});
    begin = end + 1;
  }
  if (at->is_null()) return "";
  return at->is_string() ? at->get<std::string>() : at->dump();
}

std::string ShellWord(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:@,+=%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  const bool controls = std::any_of(word.begin(), word.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  std::string quoted = controls ? "$'" : "'";
  for (const char c : word) {
    if (controls && (c == '\\' || c == '\''))
      quoted += fmt::format("\\{}", c);
    else if (c == '\n')
      quoted += "\\n";
    else if (controls && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::optional<std::string> CommandOf(const RunResults& results, const HasName& has_name) {
  if (results.imported) return std::nullopt;
  const json identity = ParsedIdentity(results.run);
  Words words("fullband run");
  words.Add("--model", results.model.folder);
  words.Add("--suite",
            !has_name || has_name(results.run.suite) ? results.run.suite : results.run.suite + ".toml");
  words.Add("--setting", results.run.setting);
  AddTask(results, identity, &words);
  AddSampling(results, identity, &words);
  AddEngine(identity, &words);
  words.Add("--store", "again.db");
  return words.Take();
}

}  // namespace fullband
