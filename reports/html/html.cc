#include "reports/html/html.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <set>

#include "reports/html/assets.h"
#include "reports/html/encode.h"
#include "reports/html/items.h"
#include "reports/output.h"

namespace fullband {
namespace {

constexpr size_t kLongCell = 48;  // bytes; longer texts take several lines

// An anchor of letters, digits, - and _, unlike any before.
class Anchors {
 public:
  std::string Of(const std::string& name) {
    std::string anchor = "s-";
    for (const char c : name) {
      const bool plain =
          (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
      anchor += plain ? c : '-';
    }
    std::string unlike = anchor;
    for (int i = 2; !used_.insert(unlike).second; ++i) unlike = fmt::format("{}-{}", anchor, i);
    return unlike;
  }

 private:
  std::set<std::string> used_;
};

struct Anchored {
  const Section* section;
  std::string anchor;
  std::vector<Anchored> sections;
};

std::vector<Anchored> AnchorAll(const std::vector<Section>& sections, Anchors* anchors) {
  std::vector<Anchored> anchored;
  for (const Section& section : sections) {
    std::string anchor = anchors->Of(section.name.empty() ? section.title : section.name);
    anchored.push_back({&section, std::move(anchor), AnchorAll(section.sections, anchors)});
  }
  return anchored;
}

class Page {
 public:
  Page(const ImagesByChart& charts, std::ostream& out) : charts_(charts), out_(out) {}

  void Blocks(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) std::visit([this](const auto& content) { Write(content); }, block);
  }

  void Sections(const std::vector<Anchored>& sections, int level) {
    for (const Anchored& at : sections) {
      const bool folded = at.section->name == "provenance";
      out_ << fmt::format("<section id=\"{}\">\n", at.anchor);
      if (folded) out_ << "<details class=\"fold\"><summary>";
      out_ << fmt::format("<h{0}>{1}</h{0}>", level, HtmlText(at.section->title));
      out_ << (folded ? "</summary>\n" : "\n");
      Blocks(at.section->blocks);
      Sections(at.sections, std::min(level + 1, 6));
      if (folded) out_ << "</details>\n";
      out_ << "</section>\n";
    }
  }

  void Contents(const std::vector<Anchored>& sections, int depth) {
    if (sections.empty() || depth == 0) return;
    out_ << "<ol>\n";
    for (const Anchored& at : sections) {
      out_ << fmt::format("<li><a href=\"#{}\">{}</a>", at.anchor, HtmlText(at.section->title));
      Contents(at.sections, depth - 1);
      out_ << "</li>\n";
    }
    out_ << "</ol>\n";
  }

 private:
  void Write(const Paragraph& paragraph) { out_ << "<p>" << HtmlText(paragraph.text) << "</p>\n"; }

  void Write(const Code& code) { out_ << "<pre class=\"code\">" << HtmlText(code.text) << "</pre>\n"; }

  void Write(const Notes& notes) {
    if (notes.notes.empty()) return;
    out_ << "<ul class=\"notes\">\n";
    for (const Note& note : notes.notes) {
      out_ << (note.warns ? "<li class=\"warns\">" : "<li>");
      if (!note.about.empty()) out_ << "<b>" << HtmlText(note.about) << "</b>: ";
      out_ << HtmlText(note.text) << "</li>\n";
    }
    out_ << "</ul>\n";
  }

  void Write(const Table& table) {
    out_ << "<div class=\"scroll\"><table class=\"figures\">\n";
    if (!table.caption.empty()) out_ << "<caption>" << HtmlText(table.caption) << "</caption>\n";
    out_ << "<thead><tr>";
    for (const Column& column : table.columns)
      out_ << fmt::format("<th scope=\"col\"{}>{}</th>", Class(column), HtmlText(column.title));
    out_ << "</tr></thead>\n<tbody>\n";
    const std::vector<Cell>* above = nullptr;
    for (const auto& row : table.rows) {
      bool again =
          true;  // what the row above says too, as far as the first columns go, is shown more quietly
      out_ << "<tr>";
      for (size_t i = 0; i < row.size(); ++i) {
        again = again && above && i < table.columns.size() && table.columns[i].align == Align::kLeft &&
                row[i].text == (*above)[i].text;
        WriteCell(table, i, row[i], again);
      }
      above = &row;
      out_ << "</tr>\n";
    }
    out_ << "</tbody></table></div>\n";
  }

  void WriteCell(const Table& table, size_t column, const Cell& cell, bool again) {
    std::string classes;
    if (column < table.columns.size() && table.columns[column].align == Align::kRight) classes += " r";
    if (cell.text.size() > kLongCell) classes += " long";
    if (again) classes += " again";
    out_ << (classes.empty() ? "<td" : "<td class=\"" + classes.substr(1) + "\"");
    if (cell.number && std::isfinite(*cell.number)) out_ << fmt::format(" data-v=\"{}\"", *cell.number);
    out_ << ">" << HtmlText(cell.text) << "</td>";
  }

