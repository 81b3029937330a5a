// One of the faults of tests/data/faults/statistics.jsonl.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace fullband {

inline nlohmann::json FindFault(const std::string& id) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/faults/statistics.jsonl");
  for (std::string line; std::getline(file, line);) {
    nlohmann::json fault = nlohmann::json::parse(line);
    if (fault.at("id") == id) return fault;
  }
  throw std::runtime_error("there is no fault " + id);
}

}  // namespace fullband
