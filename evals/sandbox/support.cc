#include "evals/sandbox/support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "common/error.h"

namespace fullband {
namespace {

namespace bp = boost::process;

// The first line that a command prints; empty where it fails.
std::string FirstLineOf(const std::filesystem::path& exe, const std::vector<std::string>& arguments) {
  bp::ipstream output;
  std::error_code failed;
  bp::child child(bp::exe = exe.string(), bp::args = arguments, bp::std_out > output, bp::std_err > bp::null,
                  bp::std_in < bp::null, failed);
  if (failed) return "";
  std::string line;
  std::getline(output, line);
  child.wait(failed);
  return child.exit_code() == 0 ? line : "";
}

std::optional<int64_t> KernelSetting(const char* name) {
  std::ifstream file(std::string("/proc/sys/") + name);
  int64_t value;
  return file >> value ? std::optional(value) : std::nullopt;
}

double MedianMs(int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void MeasureStartUp(const Sandbox& sandbox, const SandboxOptions& options, int repeats,
                    SandboxReport* report) {
  Program nothing;
  nothing.tests = {"pass"};
  report->program_ms = MedianMs(repeats, [&] { sandbox.Run(nothing); });
  report->python_ms = MedianMs(repeats, [&] { FirstLineOf(options.python, {"-s", "-B", "-c", "pass"}); });
}

}  // namespace

std::filesystem::path FindBubblewrap() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder) / "bwrap";
    if (program.is_absolute() && access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::vector<Obstacle> ObstaclesOf(const SandboxOptions& options, std::string said) {
  said.erase(said.find_last_not_of(" \n\r\t") + 1);
  std::vector<Obstacle> found;
  if (access(options.python.c_str(), X_OK) != 0)
    found.push_back({fmt::format("there is no interpreter {}", options.python.string()),
                     "install python3 (scripts/setup does)"});
  if (options.unprotected) {
    if (found.empty()) found.push_back({said, "run fullband sandbox-check"});
    return found;
  }
  if (options.bubblewrap.empty())
    found.push_back({"bubblewrap is missing", "install bubblewrap (scripts/setup does)"});
  else if (access(options.bubblewrap.c_str(), X_OK) != 0)
    found.push_back(
        {fmt::format("there is no program {}", options.bubblewrap.string()), "install bubblewrap"});
  if (KernelSetting("user/max_user_namespaces").value_or(1) == 0)
    found.push_back(
        {"this system allows no user namespaces", "set user.max_user_namespaces above 0 with sysctl"});
  if (KernelSetting("kernel/unprivileged_userns_clone").value_or(1) == 0)
    found.push_back({"this system allows user namespaces to root alone",
                     "set kernel.unprivileged_userns_clone=1 with sysctl"});
  bool refused = false;
  for (const char* words : {"ermission denied", "not permitted", "No permissions"})
    refused = refused || said.find(words) != std::string::npos;
  if (KernelSetting("kernel/apparmor_restrict_unprivileged_userns").value_or(0) == 1 && refused)
    found.push_back({"AppArmor keeps bubblewrap from making user namespaces (it said: " + said + ")",
                     "add an AppArmor profile with `userns,` for bwrap, or set "
                     "kernel.apparmor_restrict_unprivileged_userns=0 with sysctl"});
  if (found.empty() && refused)
    found.push_back({"bubblewrap was refused a namespace or a mount (it said: " + said + ")",
                     "run it outside of the container, or allow user namespaces in it"});
  if (found.empty())
    found.push_back({said.empty() ? "a trial failed without a word" : "a trial failed: " + said,
                     "run fullband sandbox-check on this machine's console"});
  return found;
}

SandboxReport CheckSandbox(SandboxOptions options, int repeats) {
  SandboxReport report;
  if (options.bubblewrap.empty()) options.bubblewrap = FindBubblewrap();
  report.bubblewrap = options.bubblewrap;
  if (!options.bubblewrap.empty()) report.bubblewrap_version = FirstLineOf(options.bubblewrap, {"--version"});
  report.python_version = FirstLineOf(options.python, {"--version"});
  report.numpy_version =
      FirstLineOf(options.python, {"-s", "-B", "-c", "import numpy; print(numpy.__version__)"});
  try {
    const Sandbox sandbox(options);
    report.works = true;
    if (repeats > 0) MeasureStartUp(sandbox, options, repeats, &report);
  } catch (const SandboxRefused& refused) {
    report.obstacles = refused.obstacles;
  } catch (const Error& error) {
    report.obstacles = {{error.why(), error.remedy()}};
  }
  return report;
}

}  // namespace fullband
