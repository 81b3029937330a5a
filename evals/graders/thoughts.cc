#include "evals/graders/thoughts.h"

namespace fullband {

VisibleText WithoutThoughts(std::string_view completion, const ThoughtMarkers& markers) {
  constexpr size_t kNone = std::string_view::npos;
  VisibleText visible;
  size_t at = 0;
  // Each marker is looked for again only once it has been passed, so that the whole is linear.
  size_t open = completion.find(markers.open);
  size_t close = completion.find(markers.close);
  while (open != kNone || close != kNone) {
    if (close != kNone && (open == kNone || close < open)) {
      visible.text.clear();
      at = close + markers.close.size();
    } else {
      visible.text.append(completion, at, open - at);
      close = completion.find(markers.close, open + markers.open.size());
      if (close == kNone) {
        visible.ends_in_thought = true;
        return visible;
      }
      at = close + markers.close.size();
      open = completion.find(markers.open, at);
    }
    close = completion.find(markers.close, at);
    if (open != kNone && open < at) open = completion.find(markers.open, at);
  }
  visible.text.append(completion, at, kNone);
  return visible;
}

}  // namespace fullband
