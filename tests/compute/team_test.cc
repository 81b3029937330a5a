// A team of threads: everyone takes part, nobody goes on before all have met, and waiting costs no processor.
#include "engine/compute/cpu/team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace fullband {
namespace {

double ProcessorSeconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class TeamOf : public testing::TestWithParam<int> {};

TEST_P(TeamOf, RunsOnceOnEveryThread) {
  Team team(GetParam());
  EXPECT_EQ(team.threads(), GetParam());
  std::vector<std::atomic<int>> calls(GetParam());
  std::vector<std::thread::id> ids(GetParam());
  for (int run = 1; run <= 50; ++run) {
    team.Run([&] {
      const TeamPlace& here = Team::Here();
      EXPECT_EQ(here.team, &team);
      EXPECT_EQ(here.threads, GetParam());
      ++calls[here.thread];
      ids[here.thread] = std::this_thread::get_id();
    });
    for (const std::atomic<int>& call : calls) EXPECT_EQ(call, run);
  }
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), static_cast<size_t>(GetParam()));
  EXPECT_EQ(ids[0], std::this_thread::get_id());
}

// Plain numbers, each written by one thread and read by all after the meeting.
TEST_P(TeamOf, MeetsBeforeAnyoneGoesOn) {
  constexpr int kRounds = 2000;
  Team team(GetParam());
  std::vector<int> written(GetParam());
  std::atomic<int> wrong = 0;
  team.Run([&] {
    for (int round = 1; round <= kRounds; ++round) {
      written[Team::Here().thread] = round;
      Team::Meet();
      for (const int one : written) wrong += one != round;
      Team::Meet();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(TeamOf, WaitsForThreadsThatTakeLong) {
  Team team(GetParam());
  for (int late = 0; late < GetParam(); ++late) {
    std::atomic<int> done = 0;
    std::atomic<int> early = 0;
    team.Run([&] {
      // Longer than a waiting thread stays awake.
      if (Team::Here().thread == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++done;
      Team::Meet();
      early += done != GetParam();
    });
    EXPECT_EQ(early, 0);
  }
}

TEST_P(TeamOf, SharesRangesAndItems) {
  Team team(GetParam());
  for (const int64_t count : {0, 1, 2, 3, 100}) {
    std::vector<int> ranged(count), dealt(count);
    team.Run([&] {
      ShareRanges(count, [&](int64_t begin, int64_t end) {
        EXPECT_LT(begin, end);
        for (int64_t i = begin; i < end; ++i) ++ranged[i];
      });
      ShareItems(count, [&](int64_t i) { dealt[i] += ranged[count - 1 - i]; });  // often another thread's
    });
    EXPECT_EQ(ranged, std::vector<int>(count, 1));
    EXPECT_EQ(dealt, std::vector<int>(count, 1));
  }
}

TEST_P(TeamOf, SleepsWhileThereIsNothingToDo) {
  Team team(GetParam());
  team.Run([] {});
  const double before = ProcessorSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(ProcessorSeconds() - before, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Threads, TeamOf, testing::Values(1, 2, 3, 16));

TEST(Team, OutsideOfARunTheCallerDoesEverything) {
  EXPECT_EQ(Team::Here().team, nullptr);
  std::vector<int> calls(10);
  ShareItems(10, [&](int64_t i) { ++calls[i]; });
  ShareRanges(10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++calls[i];
  });
  Team::Meet();
  EXPECT_EQ(calls, std::vector<int>(10, 2));
  Team team(2);
  team.Run([] {});
  EXPECT_EQ(Team::Here().team, nullptr);
}

TEST(Team, SeveralWorkSideBySide) {
  constexpr int kTeams = 3, kRuns = 300;
  std::vector<int> sums(kTeams);
  std::vector<std::thread> callers;
  for (int t = 0; t < kTeams; ++t) {
    callers.emplace_back([&sums, t] {
      Team team(2 + t);
      for (int run = 0; run < kRuns; ++run) {
        std::vector<int> ones(20);
        team.Run([&] { ShareItems(20, [&](int64_t i) { ones[i] = 1; }); });
        for (const int one : ones) sums[t] += one;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<int>(kTeams, 20 * kRuns));
}

}  // namespace
}  // namespace fullband
