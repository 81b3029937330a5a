#include "evals/sandbox/sandbox.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "common/error.h"
#include "common/hash.h"
#include "evals/sandbox/launch.h"
#include "evals/sandbox/markers.h"
#include "evals/sandbox/support.h"
#include "evals/sandbox/syscalls.h"
#include "evals/sandbox/watch.h"

namespace fullband {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kWatchEvery{25};
constexpr size_t kMaxLine = 4096;
constexpr size_t kMaxLines = 20'000;  // on the proof's pipe; a program that writes there itself is cut off
constexpr int64_t kMaxFiles = 20'000;

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    const ssize_t got = getrandom(bytes.data() + done, count - done, 0);
    if (got < 0 && errno != EINTR) throw Error("sandbox", "the system gives no random numbers");
    if (got > 0) done += static_cast<size_t>(got);
  }
  return bytes;
}

void Append(std::string_view bytes, Output* output) {
  output->size += static_cast<int64_t>(bytes.size());
  const size_t first = std::min(bytes.size(), Output::kKept - output->head.size());
  output->head.append(bytes.substr(0, first));
  output->tail.append(bytes.substr(first));
  if (output->tail.size() > Output::kKept) output->tail.erase(0, output->tail.size() - Output::kKept);
}

// What a program that is running has told, and what is seen of it from outside.
class Observer {
 public:
  Observer(const Program& program, const Limits& limits, const std::string& secret, ProgramResult* result)
      : limits_(limits),
        proof_(Sha256Hex(secret + fmt::format(" {}", program.tests.size()))),
        started_(Clock::now()),
        result_(*result) {}

  // Returns when the result is known.
  void Watch(Process* process);
  // After the end: what is left in the pipes, and what the exit status adds.
  void Finish(const Process& process, int status);

 private:
  // One read; false at the end of the pipe, or where there is nothing at the moment.
  bool ReadOutput(int descriptor, Output* output);
  bool ReadProof(int descriptor);
  void Line(std::string_view line);
  void EndLine(std::string_view text);
  void CheckUsage(Process* process);
  void Decide(Detail detail, std::string message = "") {
    if (decided_) return;
    decided_ = true;
    result_.detail = detail;
    result_.message = std::move(message);
  }

  const Limits& limits_;
  const std::string proof_;
  const Clock::time_point started_;
  ProgramResult& result_;
  std::string line_;
  size_t lines_ = 0;
  bool ready_ = false, decided_ = false;
};

bool Observer::ReadOutput(int descriptor, Output* output) {
  char block[64 << 10];
  const ssize_t count = read(descriptor, block, sizeof block);
  if (count <= 0) return count < 0 && errno == EINTR;
  Append({block, static_cast<size_t>(count)}, output);
  if (result_.output.size + result_.errors.size > limits_.output)
    Decide(Detail::kOutputLimit, fmt::format("wrote more than {} bytes", limits_.output));
  return true;
}

bool Observer::ReadProof(int descriptor) {
  char block[4096];
  const ssize_t count = read(descriptor, block, sizeof block);
  if (count <= 0) return count < 0 && errno == EINTR;
  for (const char c : std::string_view(block, static_cast<size_t>(count))) {
    if (c != '\n') {
      if (line_.size() < kMaxLine) line_ += c;
      continue;
    }
    if (++lines_ <= kMaxLines) Line(line_);
    line_.clear();
  }
  return true;
}

void Observer::Line(std::string_view line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  const std::string text(line.substr(std::min(space + 1, line.size())));
  if (word == "ready") {
    ready_ = true;
  } else if (word == "test" && ready_) {
    if (result_.tests_run < result_.tests && text == std::to_string(result_.tests_run + 1))
      ++result_.tests_run;
  } else if (word == "flag") {
    if (result_.suspicious.size() < 100) result_.suspicious.push_back(text);
  } else if (word == "end") {
    EndLine(text);
  } else if (word == "proof" && ready_ && text == proof_) {
    if (!decided_) result_.tests_run = result_.tests;
    Decide(Detail::kPassed);
  }
}

// The pipe is within the program's reach: what stands here can only make it fail, and never as a fault of
// ours, which would take the item out of the account.
void Observer::EndLine(std::string_view text) {
  const size_t space = std::min(text.find(' '), text.size());
  const Detail detail = DetailOfWord(text.substr(0, space));
  const std::string message(text.substr(std::min(space + 1, text.size())));
  if (!ready_)
    Decide(detail == Detail::kBadTests ? detail : Detail::kSandboxFailed, message);
  else
    Decide(OutcomeOf(detail) == Outcome::kIncorrect ? detail : Detail::kException, message);
}

void Observer::CheckUsage(Process* process) {
  const pid_t inner = process->inner_pid();
  if (inner == 0) return;
  const Usage usage = UsageOf(TreeOf(inner), limits_.memory);
  result_.cpu_seconds = std::max(result_.cpu_seconds, usage.cpu_seconds);
  if (usage.cpu_seconds > limits_.cpu_seconds)
    Decide(Detail::kCpuLimit, fmt::format("took more than {} s of the processor", limits_.cpu_seconds));
  if (usage.memory > limits_.memory)
    Decide(Detail::kMemoryLimit, fmt::format("its processes used {} bytes together", usage.memory));
  // Before the driver speaks, the mounts may still be this machine's own.
  if (!result_.is_protected || !ready_) return;
  for (const char* folder : {"/tmp", "/dev/shm"})
    if (FilesOf(inner, folder) > kMaxFiles)
      Decide(Detail::kDiskLimit, fmt::format("made more than {} files", kMaxFiles));
}

