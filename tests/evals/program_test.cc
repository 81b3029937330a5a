// `fullband run` as a process: its exit codes, signals, sudden death.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "evals/grading.h"
#include "evals/store/store.h"
#include "tests/evals/toy_run.h"
#include "tests/support/small_mount.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_folder.h"
#include "tests/tasks/own_suite.h"

namespace fullband {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct ProgramTest : testing::Test {
  TempFolder folder;
  std::filesystem::path store = folder / "a.db";
  std::vector<std::string> common;

  void SetUp() override {
    WriteTinyFolder(folder / "tiny");
    common = Tiny("14");
    common.insert(common.end(), {"--threads", "1"});
  }

  std::vector<std::string> Tiny(const std::string& limit) const {
    return {"run",
            "--model",
            (folder / "tiny").string(),
            "--suite",
            "mini_gsm8k,mini_choice",
            "--setting",
            "latent@2",
            "--shots",
            "0",
            "--limit",
            limit,
            "--max-new",
            "24"};
  }

  pid_t Start(std::vector<std::string> words, const std::filesystem::path& where) {
    words.insert(words.begin(), FULLBAND_PROGRAM);
    words.insert(words.end(), {"--store", where.string()});
    const pid_t child = fork();
    if (child != 0) return child;
    const auto redirect = [&](const char* name, int to) {
      dup2(open((folder / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), to);
    };
    redirect("out", STDOUT_FILENO);
    redirect("err", STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(FULLBAND_PROGRAM, arguments.data());
    _exit(127);
  }
  // The exit code, or minus the signal.
  static int Wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  int Run(const std::vector<std::string>& words) { return Wait(Start(words, store)); }
  std::vector<std::string> With(std::initializer_list<std::string> more) const {
    std::vector<std::string> words = common;
    words.insert(words.end(), more);
    return words;
  }
  std::string Out() const { return ReadFile(folder / "out"); }
  std::string Err() const { return ReadFile(folder / "err"); }
  static size_t Committed(const std::filesystem::path& where) {
    try {
      size_t count = 0;
      const auto opened = OpenStore(where, StoreMode::kReadOnly);
      for (const RunRecord& run : opened->Runs()) count += opened->Samples(run.id).size();
      return count;
    } catch (const std::exception&) {
      return 0;  // no store yet
    }
  }
  // Waits until `count` samples are there, a minute at most.
  void WaitForSamples(size_t count) const {
    for (int i = 0; i < 20000 && Committed(store) < count; ++i) usleep(2000);
  }
};

TEST_F(ProgramTest, RunsAndEndsWithATable) {
  ASSERT_EQ(Run(common), 0) << Err();
  EXPECT_THAT(Out(), StartsWith("model"));
  EXPECT_THAT(Out(), HasSubstr("mini_gsm8k"));
  EXPECT_THAT(Out(), HasSubstr("mini_choice"));
  EXPECT_THAT(Err(), HasSubstr("mini_gsm8k latent@2: 14/14"));
  const auto content = Content(store);
  EXPECT_EQ(content.size(), 28u);
  ASSERT_EQ(Run(With({"--quiet"})), 0);
  EXPECT_EQ(Err(), "");
  EXPECT_EQ(Content(store), content);
}

TEST_F(ProgramTest, TheSameResultHoweverItIsScheduled) {
  const std::initializer_list<std::string> ways[] = {
      {"--batch", "1", "--chunk", "16", "--threads", "1"},
      {"--batch", "3", "--chunk", "200", "--threads", "1", "--shuffle", "4"},
      {"--batch", "16", "--threads", "2"},
  };
  setenv("OMP_WAIT_POLICY", "passive", 1);  // two threads on a busy machine must not spin
  std::set<std::map<std::string, std::string>> contents;
  for (const auto& way : ways) {
    std::vector<std::string> words = Tiny("5");
    words.insert(words.end(), way);
    store = folder / std::to_string(contents.size() + words.size() * 10);
    ASSERT_EQ(Run(words), 0) << Err();
    contents.insert(Content(store));
    EXPECT_EQ(contents.begin()->size(), 10u);
  }
  EXPECT_EQ(contents.size(), 1u);
}

TEST_F(ProgramTest, KilledAtRandomMomentsTheStoreEndsAsUndisturbed) {
  constexpr int kKills = 20;
  constexpr size_t kItems = 40;
  std::vector<std::string> words = Tiny(std::to_string(kItems));
  words.insert(words.end(), {"--threads", "1", "--batch", "1", "--quiet"});
  *std::find(words.begin(), words.end(), "24") = "1000";  // tens of milliseconds an item
  std::mt19937 random(3);
  size_t committed = 0;
  int killed = 0, grown = 0;
  for (int round = 0; killed < kKills && round < 200; ++round) {
    const pid_t child = Start(words, store);
    // Half of the kills come anywhere from the first instruction on, half after a sample or two.
    if (round % 2 == 0)
      usleep(random() % 60000);
    else
      WaitForSamples(std::min<size_t>(committed + 1 + random() % 3, 2 * kItems - 1));
    usleep(random() % 3000);
    kill(child, SIGKILL);
    const int end = Wait(child);
    EXPECT_TRUE(end == -SIGKILL || end == 0) << Err();
    killed += end == -SIGKILL;
    const size_t now = Committed(store);
    EXPECT_GE(now, committed);
    grown += now > committed;
    committed = now;
  }
  EXPECT_EQ(killed, kKills);
  EXPECT_GT(grown, 5);
  ASSERT_EQ(Run(words), 0) << Err();
  ASSERT_EQ(Wait(Start(words, folder / "b.db")), 0);
  EXPECT_EQ(Content(store), Content(folder / "b.db"));
  // Every commit of every session is a sample of its own.
  const auto opened = OpenStore(store, StoreMode::kReadOnly);
  for (const RunRecord& run : opened->Runs()) {
    int64_t commits = 0;
    for (const SessionRecord& session : opened->Sessions(run.id)) commits += session.samples;
    EXPECT_EQ(commits, static_cast<int64_t>(kItems));
    EXPECT_FALSE(opened->Lease(run.id).has_value());
  }
}

TEST_F(ProgramTest, SignalsEndItCleanly) {
  for (const int number : {SIGINT, SIGTERM}) {
    store = folder / std::to_string(number);
    const pid_t child = Start(common, store);
    WaitForSamples(2);
    kill(child, number);
    ASSERT_EQ(Wait(child), -number) << Err();
    EXPECT_THAT(Err(), HasSubstr("stopped"));
    EXPECT_THAT(Err(), HasSubstr("the same command again"));
    const auto opened = OpenStore(store, StoreMode::kReadOnly);
    EXPECT_FALSE(opened->Lease(1).has_value());
    for (const RunRecord& run : opened->Runs())
      EXPECT_EQ(opened->Ungraded(run.id, run.headline, JudgesOf(LoadSuite(run.suite)).front().version).size(),
                0u);
    ASSERT_EQ(Run(common), 0) << Err();
  }
  EXPECT_EQ(Content(folder / std::to_string(SIGINT)), Content(folder / std::to_string(SIGTERM)));
}

TEST_F(ProgramTest, ASecondProcessIsToldWhoWorksOnTheRun) {
  std::vector<std::string> words = Tiny("100000");
  words.insert(words.end(), {"--threads", "1", "--batch", "1"});
  const pid_t first = Start(words, store);
  WaitForSamples(1);
  EXPECT_EQ(Run(words), 1);
  EXPECT_THAT(Err(), HasSubstr("process " + std::to_string(first) + " on "));
  kill(first, SIGINT);
  EXPECT_EQ(Wait(first), -SIGINT);
}

TEST_F(ProgramTest, ItemsThatCannotBeAskedGiveExitCodeThree) {
  const OwnSuite own;
  own.Write("own.jsonl", std::string(kOwnItems) + R"({"question": ")" + std::string(3000, 'a') +
                             R"(?", "answer": "#### 1"})" + "\n");
  EXPECT_EQ(Run({"run", "--model", (folder / "tiny").string(), "--suite", own.Path("own.toml"), "--setting",
                 "standard"}),
            3);
  EXPECT_THAT(Err(), HasSubstr("could not be asked or graded"));
  const auto samples = OpenStore(store, StoreMode::kReadOnly)->Samples(1);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].fault, "");
  EXPECT_THAT(samples[2].fault, HasSubstr("2048"));
}

