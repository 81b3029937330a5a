#include "common/error.h"

#include <utility>

namespace fullband {
namespace {

std::string Join(const std::string& what, const std::string& why, const std::string& remedy) {
  std::string text = what + ": " + why;
  if (!remedy.empty()) text += " (" + remedy + ")";
  return text;
}

}  // namespace

Error::Error(std::string what, std::string why, std::string remedy, ExitCode code)
    : std::runtime_error(Join(what, why, remedy)),
      subject_(std::move(what)),
      why_(std::move(why)),
      remedy_(std::move(remedy)),
      code_(code) {}

Error UsageError(std::string what, std::string why, std::string remedy) {
  return Error(std::move(what), std::move(why), std::move(remedy), ExitCode::kUsage);
}

}  // namespace fullband
