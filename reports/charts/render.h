// Charts as pictures: SVG and PDF, drawn by vl-convert in worker processes (scripts/worker_jobs/charts.py).
// The same spec gives the same bytes. An SVG is complete in itself, runs nothing and refers to nothing
// outside; what runs are called is text in it.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reports/document/document.h"

namespace fullband {

enum class ChartTheme {
  kLight,  // on white
  kDark,   // on a dark background
  // For an HTML page, inside it: no background, and every colour a custom property of the page
  // (ChartColours), with the light one where the page has not set it.
  kPage,
};

// An SVG for each chart, in their order. Throws Error where Python or vl-convert is missing (saying to run
// scripts/setup), and naming the chart where it cannot be drawn.
std::vector<std::string> RenderCharts(std::span<const Chart> charts, ChartTheme theme);

// The custom properties that kPage drawings use ("--chart-ink") and their colours ("#1f2328") in a theme,
// kLight or kDark. Throws Error as RenderCharts does.
std::map<std::string, std::string> ChartColours(ChartTheme theme);

struct ChartFormats {
  bool svg = false;  // NAME.svg and NAME.dark.svg
  bool pdf = false;  // NAME.pdf, light
};

// All charts of the document as files in the folder, which is made for them. NAME is that of the chart's
// section and, unless it ends with it, the chart's own, as for tables (NamedTable); two never are the same.
// Each file is there whole or not at all. Returns the files' paths. Throws Error as RenderCharts does, or
// where a file cannot be written.
std::vector<std::filesystem::path> WriteChartFiles(const Document& document, ChartFormats formats,
                                                   const std::filesystem::path& folder);

}  // namespace fullband
