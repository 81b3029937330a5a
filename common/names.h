// Near names for "unknown name" errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// Up to three of `known` that are close to `name` by edit distance, nearest first.
std::vector<std::string> NearNames(std::string_view name, const std::vector<std::string>& known);

// "did you mean a, b?" or, where nothing is near, "known: a, b, c".
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

}  // namespace fullband
