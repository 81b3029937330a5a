// A report as one HTML file that needs nothing else: no network, no other file. Whatever models, data sets
// and users have written stays text: it is escaped, or stands in data that only textContent shows, and a
// Content-Security-Policy lets no script run and nothing load but what is in the file.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>

#include "reports/document/document.h"

namespace fullband {

class HtmlItems;

// A chart as SVG, on a transparent ground. Shown as an image, so that nothing in it can run, and ids of
// several charts do not meet.
struct ChartImages {
  std::string light, dark;  // without `dark`, `light` stands for both
};

// By the names of the section and of the chart; a document's head has the section "".
using ChartsByName = std::map<std::pair<std::string, std::string>, ChartImages>;

// Charts without an image keep their titles, and say that they were not drawn. Without `items` there is no
// table of items. Sections named "provenance" are folded. Writes as it goes; the caller looks at the stream's
// state.
void WriteHtml(const Document& document, const ChartsByName& charts, const HtmlItems* items,
               std::ostream& out);

// Puts it into folder/report.html, whole or not at all; makes the folder. Returns the file's path. Throws
// Error.
std::filesystem::path WriteHtmlFile(const Document& document, const ChartsByName& charts,
                                    const HtmlItems* items, const std::filesystem::path& folder);

}  // namespace fullband
