#include "evals/sandbox/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <cmath>
#include <thread>

#include "common/error.h"
#include "driver.h"
#include "evals/sandbox/watch.h"

namespace fullband {
namespace {

namespace bp = boost::process;

// "nobody" inside and, where this process is root, outside as well: root's processes escape the limit on
// their number.
constexpr int kNobody = 65534;
constexpr int kEndMilliseconds = 5000;

// Reads the job and hands over to the driver, in a namespace apart from the module __main__.
constexpr char kBoot[] = R"(import builtins as b, sys
def read():
    f = open(int(sys.argv[1]), 'rb'); d = f.read(); f.close(); j = []; i = 0
    while i < len(d):
        n = int.from_bytes(d[i:i + 4], 'little'); j.append(d[i + 4:i + 4 + n]); i += 4 + n
    return j
j = read()
b.exec(b.compile(j.pop(0), '<driver>', 'exec'), {'__builtins__': dict(vars(b)), '__name__': 'driver', 'JOB': j, 'PROOF': int(sys.argv[2])})
)";

[[noreturn]] void Throw(const char* what) {
  throw Error("sandbox", fmt::format("{}: {}", what, strerror(errno)), "close programs or raise the limits");
}

// Standard streams may be closed in this process; our descriptors must not take their numbers.
Descriptor Own(int number) {
  if (number < 0) Throw("no descriptor");
  Descriptor first(number);
  if (number > 2) return first;
  const int above = fcntl(number, F_DUPFD_CLOEXEC, 3);
  if (above < 0) Throw("no descriptor");
  return Descriptor(above);
}

struct Pipe {
  Descriptor read, write;
};

Pipe MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Throw("no pipe");
  Pipe pipe{Own(ends[0]), Own(ends[1])};
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

Descriptor MemoryFile(const std::string& bytes) {
  Descriptor file = Own(memfd_create("fullband", MFD_CLOEXEC));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) Throw("no memory for a job");
    if (count > 0) done += static_cast<size_t>(count);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

int PidfdOpen(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
void PidfdKill(const Descriptor& process) {
  syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}
bool WaitFor(const Descriptor& process, int milliseconds) {
  pollfd event{process.get(), POLLIN, 0};
  int count;
  do count = poll(&event, 1, milliseconds);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

void Field(std::string* job, const std::string& bytes) {
  if (bytes.size() > UINT32_MAX) throw Error("program", "is larger than 4 GiB");
  for (int shift = 0; shift < 32; shift += 8) job->push_back(static_cast<char>(bytes.size() >> shift));
  job->append(bytes);
}

// No /proc: it shows other processes and opens their memory, and programs need nothing of it. No /etc but
// what the loader reads.
std::vector<std::string> BubblewrapArguments(const Limits& limits, int filter, int info) {
  std::vector<std::string> arguments = {"--unshare-all",
                                        "--uid",
                                        fmt::to_string(kNobody),
                                        "--gid",
                                        fmt::to_string(kNobody),
                                        "--hostname",
                                        "sandbox",
                                        "--die-with-parent",
                                        "--new-session",
                                        "--cap-drop",
                                        "ALL",
                                        "--ro-bind",
                                        "/usr",
                                        "/usr"};
  const auto add = [&](std::initializer_list<std::string> words) {
    arguments.insert(arguments.end(), words);
  };
  for (const char* name : {"bin", "sbin", "lib", "lib64"}) {
    add({"--symlink", fmt::format("usr/{}", name), fmt::format("/{}", name)});
  }
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache"}) add({"--ro-bind-try", path, path});
  add({"--size", "65536", "--tmpfs", "/dev"});
  for (const char* name : {"null", "zero", "full", "random", "urandom"})
    add({"--dev-bind", fmt::format("/dev/{}", name), fmt::format("/dev/{}", name)});
  add({"--size", fmt::to_string(limits.tmp_size / 4 + 4096), "--perms", "1777", "--tmpfs", "/dev/shm"});
  add({"--size", fmt::to_string(limits.tmp_size + 4096), "--perms", "1777", "--tmpfs", "/tmp"});
  add({"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"});
  add({"--seccomp", fmt::to_string(filter), "--json-status-fd", fmt::to_string(info), "--"});
  return arguments;
}

bp::environment CleanEnvironment() {
  bp::environment clean;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"PATH", "/usr/bin:/bin"},
           {"HOME", "/tmp"},
           {"TMPDIR", "/tmp"},
           {"LANG", "C.UTF-8"},
           {"TZ", "UTC"},
           // Sets and dictionaries iterate in the same order in every run.
           {"PYTHONHASHSEED", "0"},
           {"PYTHONUTF8", "1"},
           // A thread a core would use up the address space and the processes of a program that multiplies.
           {"OPENBLAS_NUM_THREADS", "1"},
           {"OMP_NUM_THREADS", "1"}})
    clean[name] = value;
  return clean;
}

