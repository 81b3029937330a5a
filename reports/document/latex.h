// A document as LaTeX: each table as a file to \input into a paper, and a file that has them all.
//
// Texts show as they are: whatever LaTeX would read as more than text is escaped, line ends become spaces,
// control characters are written out. Signs, ranges, percentages and powers of ten are set as such in cells
// that stand for numbers. Characters beyond Latin-1 and the usual punctuation, for which pdfLaTeX has no
// glyphs, are given by their code points: "[U+1F600]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.h"
#include "reports/document/tables.h"
#include "reports/output.h"

namespace fullband {

// latex/NAME.tex for every table (NAME: reports/document/tables.h) and latex/report.tex, a document of its
// own with all titles, texts and notes, that inputs them. Charts are left out.
std::vector<ReportFile> LatexFiles(const Document& document);

// A table environment with caption and label (tab:NAME), to be used with booktabs; one of more than
// kMostFloatRows rows, which would not fit a page, is a longtable.
inline constexpr size_t kMostFloatRows = 40;
std::string LatexTable(const NamedTable& table);

std::string LatexText(std::string_view text);
std::string LatexCell(const Cell& cell);

}  // namespace fullband
