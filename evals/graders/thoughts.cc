#include "evals/graders/thoughts.h"

namespace fullband {

std::vector<MarkerPlace> FindMarkers(std::string_view text, const ThoughtMarkers& markers) {
  constexpr size_t kNone = std::string_view::npos;
  std::vector<MarkerPlace> places;
  size_t open = text.find(markers.open), close = text.find(markers.close);
  // Each marker is looked for again only once it has been passed, so that the whole is linear.
  while (open != kNone || close != kNone) {
    const bool opens = close == kNone || (open != kNone && open < close);
    const size_t begin = opens ? open : close;
    const size_t end = begin + (opens ? markers.open : markers.close).size();
    places.push_back({begin, end, opens});
    if (open != kNone && open < end) open = text.find(markers.open, end);
    if (close != kNone && close < end) close = text.find(markers.close, end);
  }
  return places;
}

Thoughts FindThoughts(std::string_view text, const std::vector<MarkerPlace>& places, bool begins_inside) {
  Thoughts thoughts;
  bool inside = begins_inside;
  size_t begin = 0;
  for (const MarkerPlace& place : places) {
    if (place.opens) {
      if (!inside) begin = place.begin;
      inside = true;
      continue;
    }
    if (!inside) {
      thoughts.spans.clear();
      begin = 0;
    }
    thoughts.spans.push_back({begin, place.end});
    inside = false;
  }
  if (inside) thoughts.spans.push_back({begin, text.size()});
  thoughts.unfinished = inside;
  return thoughts;
}

VisibleText WithoutThoughts(std::string_view completion, const Thoughts& thoughts) {
  VisibleText visible;
  size_t at = 0;
  for (const Thoughts::Span& span : thoughts.spans) {
    visible.text.append(completion, at, span.begin - at);
    at = span.end;
  }
  visible.text.append(completion, at, std::string_view::npos);
  visible.ends_in_thought = thoughts.unfinished;
  return visible;
}

VisibleText WithoutThoughts(std::string_view completion, const ThoughtMarkers& markers, bool begins_inside) {
  return WithoutThoughts(completion,
                         FindThoughts(completion, FindMarkers(completion, markers), begins_inside));
}

}  // namespace fullband
