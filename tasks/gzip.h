// Data files that are kept compressed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fullband {

// Whether the bytes begin as gzip's do.
bool IsGzip(std::string_view bytes);

// What the bytes hold, all their gzip members one after another. `name` is said in errors. Throws Error where
// they are cut off or damaged, where something else follows, and where they hold more than `most` bytes.
std::string Gunzip(std::string_view bytes, const std::string& name, size_t most = size_t{1} << 30);

}  // namespace fullband
