// What the comparisons with recorded peers share: the real small model and the fixtures.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/shared_data.h"

namespace fullband {

inline constexpr char kNoSmolLm2[] = "the converted SmolLM2 is not there; scripts/fetch_smollm2 makes it";

inline std::filesystem::path SmolLm2Folder() {
  return std::filesystem::path(FULLBAND_SOURCE) / "models" / "smollm2-135m-instruct";
}

inline nlohmann::json Fixture(const std::string& name) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/peers/" + name);
  if (!file) throw std::runtime_error("no fixture " + name);
  return nlohmann::json::parse(file);
}

}  // namespace fullband
