// A long-lived Python process that does what only Python libraries do (chat templates, symbolic maths).
//
// Protocol over the child's stdin and stdout: a frame is a 4-byte little-endian length and that many bytes of
// JSON. Request {"job": NAME, ...}; reply {"ok": true, "result": ...} or {"ok": false, "error": TEXT}, with
// "limit": "memory" or "recursion" where the job wanted more of it than the process has.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace fullband {

class Worker {
 public:
  // Starts at the first call. `script` is run by PythonInterpreter().
  explicit Worker(std::filesystem::path script);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Sends one request and waits for its reply. Throws Error when the interpreter or a package is missing
  // (saying to run scripts/setup), when the job fails, WorkerTimeout when there is no reply in time, and
  // WorkerLimit when the job wanted too much memory or nested too deeply; after a time-out, a lack of memory
  // or a crash the process is killed and the next call starts a new one.
  nlohmann::json Call(const nlohmann::json& request, std::chrono::milliseconds time_limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WorkerTimeout : std::exception {
  const char* what() const noexcept override { return "the worker did not answer in time"; }
};

struct WorkerLimit : std::exception {
  explicit WorkerLimit(std::string limit) : which(std::move(limit)), text("the worker's limit: " + which) {}
  const char* what() const noexcept override { return text.c_str(); }
  std::string which, text;  // `which` is "memory" or "recursion"
};

}  // namespace fullband
