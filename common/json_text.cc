#include "common/json_text.h"

#include <fmt/format.h>

namespace fullband {
namespace {

// Before parsing, since the parser's own tree would already be as deep. Text that is not JSON may be counted
// wrongly: the parser refuses it in any case.
void CheckDepth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxJsonDepth) throw JsonFault(fmt::format("it is nested more than {} deep", kMaxJsonDepth));
  }
}

}  // namespace

nlohmann::json ParseJson(std::string_view text, const nlohmann::json::parser_callback_t& callback) {
  CheckDepth(text);
  try {
    return nlohmann::json::parse(text.begin(), text.end(), callback);
  } catch (const nlohmann::json::parse_error& error) {
    throw JsonFault(fmt::format("it goes wrong at byte {}", error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    throw JsonFault("it has a number that is too large");
  }
}

}  // namespace fullband
