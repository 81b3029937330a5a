// The sections of a report, one file a kind.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "reports/document/document.h"
#include "reports/provenance.h"
#include "reports/sections/suite_rows.h"

namespace fullband {

// Which store, program, machines and models.
std::vector<Block> HeadBlocks(const std::filesystem::path& store, std::span<const RunResults> runs);

// Of one suite. Nothing where there is nothing to say of its runs.
std::optional<Section> AccuracySection(const SuiteRows& suite);    // with notes on how runs may be read
std::optional<Section> GraderSection(const SuiteRows& suite);      // where there are several
std::optional<Section> PerplexitySection(const SuiteRows& suite);  // where items have one continuation each
std::optional<Section> SampleSection(const SuiteRows& suite);      // where items have several samples
std::vector<Section> BreakdownSections(const SuiteRows& suite);    // one for each way its items are grouped
std::optional<Section> LengthSection(const SuiteRows& suite);      // of generated traces
std::optional<Section> ThoughtSection(const SuiteRows& suite);     // where some trace has a thought
std::optional<Section> CostSection(const SuiteRows& suite);

// Of all runs: hashes, versions, settings, machines, and the commands that make them again.
Section ProvenanceSection(std::span<const RunResults> runs, const HasName& has_name);

}  // namespace fullband
