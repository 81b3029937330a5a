// Runs model-written Python programs, which are hostile until shown otherwise. SECURITY.md says what holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evals/graders/grader.h"
#include "evals/sandbox/detail.h"

namespace fullband {

// What is run, in this order: source, setup, tests. Bytes, meant to be UTF-8.
struct Program {
  std::string source;  // the prompt and the completion, or the completion alone
  std::string setup;   // may use names of `source`
  // Each runs only after the one before it has run to the end. They see the program's names in a namespace of
  // their own, with the built-ins as they should be.
  std::vector<std::string> tests;
  std::string entry_point;  // the tested function; empty: what the tests call
  // Source whose functions (the entry point excepted) tests see as they stand here, whatever the program made
  // of them: a prompt with helpers. Trusted.
  std::string helpers;
};

struct Limits {
  double wall_seconds = 30;
  double cpu_seconds = 10;            // of all processes together
  int64_t memory = int64_t{1} << 30;  // bytes: address space of each process, and in use by all together
  int processes = 32;                 // threads count
  int open_files = 64;
  int64_t file_size = 16 << 20;  // bytes of one file
  int64_t tmp_size = 64 << 20;   // bytes of all files
  int64_t output = 16 << 20;     // bytes of both streams together
};

// The first and the last bytes of an output stream.
struct Output {
  static constexpr size_t kKept = 64 << 10;  // of each end
  std::string head, tail;
  int64_t size = 0;  // of all that was written
};

struct ProgramResult {
  Detail detail = Detail::kSandboxFailed;
  int signal = 0;       // with Detail::kSignal
  std::string message;  // what went wrong, for people; the exception's text is the program's own
  int tests_run = 0;    // ran to the end
  int tests = 0;
  double wall_seconds = 0, cpu_seconds = 0;
  Output output, errors;
  // What the program has or did that could reach the proof or twist the tests; a pass with any is doubtful.
  std::vector<std::string> suspicious;
  bool is_protected = true;

  Outcome outcome() const { return OutcomeOf(detail); }
  std::string detail_text() const { return DetailText(detail, signal); }
};

struct SandboxOptions {
  // Runs programs with the user's own rights and network. Only for programs that are trusted.
  bool unprotected = false;
  std::filesystem::path python = "/usr/bin/python3";  // must be under /usr
  std::filesystem::path bubblewrap;                   // empty: `bwrap` on the path
};

// Thread-safe.
class Sandbox {
 public:
  // Throws Error with the reason where programs cannot be run here, and says how to run them unprotected.
  explicit Sandbox(SandboxOptions options = {});
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Waits for the program's end; nothing of it is left then. Does not throw for anything that the program
  // does.
  ProgramResult Run(const Program& program, const Limits& limits = {}) const;

  // Runs all with `workers` at a time (0: as many as there are processors). `done`, where given, is called
  // with the index as each ends, never twice at once.
  std::vector<ProgramResult> RunAll(
      const std::vector<Program>& programs, const Limits& limits = {}, unsigned workers = 0,
      const std::function<void(size_t, const ProgramResult&)>& done = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullband
