// Thoughts: what a model writes between two markers before it answers. They never count as an answer.
#pragma once

#include <string>
#include <string_view>

namespace fullband {

struct ThoughtMarkers {
  std::string open = "<think>";
  std::string close = "</think>";
};

struct VisibleText {
  std::string text;              // without thoughts and markers
  bool ends_in_thought = false;  // a thought was opened and not closed
};

// A closing marker without an opening one ends a thought that the prompt opened: all before it is dropped.
VisibleText WithoutThoughts(std::string_view completion, const ThoughtMarkers& markers = {});

}  // namespace fullband
