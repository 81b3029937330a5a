// JSON that others wrote: files, lines of a data set, standard input.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace fullband {

// Deeper nesting is refused: comparing and writing JSON recurse, and a hostile file would overflow the stack.
inline constexpr int kMaxJsonDepth = 200;

// What is wrong, in words that follow "is not JSON: ".
class JsonFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws JsonFault where the text is not JSON, is nested more than kMaxJsonDepth deep, or has a number that
// no double can hold. `callback` as nlohmann's parse() has it.
nlohmann::json ParseJson(std::string_view text, const nlohmann::json::parser_callback_t& callback = nullptr);

}  // namespace fullband