// What the new process does before it becomes bubblewrap. Other threads may have held locks when it was made,
// so it makes system calls and nothing else; not the C library's setuid either, which talks to all threads.
struct Setup {
  const int* passed;
  size_t passed_count;
  int output, errors;
  bool unprotected;

  void operator()(...) const {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
    const int input = open("/dev/null", O_RDONLY);
    dup2(input, 0);
    dup2(output, 1);
    dup2(errors, 2);
    for (size_t i = 0; i < passed_count; ++i) fcntl(passed[i], F_SETFD, 0);
    if (unprotected) {
      setsid();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (chdir("/tmp") != 0) _exit(127);
      return;
    }
    if (chdir("/") != 0) _exit(127);
    if (syscall(SYS_geteuid) == 0) {
      if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0 ||
          syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0)
        _exit(126);
    }
  }
};

}  // namespace

std::string JobBytes(const Program& program, const Limits& limits, const std::string& secret) {
  std::string job;
  Field(&job, kDriver);
  Field(&job, fmt::format("{} {} {} {} {}", static_cast<int64_t>(std::ceil(limits.cpu_seconds)),
                          limits.memory, limits.processes, limits.open_files, limits.file_size));
  for (const std::string* part :
       {&secret, &program.source, &program.setup, &program.helpers, &program.entry_point})
    Field(&job, *part);
  for (const std::string& test : program.tests) Field(&job, test);
  return job;
}

Process::Process(const SandboxOptions& options, const std::string& filter, const std::string& job,
                 const Limits& limits)
    : unprotected_(options.unprotected) {
  Pipe output = MakePipe(), errors = MakePipe(), proof = MakePipe(), info = MakePipe();
  Descriptor job_file = MemoryFile(job), filter_file = MemoryFile(filter);
  std::vector<std::string> arguments;
  std::vector<int> passed = {job_file.get(), proof.write.get()};
  if (!unprotected_) {
    arguments = BubblewrapArguments(limits, filter_file.get(), info.write.get());
    arguments.push_back(options.python.string());
    passed.push_back(filter_file.get());
    passed.push_back(info.write.get());
  }
  // -s: no packages of the user's; -B: nothing is written beside sources.
  for (const std::string& word : {std::string("-s"), std::string("-B"), std::string("-c"), std::string(kBoot),
                                  std::to_string(job_file.get()), std::to_string(proof.write.get())})
    arguments.push_back(word);
  const std::string exe = (unprotected_ ? options.python : options.bubblewrap).string();
  Start(exe, arguments, passed, output.write.get(), errors.write.get());
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
  proof_ = std::move(proof.read);
  info_ = std::move(info.read);
}

void Process::Start(const std::string& exe, const std::vector<std::string>& arguments,
                    const std::vector<int>& passed, int output, int errors) {
  const Setup setup{passed.data(), passed.size(), output, errors, unprotected_};
  std::error_code failed;
  bp::child child(
      bp::exe = exe, bp::args = arguments, bp::env = CleanEnvironment(),
      bp::extend::on_exec_setup = [setup](auto&) { setup(); }, failed);
  if (failed) throw Error(exe, "cannot be started: " + failed.message(), "run scripts/setup");
  pid_ = child.id();
  child.detach();
  exit_ = Descriptor(PidfdOpen(pid_));
  if (!exit_) Throw("no descriptor of a process");
  if (unprotected_) inner_pid_ = pid_;
}

pid_t Process::inner_pid() {
  if (inner_pid_ != 0 || unprotected_) return inner_pid_;
  char block[256];
  ssize_t count;
  while ((count = read(info_.get(), block, sizeof block)) > 0 && status_text_.size() < 4096)
    status_text_.append(block, static_cast<size_t>(count));
  constexpr std::string_view kKey = "\"child-pid\":";
  const size_t at = status_text_.find(kKey);
  if (at == std::string::npos || status_text_.find('\n', at) == std::string::npos) return 0;
  const pid_t pid = static_cast<pid_t>(std::atoi(status_text_.c_str() + at + kKey.size()));
  inner_exit_ = Descriptor(PidfdOpen(pid));
  if (inner_exit_) inner_pid_ = pid;
  return inner_pid_;
}

int Process::End() {
  if (status_ >= 0 || pid_ == 0) return status_;
  inner_pid();
  const bool ended = WaitFor(exit_, 0);
  if (unprotected_) {
    for (const pid_t pid : TreeOf(pid_)) kill(pid, SIGKILL);
    kill(-pid_, SIGKILL);
  } else if (inner_exit_) {
    // The end of its first process ends a process namespace, and is not seen before all others have gone.
    PidfdKill(inner_exit_);
    WaitFor(inner_exit_, kEndMilliseconds);
    if (!ended) WaitFor(exit_, kEndMilliseconds);
  }
  PidfdKill(exit_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

}  // namespace fullband
