// A suite as a run's identity keeps it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tasks/suite.h"

namespace fullband {

// From Suite::definition. What only describes is lost: title, origins, report. `where` names it in errors,
// which are as LoadSuite's.
Suite SuiteOfDefinition(const nlohmann::json& definition, const std::string& where);

}  // namespace fullband
