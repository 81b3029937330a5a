#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/paths.h"
#include "reports/document/cells.h"
#include "reports/sections/sections.h"
#include "reports/spelling.h"

namespace fullband {

std::vector<Block> HeadBlocks(const std::filesystem::path& store, std::span<const RunResults> runs) {
  std::vector<std::string> machines;
  std::set<std::string> versions;
  std::set<int64_t> seen;
  Table models{"models",
               {{"model", Align::kLeft},
                {"architecture", Align::kLeft},
                {"parameters"},
                {"weights", Align::kLeft},
                {"latent feedback", Align::kLeft},
                {"SHA-256", Align::kLeft}},
               {},
               "The models, and the beginning of their weights' SHA-256."};
  for (const RunResults& results : runs) {
    versions.insert(results.run.program_version);
    for (const std::string& machine : results.machines) {
      if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(machine);
    }
    const ModelRecord& model = results.model;
    if (!seen.insert(model.id).second) continue;
    if (results.imported)
      models.rows.push_back({model.name, "unknown", kNoValue, kNoValue, kNoValue, kNoValue});
    else
      models.rows.push_back({model.name, model.architecture, CountCell(model.parameters), model.dtype,
                             model.fusion, model.weights_sha256.substr(0, 12)});
  }
  std::sort(machines.begin(), machines.end());
  Notes notes;
  notes.notes.push_back({"store", store.filename().string()});
  notes.notes.push_back(
      {"program", fmt::format("fullband {} (runs by {})", Version(),
                              Joined(std::vector<std::string>(versions.begin(), versions.end())))});
  notes.notes.push_back({"machines", machines.empty() ? kNoValue : Joined(machines, "; ")});
  return {notes, models};
}

}  // namespace fullband
