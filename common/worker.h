// A long-lived Python process that does what only Python libraries do (chat templates, symbolic maths).
//
// Protocol over the child's stdin and stdout: a frame is a 4-byte little-endian length and that many bytes of
// JSON. Request {"job": NAME, ...}; reply {"ok": true, "result": ...} or {"ok": false, "error": TEXT}.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace fullband {

class Worker {
 public:
  // Starts at the first call. `script` is run by PythonInterpreter().
  explicit Worker(std::filesystem::path script);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Sends one request and waits for its reply. Throws Error when the interpreter or a package is missing
  // (saying to run scripts/setup), when the job fails, and WorkerTimeout when there is no reply in time;
  // after a time-out or a crash the process is killed and the next call starts a new one.
  nlohmann::json Call(const nlohmann::json& request, std::chrono::milliseconds time_limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WorkerTimeout : std::exception {
  const char* what() const noexcept override { return "the worker did not answer in time"; }
};

}  // namespace fullband