  void Write(const Chart& chart) {
    out_ << "<figure>";
    const auto found = charts_.find(&chart);
    if (found == charts_.end() || found->second.light.empty()) {
      out_ << "<p class=\"undrawn\">Not drawn here: its figures are in the tables.</p>";
    } else {
      const ChartImages& images = found->second;
      Image(images.light, images.dark.empty() ? "" : "for-light", chart.title);
      if (!images.dark.empty()) Image(images.dark, "for-dark", chart.title);
    }
    out_ << "<figcaption>" << HtmlText(chart.title) << "</figcaption></figure>\n";
  }

  void Image(const std::string& svg, const char* kind, const std::string& title) {
    out_ << fmt::format("<img class=\"{}\" alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">", kind,
                        HtmlText(title), Base64(svg));
  }

  static const char* Class(const Column& column) {
    return column.align == Align::kLeft ? "" : " class=\"r\"";
  }

  const ImagesByChart& charts_;
  std::ostream& out_;
};

void WriteHead(const std::string& title, std::ostream& out) {
  // Images are charts, which stand in the file. Trusted types: no script may turn text into markup.
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      << CspHash(ReportScript()) << "; style-src " << CspHash(ReportStyle())
      << "; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
         "trusted-types 'none'\">\n"
      << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      << "<meta name=\"color-scheme\" content=\"light dark\">\n"
      << "<meta name=\"referrer\" content=\"no-referrer\">\n"
      << "<title>" << HtmlText(title) << "</title>\n"
      << "<style>" << ReportStyle() << "</style>\n<script>" << ReportScript()
      << "</script>\n</head>\n<body>\n";
}

// The items: an empty place that the script fills, and what it fills it with.
void WriteItemsPlace(std::ostream& out) {
  out << "<section id=\"items\">\n<h2>Items</h2>\n<noscript><p>The tables above read without scripts. "
         "The table of items and the traces need them.</p></noscript>\n</section>\n";
}

void WriteItemsData(const HtmlItems& items, std::ostream& out) {
  out << "<script type=\"application/json\" id=\"item-index\">" << InertJson(items.Index()) << "</script>\n";
  for (size_t i = 0; i < items.blocks(); ++i) {
    out << fmt::format("<script type=\"application/json\" id=\"item-block-{}\">\"", i)
        << Base64(Deflate(items.Block(i).dump())) << "\"</script>\n";
  }
}

void AddCharts(const std::vector<Block>& blocks, std::vector<const Chart*>* charts) {
  for (const Block& block : blocks)
    if (const Chart* chart = std::get_if<Chart>(&block)) charts->push_back(chart);
}

void AddCharts(const std::vector<Section>& sections, std::vector<const Chart*>* charts) {
  for (const Section& section : sections) {
    AddCharts(section.blocks, charts);
    AddCharts(section.sections, charts);
  }
}

}  // namespace

ChartImages ImagesOf(const std::string& svg, const std::map<std::string, std::string>& dark) {
  const size_t begin = svg.find("<svg");
  const size_t end = begin == std::string::npos ? begin : svg.find('>', begin);
  if (end == std::string::npos) return {svg, ""};
  std::string style = "<style>:root{";
  for (const auto& [property, colour] : dark) style += property + ":" + colour + ";";
  return {svg, svg.substr(0, end + 1) + style + "}</style>" + svg.substr(end + 1)};
}

std::vector<const Chart*> ChartsOf(const Document& document) {
  std::vector<const Chart*> charts;
  AddCharts(document.head, &charts);
  AddCharts(document.sections, &charts);
  return charts;
}

void WriteHtml(const Document& document, const ImagesByChart& charts, const HtmlItems* items,
               std::ostream& out) {
  WriteHead(document.title, out);
  Anchors anchors;
  const std::vector<Anchored> sections = AnchorAll(document.sections, &anchors);
  Page page(charts, out);
  out << "<a class=\"skip\" href=\"#report\">To the report</a>\n<div class=\"page\">\n"
      << "<nav class=\"contents\" aria-label=\"Contents\"><details open><summary>Contents</summary>\n";
  page.Contents(sections, 2);
  if (items) out << "<ol><li><a href=\"#items\">Items</a></li></ol>\n";
  out << "</details></nav>\n<main id=\"report\">\n<header>\n<h1>" << HtmlText(document.title)
      << "</h1>\n</header>\n"
      << "<div class=\"head\">\n";
  page.Blocks(document.head);
  out << "</div>\n";
  page.Sections(sections, 2);
  if (items) WriteItemsPlace(out);
  out << "</main>\n</div>\n";
  if (items) WriteItemsData(*items, out);
  out << "</body>\n</html>\n";
}

std::filesystem::path WriteHtmlFile(const Document& document, const ImagesByChart& charts,
                                    const HtmlItems* items, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "report.html";
  WriteWhole(path, [&](std::ostream& out) { WriteHtml(document, charts, items, out); });
  return path;
}

}  // namespace fullband
