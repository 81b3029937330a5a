// A checkpoint's chat template (Jinja2), rendered by the Python worker as Hugging Face renders it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fullband {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

class ChatTemplate {
 public:
  // Finds the template of a checkpoint folder: tokenizer_config.json's `chat_template` (a string, or a list
  // of which "default" is used), else chat_template.jinja, else chat_template.json. Throws Error where there
  // is none.
  explicit ChatTemplate(const std::filesystem::path& folder);
  ~ChatTemplate();

  // The conversation as text, with the generation prompt at its end where asked for.
  // Throws Error with the template's own message (raise_exception) or the worker's.
  std::string Render(const std::vector<ChatMessage>& messages, bool add_generation_prompt);

  const std::string& sha256() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullband
