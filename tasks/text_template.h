// Text with {field} holes, as suite files write prompts. {{ and }} stand for the braces themselves.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// What is between holes, and the holes: texts.size() == holes.size() + 1.
struct TextTemplate {
  std::vector<std::string> texts;
  std::vector<std::string> holes;
};

// Throws std::invalid_argument saying what is wrong: a brace that is not closed or not opened, an empty hole.
TextTemplate ParseTemplate(std::string_view text);

// `text` with its holes filled. What fills a hole is taken as it is, braces included. Holes that `fields`
// lacks throw std::invalid_argument.
std::string FillTemplate(std::string_view text, const std::map<std::string, std::string>& fields);

}  // namespace fullband