TEST_F(ProgramTest, WrongUseGivesOneLineAndExitCodeTwo) {
  const std::string model = (folder / "tiny").string();
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"run", "--model", model, "--suite", "mini_gsm", "--setting", "standard"}, "mini_gsm8k"},
      {{"run", "--model", model, "--suite", "mini_choice", "--setting", "latnt"}, "latent"},
      {{"run", "--model", model + "y", "--suite", "mini_choice", "--setting", "latent"}, "tiny"},
      {{"run", "--model", model, "--suite", "mini_choice", "--seting", "latent"}, "--setting"},
      {{"run", "--model", model, "--suite", "mini_choice", "--setting", "latent", "--format", "chats"},
       "chat"},
      {{"run", "--model", model, "--suite", "mini_choice", "--setting", "latent", "--limit", "0"}, "--limit"},
      {{"run", "--model", model, "--suite", "mini_gsm8k", "--setting", "latent", "--samples", "3"},
       "--temperature"},
      {{"run", "--model", model, "--suite", "mini_gsm8k", "--setting", "parallel@2"}, "scoring only"},
      {{"run", "--model", model, "--suite", "mini_gsm8k", "--setting", "latent", "--device", "gpu"}, "cpu"},
      {{"run", "--model", model, "--suite", "mini_gsm8k", "--setting", "latent", "--target", "AVX9"}, "AVX9"},
  };
  for (const auto& [words, says] : cases) {
    EXPECT_EQ(Run(words), 2) << Err();
    EXPECT_THAT(Err(), StartsWith("fullband: "));
    EXPECT_THAT(Err(), HasSubstr(says));
    const std::string err = Err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  }
}

TEST_F(ProgramTest, AStoreThatCannotBeUsedGivesOneLineAndExitCodeOne) {
  std::ofstream(folder / "text") << "not a store, but a text of some length\n";
  std::vector<std::pair<std::filesystem::path, const char*>> cases = {
      {folder.path(), "is a folder"},
      {folder / "text", "not an SQLite file"},
      {folder / "missing" / "a.db", "does not exist"},
  };
  const SmallMount full("8k"), read_only("1m");
  if (full.ok()) cases.emplace_back(full.path() / "a.db", "disk is full");
  if (read_only.ok() && read_only.MakeReadOnly())
    cases.emplace_back(read_only.path() / "a.db", "cannot be written");
  for (const auto& [path, says] : cases) {
    EXPECT_EQ(Wait(Start(common, path)), 1);
    EXPECT_THAT(Err(), HasSubstr(says));
    const std::string err = Err();
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  }
}

}  // namespace
}  // namespace fullband
