// The one error type of the program and its exit codes.
#pragma once

#include <stdexcept>
#include <string>

namespace fullband {

enum class ExitCode {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,       // the command line asks for something that does not exist or does not fit together
  kIncomplete = 3,  // finished, but some items could not be asked or graded (the store says why)
};

// What a user is shown as `fullband: <what>: <why> (<remedy>)`.
// `what` names the thing at fault (a file and, where there is one, the tensor, key, line or item), `why` says
// what is wrong with it, `remedy` what to do about it (may be empty).
class Error : public std::runtime_error {
 public:
  Error(std::string what, std::string why, std::string remedy = "", ExitCode code = ExitCode::kFailed);
  const std::string& subject() const { return subject_; }
  const std::string& why() const { return why_; }
  const std::string& remedy() const { return remedy_; }
  ExitCode code() const { return code_; }

 private:
  std::string subject_, why_, remedy_;
  ExitCode code_;
};

// An error in how the program was called (exit code 2).
Error UsageError(std::string what, std::string why, std::string remedy = "");

}  // namespace fullband
