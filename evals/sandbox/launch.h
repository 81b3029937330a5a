// Starts one program under bubblewrap (or without) and ends it with all that it started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "evals/sandbox/descriptor.h"
#include "evals/sandbox/sandbox.h"

namespace fullband {

// The driver's job (driver.py): its own text, limits, secret, the program's parts.
std::string JobBytes(const Program& program, const Limits& limits, const std::string& secret);

// bubblewrap or, unprotected, the interpreter, with the ends of its pipes that are ours. The destructor ends
// everything.
class Process {
 public:
  // Throws Error where it cannot be started. `filter` is what SyscallFilter() gives.
  Process(const SandboxOptions& options, const std::string& filter, const std::string& job,
          const Limits& limits);
  ~Process() { End(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Kills the whole tree and waits until it is gone. Returns the exit status as a shell has it (128 +
  // signal).
  int End();

  int output() const { return output_.get(); }
  int errors() const { return errors_.get(); }
  int proof() const { return proof_.get(); }
  int exit_event() const { return exit_.get(); }  // readable once the first process has ended
  pid_t pid() const { return pid_; }
  // The first process inside the sandbox, as this machine counts; 0 while it is not known.
  pid_t inner_pid();

 private:
  void Start(const std::string& exe, const std::vector<std::string>& arguments,
             const std::vector<int>& passed, int output, int errors);

  bool unprotected_;
  pid_t pid_ = 0, inner_pid_ = 0;
  int status_ = -1;
  std::string status_text_;
  Descriptor output_, errors_, proof_, info_, exit_, inner_exit_;
};

}  // namespace fullband
