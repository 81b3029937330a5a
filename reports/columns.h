// Texts beside each other in a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fullband {

// Text with its control characters written out, but line ends: "\t", "\x1b". What models write must not steer
// a terminal.
std::string TerminalText(std::string_view text);

// The same as one line: line ends of any kind (and each pair "\r\n") are spaces.
std::string TerminalLine(std::string_view text);

// Terminal columns that the text takes, as one line.
int DisplayWidth(std::string_view text);

// `text` in lines of at most `width` columns (at least 2): broken at its line ends, at the last space that
// fits, or within a longer word.
std::vector<std::string> Wrap(std::string_view text, int width);

// Columns of `width` each with " | " between them; lines have no spaces at their end.
std::string SideBySide(const std::vector<std::vector<std::string>>& columns, int width);

}  // namespace fullband
