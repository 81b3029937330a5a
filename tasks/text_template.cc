#include "tasks/text_template.h"

#include <fmt/format.h>

#include <stdexcept>

namespace fullband {

TextTemplate ParseTemplate(std::string_view text) {
  TextTemplate parsed;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      plain += c;
    } else if (i + 1 < text.size() && text[i + 1] == c) {
      plain += c;
      ++i;
    } else if (c == '}') {
      throw std::invalid_argument("has a '}' without '{' (write }} for the brace itself)");
    } else {
      const size_t close = text.find('}', i);
      if (close == std::string_view::npos)
        throw std::invalid_argument("has a '{' without '}' (write {{ for the brace itself)");
      const std::string hole(text.substr(i + 1, close - i - 1));
      if (hole.empty()) throw std::invalid_argument("has a hole without a name, {}");
      parsed.texts.push_back(plain);
      parsed.holes.push_back(hole);
      plain.clear();
      i = close;
    }
  }
  parsed.texts.push_back(plain);
  return parsed;
}

std::string FillTemplate(std::string_view text, const std::map<std::string, std::string>& fields) {
  const TextTemplate parsed = ParseTemplate(text);
  std::string filled = parsed.texts[0];
  for (size_t i = 0; i < parsed.holes.size(); ++i) {
    const auto field = fields.find(parsed.holes[i]);
    if (field == fields.end())
      throw std::invalid_argument(fmt::format("nothing fills the hole {{{}}}", parsed.holes[i]));
    filled += field->second + parsed.texts[i + 1];
  }
  return filled;
}

}  // namespace fullband
