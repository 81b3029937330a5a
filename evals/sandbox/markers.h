// The scan for words of a source that could reach the proof.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// Reasons, e.g. "source: ctypes", of each marker that stands in the source.
std::vector<std::string> MarkersOf(std::string_view source);

}  // namespace fullband
