// Figures as JSON for programs and as tables for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/figures.h"
#include "bench/plan.h"
#include "engine/engine.h"

namespace fullband {

// What was measured, and how.
struct BenchSubject {
  std::string name;  // the folder, or the shape of a random model
  const Model* model = nullptr;
  std::optional<uint64_t> random_feedback;  // the seed; such figures are about speed alone
  bool random_model = false;
  EngineOptions engine;
};

// Rates are a second; sizes are bytes; a spread is {median, min, max}.
nlohmann::ordered_json BenchJson(const BenchReport& report, const BenchPlan& plan,
                                 const BenchSubject& subject);

std::string BenchText(const BenchReport& report, const BenchSubject& subject);

}  // namespace fullband
