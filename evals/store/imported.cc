#include "evals/store/imported.h"

#include <nlohmann/json.hpp>

namespace fullband {

bool IsImportedGrader(const std::string& grader) {
  return grader == kImportedGrader || grader.starts_with(std::string(kImportedGrader) + ":");
}

std::optional<ImportedRun> ImportedOf(const RunRecord& run) {
  const auto identity = nlohmann::json::parse(run.identity, nullptr, false);
  if (!identity.is_object() || !identity.contains("imported")) return std::nullopt;
  const nlohmann::json& kept = identity.at("imported");
  ImportedRun imported;
  if (!kept.is_object()) return imported;
  imported.model = kept.value("model", "");
  imported.file_sha256 = kept.value("file_sha256", "");
  imported.layout = kept.value("layout", "");
  imported.fields = kept.value("fields", std::set<std::string>());
  return imported;
}

}  // namespace fullband
