// Whether this machine can run programs in the sandbox, and what is missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "evals/sandbox/sandbox.h"

namespace fullband {

struct Obstacle {
  std::string why, remedy;
};

// What a sandbox that cannot be made throws.
struct SandboxRefused : Error {
  explicit SandboxRefused(std::vector<Obstacle> found)
      : Error("sandbox", "programs cannot be run protected here: " + found.front().why,
              found.front().remedy + ", or run them unprotected if you trust them"),
        obstacles(std::move(found)) {}
  std::vector<Obstacle> obstacles;  // most telling first, never empty
};

// `bwrap` on the path; empty where there is none.
std::filesystem::path FindBubblewrap();

// Why a trial failed, most telling first, never empty; `said` is what bubblewrap or Python said.
std::vector<Obstacle> ObstaclesOf(const SandboxOptions& options, std::string said);

struct SandboxReport {
  bool works = false;
  std::filesystem::path bubblewrap;
  std::string bubblewrap_version, python_version, numpy_version;  // empty: missing
  std::vector<Obstacle> obstacles;                                // empty where it works
  // Median milliseconds of a program that does nothing, and of the same interpreter alone.
  std::optional<double> program_ms, python_ms;
};

// `repeats`: how often the start-up is timed; 0: not at all.
SandboxReport CheckSandbox(SandboxOptions options, int repeats);

}  // namespace fullband
