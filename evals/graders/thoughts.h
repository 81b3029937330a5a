// Thoughts: what a model writes between two markers before it answers. They never count as an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// A model's own.
struct ThoughtMarkers {
  std::string open = "<think>";
  std::string close = "</think>";
  // Where a marker is a special token, which gives no text: its id; else -1.
  int32_t open_token = -1;
  int32_t close_token = -1;

  friend bool operator==(const ThoughtMarkers&, const ThoughtMarkers&) = default;
};

// Where a marker stands, in bytes of the text.
struct MarkerPlace {
  size_t begin = 0, end = 0;  // the same for one that gives no text
  bool opens = false;
};

// Every occurrence in the text, in its order.
std::vector<MarkerPlace> FindMarkers(std::string_view text, const ThoughtMarkers& markers);

struct Thoughts {
  // A part of the text, its markers included.
  struct Span {
    size_t begin = 0, end = 0;
  };
  std::vector<Span> spans;  // in the text's order, apart from each other
  bool unfinished = false;  // the last one was opened and not closed: it takes the rest of the text
};

// `begins_inside`: the prompt's end had opened a thought. A closing marker without an opening one ends a
// thought that the prompt opened in any case: all before it is one. An opening marker inside a thought is
// part of it.
Thoughts FindThoughts(std::string_view text, const std::vector<MarkerPlace>& places, bool begins_inside);

struct VisibleText {
  std::string text;              // without thoughts and markers
  bool ends_in_thought = false;  // a thought was opened and not closed
};

VisibleText WithoutThoughts(std::string_view completion, const Thoughts& thoughts);
VisibleText WithoutThoughts(std::string_view completion, const ThoughtMarkers& markers = {},
                            bool begins_inside = false);

}  // namespace fullband
