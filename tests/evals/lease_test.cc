#include "evals/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "common/error.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

struct LeaseTest : testing::Test {
  TempFolder folder;
  std::filesystem::path path = folder / "a.db";
  int64_t run_id = 0;

  void SetUp() override {
    const auto store = OpenStore(path, StoreMode::kReadWrite);
    RunRecord run;
    run.key = "k";
    run.model_id = store->AddModel({});
    run_id = store->AddRun(run);
  }
  std::optional<LeaseRecord> Held() { return OpenStore(path, StoreMode::kReadOnly)->Lease(run_id); }
  std::string ClaimError() {
    try {
      const Lease lease(path, run_id, "run k");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  // A child that claims the run, says so, and waits to be killed.
  pid_t StartHolder() {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
      const Lease lease(path, run_id, "run k");
      if (write(pipes[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
  }
};

TEST_F(LeaseTest, IsClaimedAndReleased) {
  {
    const Lease lease(path, run_id, "run k");
    ASSERT_TRUE(Held().has_value());
    EXPECT_EQ(Held()->pid, getpid());
    EXPECT_EQ(Held()->token, lease.token());
    EXPECT_THAT(ClaimError(), HasSubstr("run k: process"));
  }
  EXPECT_FALSE(Held().has_value());
  EXPECT_EQ(ClaimError(), "");
}

TEST_F(LeaseTest, AnotherProcessIsToldWhoHoldsIt) {
  const pid_t child = StartHolder();
  EXPECT_THAT(ClaimError(), HasSubstr("process " + std::to_string(child) + " on "));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(Held().has_value());  // it could not release it
  EXPECT_EQ(ClaimError(), "");      // but it is dead
}

TEST_F(LeaseTest, AZombieIsDead) {
  const pid_t child = StartHolder();
  kill(child, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // left unreaped
  EXPECT_EQ(ClaimError(), "");
  waitpid(child, nullptr, 0);
}

TEST_F(LeaseTest, TheHeartbeatGoesOn) {
  LeaseTimes times;
  times.beat = milliseconds(5);
  const Lease lease(path, run_id, "run k", times);
  const std::string first = Held()->heartbeat;
  for (int i = 0; i < 400 && Held()->heartbeat == first; ++i) usleep(5000);
  EXPECT_GT(Held()->heartbeat, first);
}

TEST_F(LeaseTest, ReleasingLeavesAnothersLease) {
  {
    const Lease lease(path, run_id, "run k");
    const auto store = OpenStore(path, StoreMode::kReadWrite);
    ASSERT_TRUE(store->ReplaceLease(run_id, lease.token(), ThisProcess()));
  }
  EXPECT_TRUE(Held().has_value());
}

TEST_F(LeaseTest, OfManyWhoClaimAtOnceOneGetsIt) {
  std::vector<pid_t> children;
  int go[2], done[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(done), 0);
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      close(go[1]);
      char byte = 0;
      if (read(go[0], &byte, 1) < 0) _exit(9);
      try {
        const Lease lease(path, run_id, "run k");
        if (write(done[1], "y", 1) != 1) _exit(9);
        for (;;) pause();  // holds it until all have tried
      } catch (const Error&) {
        _exit(write(done[1], "n", 1) == 1 ? 1 : 9);
      }
    }
    children.push_back(child);
  }
  close(go[1]);
  std::string answers;
  for (char byte = 0; answers.size() < 6 && read(done[0], &byte, 1) == 1;) answers += byte;
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 'y'), 1);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(IsAlive, JudgesByProcessHereAndByHeartbeatElsewhere) {
  const LeaseRecord self = ThisProcess();
  const std::string now = "2026-03-01T00:00:30.000Z";
  const milliseconds silent(60000);
  const auto with = [&](const std::function<void(LeaseRecord&)>& change) {
    LeaseRecord lease = self;
    change(lease);
    return IsAlive(lease, self, now, silent);
  };
  EXPECT_TRUE(with(
      [](LeaseRecord& l) { l.heartbeat = "2020-01-01T00:00:00.000Z"; }));  // this very process, however late
  EXPECT_FALSE(with([](LeaseRecord& l) { l.pid = 999999999; }));
  EXPECT_FALSE(with([](LeaseRecord& l) { l.process += "1"; }));  // a pid used again: started at another time
  const auto elsewhere = [&](const std::string& heartbeat) {
    return with([&](LeaseRecord& l) {
      l.process = "another-boot:1:5";
      l.heartbeat = heartbeat;
    });
  };
  EXPECT_TRUE(elsewhere("2026-03-01T00:00:29.500Z"));
  EXPECT_TRUE(elsewhere("2026-02-28T23:59:31.000Z"));
  EXPECT_FALSE(elsewhere("2026-02-28T23:59:29.000Z"));
  EXPECT_TRUE(elsewhere("2026-03-01T00:00:40.000Z"));  // a clock that is ahead
  EXPECT_FALSE(elsewhere("2027-03-01T00:00:40.000Z"));
  EXPECT_FALSE(elsewhere("nonsense"));
}

}  // namespace
}  // namespace fullband
