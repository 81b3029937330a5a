#include "tasks/chat_template.h"

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "common/hash.h"
#include "common/paths.h"
#include "common/worker.h"

namespace fullband {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Generous: the first call also starts Python, perhaps on a busy machine. A template has no long work to do.
constexpr std::chrono::seconds kTimeLimit{60};

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) throw Error(path.string(), "cannot be read");
  return text.str();
}

// The object in a JSON file, or an empty one where there is no such file.
json ReadObject(const fs::path& path) {
  if (!fs::exists(path)) return json::object();
  json value = json::parse(ReadText(path), nullptr, false);
  if (!value.is_object()) throw Error(path.string(), "is not a JSON object");
  return value;
}

std::string TemplateOf(const fs::path& path, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    for (const json& entry : value) {
      if (entry.is_object() && entry.value("name", json()) == "default" &&
          entry.value("template", json()).is_string())
        return entry["template"].get<std::string>();
    }
    throw Error(path.string() + ": chat_template", "is a list with no template named \"default\"");
  }
  throw Error(path.string() + ": chat_template", "is neither a string nor a list");
}

std::string FindTemplate(const fs::path& folder, const json& config) {
  if (const fs::path own = folder / "chat_template.jinja"; fs::exists(own)) return ReadText(own);
  if (config.contains("chat_template") && !config["chat_template"].is_null())
    return TemplateOf(folder / "tokenizer_config.json", config["chat_template"]);
  const fs::path processor = folder / "chat_template.json";
  const json processor_config = ReadObject(processor);
  if (processor_config.contains("chat_template"))
    return TemplateOf(processor, processor_config["chat_template"]);
  throw Error(folder.string(), "has no chat template", "use --format completion");
}

// Tokens are written as text or, by older versions, as objects with their text in "content".
json SpecialTokens(const json& config) {
  json tokens = json::object();
  for (const char* name :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
    const json value = config.value(name, json());
    if (value.is_string()) tokens[name] = value;
    if (value.is_object() && value.value("content", json()).is_string()) tokens[name] = value["content"];
  }
  return tokens;
}

}  // namespace

struct ChatTemplate::Impl {
  fs::path folder;
  std::string text, sha256;
  json special_tokens;
  Worker worker{HomeFolder() / "scripts" / "worker.py"};
};

ChatTemplate::ChatTemplate(const fs::path& folder) : impl_(std::make_unique<Impl>()) {
  const json config = ReadObject(folder / "tokenizer_config.json");
  impl_->folder = folder;
  impl_->text = FindTemplate(folder, config);
  impl_->special_tokens = SpecialTokens(config);
  impl_->sha256 = Sha256Hex(impl_->text);
}

ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::Render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) {
  json request = {{"job", "render_chat"},
                  {"template", impl_->text},
                  {"messages", json::array()},
                  {"add_generation_prompt", add_generation_prompt},
                  {"variables", impl_->special_tokens}};
  // Pairs, since JSON objects here sort their keys, and a template may print a message as it is.
  for (const ChatMessage& message : messages)
    request["messages"].push_back(json::array({message.role, message.content}));
  try {
    return impl_->worker.Call(request, kTimeLimit).get<std::string>();
  } catch (const WorkerTimeout&) {
    throw Error(impl_->folder.string() + ": chat template", "took longer than a minute to render");
  } catch (const Error& error) {
    // A job's own failure is the template's; what the worker lacks stays as it was said.
    if (!error.remedy().empty()) throw;
    throw Error(impl_->folder.string() + ": chat template", error.why());
  }
}

const std::string& ChatTemplate::sha256() const { return impl_->sha256; }

}  // namespace fullband
