// A document as Markdown (CommonMark with GitHub's tables) that also reads well in a terminal.
//
// Texts show as they are, whatever they hold: what Markdown or HTML would read as more than text is escaped,
// line ends become spaces, control characters and those that turn the direction of writing are written out.
#pragma once

#include <string>
#include <string_view>

#include "reports/document/document.h"

namespace fullband {

// Titles, blocks and sections in their order; captions and charts are left out. Ends with one line end.
// Throws std::logic_error for a row that has another number of cells than its table has columns.
std::string RenderMarkdown(const Document& document);

// With every column padded to its widest cell, an empty line after it.
std::string MarkdownTable(const Table& table);

// One line of Markdown that shows the text, as a paragraph, heading or list item.
std::string MarkdownText(std::string_view text);

}  // namespace fullband
