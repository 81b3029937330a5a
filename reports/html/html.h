// A report as one HTML file that needs nothing else: no network, no other file. Whatever models, data sets
// and users have written stays text: it is escaped, or stands in data that only textContent shows, and a
// Content-Security-Policy lets no script run and nothing load but what is in the file.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "reports/document/document.h"

namespace fullband {

class HtmlItems;

// A chart as SVG, on a transparent ground. Shown as an image, so that nothing in it can run.
struct ChartImages {
  std::string light, dark;  // without `dark`, `light` stands for both
};

// Of one SVG whose colours are custom properties ("--chart-ink"), with the light ones where they are not set:
// `dark` sets them.
ChartImages ImagesOf(const std::string& svg, const std::map<std::string, std::string>& dark);

// All charts of the document, in its order.
std::vector<const Chart*> ChartsOf(const Document& document);

// By the document's charts, at the places they have in it.
using ImagesByChart = std::map<const Chart*, ChartImages>;

// Charts without an image keep their titles, and say that they were not drawn. Without `items` there is no
// table of items. Sections named "provenance" are folded. Writes as it goes; the caller looks at the stream's
// state.
void WriteHtml(const Document& document, const ImagesByChart& charts, const HtmlItems* items,
               std::ostream& out);

// Puts it into folder/report.html, whole or not at all; makes the folder. Returns the file's path. Throws
// Error.
std::filesystem::path WriteHtmlFile(const Document& document, const ImagesByChart& charts,
                                    const HtmlItems* items, const std::filesystem::path& folder);

}  // namespace fullband
