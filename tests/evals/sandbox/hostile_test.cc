// Each hostile program runs beside a good one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "evals/sandbox/assemble.h"
#include "evals/sandbox/watch.h"
#include "tests/evals/sandbox/hostile_programs.h"
#include "tests/evals/sandbox/usable.h"

namespace fullband {
namespace {

constexpr char kPrompt[] = "def f(x):\n";
constexpr char kTest[] = "def check(c):\n    assert c(2) == 4\n    assert c(3) == 9\n";

class Hostile : public SandboxTest, public testing::WithParamInterface<HostileProgram> {};

bool Contains(const std::string& words, const std::string& word) {
  std::istringstream all(words);
  for (std::string each; std::getline(all, each, '|');)
    if (each == word) return true;
  return false;
}

// Children of this process that are alive. As a subreaper it inherits whatever a sandbox would leave.
int LivingChildren() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
  }
  return pid == 0 ? 1 : 0;
}

int64_t PeakMemory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::atoll(line.c_str() + 6) * 1024;
  return 0;
}

TEST_P(Hostile, IsContained) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  setenv("FULLBAND_HOSTILE_TOKEN", "secret", 1);
  const HostileProgram& hostile = GetParam();
  const std::vector<Program> programs = {
      HumanEvalProgram(kPrompt, hostile.completion, hostile.test != nullptr ? hostile.test : kTest, "f"),
      HumanEvalProgram(kPrompt, "    return x * x\n", kTest, "f")};
  Limits limits;
  limits.wall_seconds = 4;
  limits.cpu_seconds = 1;
  limits.memory = 512 << 20;
  const int64_t before = PeakMemory();
  const std::vector<ProgramResult> results = TheSandbox().sandbox->RunAll(programs, limits, 2);
  const ProgramResult& result = results[0];
  EXPECT_TRUE(Contains(hostile.details, result.detail_text()))
      << result.detail_text() << ": " << result.message << "\n"
      << result.errors.head;
  if (hostile.suspicious) {
    EXPECT_FALSE(result.suspicious.empty());
  }
  EXPECT_LT(result.wall_seconds, limits.wall_seconds + 5);
  EXPECT_LT(PeakMemory() - before, 16 << 20);
  EXPECT_EQ(results[1].detail_text(), "passed") << results[1].message;
  EXPECT_TRUE(results[1].suspicious.empty());
  EXPECT_EQ(LivingChildren(), 0);
  for (const char* path : {"/tmp/fullband_hostile", "/dev/shm/fullband_hostile", "/fullband_hostile"})
    EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(Programs, Hostile, testing::ValuesIn(HostilePrograms()),
                         [](const auto& info) { return std::string(info.param.name); });

using SandboxEnd = SandboxTest;

TEST_F(SandboxEnd, NothingOutlivesAKilledHarness) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t harness = fork();
  if (harness == 0) {
    Program sleeper;
    sleeper.source = "import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(600)\n";
    Limits limits;
    limits.wall_seconds = 600;
    Sandbox().Run(sleeper, limits);
    _exit(1);
  }
  sleep(2);
  // bubblewrap twice, the program, its child.
  EXPECT_EQ(TreeOf(harness).size(), 5u);
  kill(harness, SIGKILL);
  for (int i = 0; i < 100 && LivingChildren() != 0; ++i) usleep(50'000);
  EXPECT_EQ(LivingChildren(), 0);
}

TEST(HostilePrograms, AreManyAndNamedApart) {
  std::vector<std::string> names;
  for (const HostileProgram& program : HostilePrograms()) names.push_back(program.name);
  EXPECT_GE(names.size(), 60u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace fullband
