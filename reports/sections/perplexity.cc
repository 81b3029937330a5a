#include "reports/document/cells.h"
#include "reports/sections/sections.h"

namespace fullband {

std::optional<Section> PerplexitySection(const SuiteRows& suite) {
  const std::string how = "exp(−mean log-probability of the continuation), all its tokens together.";
  Table table{
      "perplexity", RunColumns({{"items"}, {"perplexity"}}), {}, CaptionOf(suite, "perplexity, " + how)};
  for (const auto& [results, figures] : suite.rows) {
    const Perplexity& perplexity = figures.perplexity;
    if (perplexity.value)
      table.rows.push_back(RunCells(*results, {CountCell(perplexity.items), FixedCell(perplexity.value, 3)}));
  }
  if (table.rows.empty()) return std::nullopt;
  Section section = SectionOf(suite, "Perplexity", "perplexity");
  section.blocks = {Paragraph{how}, std::move(table)};
  return section;
}

}  // namespace fullband