void Observer::Watch(Process* process) {
  const auto deadline = started_ + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(limits_.wall_seconds));
  Clock::time_point next_watch = started_ + kWatchEvery;
  pollfd events[4] = {{process->output(), POLLIN, 0},
                      {process->errors(), POLLIN, 0},
                      {process->proof(), POLLIN, 0},
                      {process->exit_event(), POLLIN, 0}};
  while (!decided_) {
    const auto now = Clock::now();
    if (now >= deadline) Decide(Detail::kTimeout, fmt::format("ran longer than {} s", limits_.wall_seconds));
    if (now >= next_watch) {
      CheckUsage(process);
      next_watch = Clock::now() + kWatchEvery;
    }
    const auto wait = std::chrono::ceil<milliseconds>(std::min(deadline, next_watch) - Clock::now());
    if (poll(events, 4, static_cast<int>(std::max<int64_t>(wait.count(), 0))) <= 0) continue;
    // A pipe that nobody holds open any more stays readable; it is not asked again.
    for (int i = 0; i < 3; ++i) {
      if (events[i].revents == 0) continue;
      const bool more = i == 2 ? ReadProof(events[i].fd)
                               : ReadOutput(events[i].fd, i == 0 ? &result_.output : &result_.errors);
      if (!more && errno != EAGAIN) events[i].fd = -1;
      if (!more && (events[i].revents & POLLHUP) != 0) events[i].fd = -1;
    }
    if (events[3].revents != 0) break;
  }
  CheckUsage(process);
}

void Observer::Finish(const Process& process, int status) {
  while (ReadProof(process.proof())) {
  }
  const bool had_decided = decided_;
  while (ReadOutput(process.output(), &result_.output)) {
  }
  while (ReadOutput(process.errors(), &result_.errors)) {
  }
  result_.wall_seconds = Seconds(Clock::now() - started_);
  if (had_decided || decided_) return;
  if (!ready_) {
    const std::string said = result_.errors.head.substr(0, 500);
    Decide(Detail::kSandboxFailed,
           said.empty() ? fmt::format("ended with status {} before it began", status) : said);
    return;
  }
  constexpr int kCpu = 24, kKill = 9;  // SIGXCPU, SIGKILL
  if (status <= 128) {
    Decide(Detail::kExitedEarly, fmt::format("ended with status {} after {} of {} tests", status,
                                             result_.tests_run, result_.tests));
  } else if (status - 128 == kCpu || (status - 128 == kKill && result_.cpu_seconds >= limits_.cpu_seconds)) {
    Decide(Detail::kCpuLimit, fmt::format("took more than {} s of the processor", limits_.cpu_seconds));
  } else {
    result_.signal = status - 128;
    Decide(Detail::kSignal, fmt::format("was ended by signal {}", result_.signal));
  }
}

// Each reason once, in order of name.
void Tidy(std::vector<std::string>* reasons) {
  std::sort(reasons->begin(), reasons->end());
  reasons->erase(std::unique(reasons->begin(), reasons->end()), reasons->end());
}

}  // namespace

struct Sandbox::Impl {
  SandboxOptions options;
  std::string filter;

  ProgramResult Run(const Program& program, const Limits& limits) const {
    ProgramResult result;
    result.tests = static_cast<int>(program.tests.size());
    result.is_protected = !options.unprotected;
    result.suspicious = MarkersOf(program.source);
    const std::string secret = RandomBytes(32);
    Observer observer(program, limits, secret, &result);
    try {
      Process process(options, filter, JobBytes(program, limits, secret), limits);
      observer.Watch(&process);
      const int status = process.End();
      observer.Finish(process, status);
    } catch (const std::exception& error) {
      result.detail = Detail::kSandboxFailed;
      result.message = error.what();
    }
    Tidy(&result.suspicious);
    return result;
  }
};

Sandbox::Sandbox(SandboxOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  if (!impl_->options.unprotected) {
    if (impl_->options.bubblewrap.empty()) impl_->options.bubblewrap = FindBubblewrap();
    impl_->filter = SyscallFilter();
  }
  const ProgramResult trial =
      impl_->options.unprotected || !impl_->options.bubblewrap.empty()
          ? impl_->Run({.source = "", .setup = "", .tests = {"pass"}, .entry_point = "", .helpers = ""}, {})
          : ProgramResult{};
  if (trial.detail == Detail::kPassed) return;
  throw SandboxRefused(ObstaclesOf(impl_->options, trial.message));
}

Sandbox::~Sandbox() = default;

ProgramResult Sandbox::Run(const Program& program, const Limits& limits) const {
  return impl_->Run(program, limits);
}

std::vector<ProgramResult> Sandbox::RunAll(
    const std::vector<Program>& programs, const Limits& limits, unsigned workers,
    const std::function<void(size_t, const ProgramResult&)>& done) const {
  if (workers == 0) workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<ProgramResult> results(programs.size());
  std::atomic<size_t> next{0};
  std::mutex one_at_a_time;
  std::exception_ptr failed;
  const auto work = [&] {
    for (size_t i; (i = next++) < programs.size();) {
      results[i] = Run(programs[i], limits);
      if (!done) continue;
      const std::lock_guard lock(one_at_a_time);
      try {
        if (!failed) done(i, results[i]);
      } catch (...) {
        failed = std::current_exception();
        next = programs.size();
      }
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < std::min<size_t>(workers, programs.size()); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  if (failed) std::rethrow_exception(failed);
  return results;
}

}  // namespace fullband
