// A table for a terminal: columns as wide as what stands in them, two spaces apart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fullband {

// `rows` of equally many cells, the head first; UTF-8 without wide or combining characters. The first `left`
// columns are flush left, the others flush right. Each line ends with a line feed and no space before it.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows, size_t left);

}  // namespace fullband
