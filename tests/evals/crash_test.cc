// Killed at random moments and started again, a run ends as if nothing had happened.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "evals/store/store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

constexpr int kItems = 120;
constexpr int kKills = 20;

// Runs in a child that notes every question it asks, and slowly enough to be killed on the way.
pid_t Start(const std::filesystem::path& store, const std::filesystem::path& notes) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int file = open(notes.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  ToyRun run(store);
  run.options.on_ask = [file](const std::string& item, int sample) {
    const std::string line = item + " " + std::to_string(sample) + "\n";
    if (write(file, line.data(), line.size()) < 0) _exit(9);
    usleep(500);
  };
  try {
    run.Run(ToyTask(kItems));
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    _exit(1);
  }
}

std::vector<ItemSample> Asked(const std::filesystem::path& notes) {
  std::vector<ItemSample> asked;
  std::ifstream file(notes);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    ItemSample one;
    words >> one.first >> one.second;
    asked.push_back(one);
  }
  return asked;
}

void WaitForAsked(const std::filesystem::path& notes, size_t count) {
  for (int waited = 0; waited < 10000 && Asked(notes).size() < count; ++waited) usleep(500);
}

std::set<ItemSample> Committed(const std::filesystem::path& store) {
  try {
    const auto opened = OpenStore(store, StoreMode::kReadOnly);
    return opened->Runs().empty() ? std::set<ItemSample>() : opened->Committed(1);
  } catch (const std::exception&) {
    return {};  // killed before there was a store
  }
}

TEST(Crash, KilledAtRandomMomentsTheRunEndsAsUndisturbed) {
  TempFolder folder;
  const auto store = folder / "a.db", notes = folder / "asked";
  std::mt19937 random(11);
  int killed = 0, moved = 0;
  size_t asked_before = 0;
  for (int round = 0; round < 400; ++round) {
    const std::set<ItemSample> before = Committed(store);
    const pid_t child = Start(store, notes);
    // A few questions on, at a moment of no meaning; once enough kills are done, it may finish.
    if (killed < kKills) {
      WaitForAsked(notes, asked_before + random() % 20);
      usleep(random() % 4000);
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status);
    const std::vector<ItemSample> asked = Asked(notes);
    for (size_t i = asked_before; i < asked.size(); ++i)
      EXPECT_FALSE(before.contains(asked[i])) << asked[i].first << " was asked after its commit";
    asked_before = asked.size();
    moved += Committed(store).size() > before.size();
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      if (killed >= kKills) break;
    }
  }
  EXPECT_EQ(killed, kKills);
  EXPECT_GT(moved, 3);
  ToyRun undisturbed(folder / "b.db");
  undisturbed.Run(ToyTask(kItems));
  EXPECT_EQ(Content(store), Content(folder / "b.db"));
  EXPECT_EQ(Content(store).size(), static_cast<size_t>(kItems));
}

}  // namespace
}  // namespace fullband
