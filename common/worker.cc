#include "common/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/process/args.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/io.hpp>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/paths.h"

namespace fullband {
namespace {

namespace asio = boost::asio;
namespace bp = boost::process;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kMaxFrame = 256u << 20;
constexpr size_t kStderrKept = 4096;

// Writing to a worker that just died must be an error of the call, not the end of the program. Only this
// thread's mask is touched, and a signal raised meanwhile is taken back.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec no_time{};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &no_time) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

// Other children of the program must not hold the ends of this pipe: a worker would then never see its input
// end.
void CloseOnExec(bp::async_pipe& pipe) {
  for (const int descriptor : {pipe.native_source(), pipe.native_sink()})
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

std::array<unsigned char, 4> EncodeLength(uint32_t length) {
  return {static_cast<unsigned char>(length), static_cast<unsigned char>(length >> 8),
          static_cast<unsigned char>(length >> 16), static_cast<unsigned char>(length >> 24)};
}

uint32_t DecodeLength(const std::array<unsigned char, 4>& bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

std::string LastLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

enum class Exchange { kDone, kTimeout, kBroken };

// One child with its three pipes. It is killed when this object goes.
class Process {
 public:
  Process(const std::filesystem::path& interpreter, const std::filesystem::path& script);
  ~Process();

  // Sends `request` and puts the answer into `reply`.
  Exchange Call(const std::string& request, std::string& reply, Clock::time_point deadline);
  // What the child last said on stderr.
  std::string LastWords();

 private:
  void ReadStderr();

  asio::io_context io_;
  bp::async_pipe requests_{io_}, replies_{io_}, errors_{io_};
  bp::child child_;
  std::array<char, 1024> error_block_{};
  std::string error_text_;
};

Process::Process(const std::filesystem::path& interpreter, const std::filesystem::path& script) {
  for (bp::async_pipe* pipe : {&requests_, &replies_, &errors_}) CloseOnExec(*pipe);
  std::error_code failed;
  // -I: neither the user's site folder nor PYTHONPATH changes what runs; -B: the source folder stays as it
  // is.
  child_ = bp::child(bp::exe = interpreter.string(), bp::args = {"-I", "-B", script.string()},
                     bp::std_in<requests_, bp::std_out> replies_, bp::std_err > errors_, failed);
  if (failed)
    throw Error(interpreter.string(), "cannot be started: " + failed.message(), "run scripts/setup");
  // The child has these ends; while we hold them too, we would not see it go.
  error_code ignored;
  std::move(requests_).source().close(ignored);
  std::move(replies_).sink().close(ignored);
  std::move(errors_).sink().close(ignored);
  ReadStderr();
}

Process::~Process() {
  std::error_code ignored;
  child_.terminate(ignored);
}

void Process::ReadStderr() {
  errors_.async_read_some(asio::buffer(error_block_), [this](const error_code& failed, size_t count) {
    if (failed) return;
    error_text_.append(error_block_.data(), count);
    if (error_text_.size() > kStderrKept) error_text_.erase(0, error_text_.size() - kStderrKept);
    ReadStderr();
  });
}

Exchange Process::Call(const std::string& request, std::string& reply, Clock::time_point deadline) {
  const NoSigpipe no_sigpipe;
  const auto request_length = EncodeLength(static_cast<uint32_t>(request.size()));
  const std::array<asio::const_buffer, 2> frame{asio::buffer(request_length), asio::buffer(request)};
  std::array<unsigned char, 4> reply_length{};
  std::optional<Exchange> outcome;

  const auto on_body = [&](const error_code& failed, size_t) {
    outcome = failed ? Exchange::kBroken : Exchange::kDone;
  };
  const auto on_length = [&](const error_code& failed, size_t) {
    const uint32_t length = DecodeLength(reply_length);
    if (failed || length > kMaxFrame) {
      outcome = Exchange::kBroken;
      return;
    }
    reply.resize(length);
    asio::async_read(replies_, asio::buffer(reply), on_body);
  };
  asio::async_write(requests_, frame, [&](const error_code& failed, size_t) {
    if (failed) {
      outcome = Exchange::kBroken;
      return;
    }
    asio::async_read(replies_, asio::buffer(reply_length), on_length);
  });

  io_.restart();
  while (!outcome) {
    if (io_.run_one_until(deadline) == 0 && !outcome) outcome = Exchange::kTimeout;
  }
  if (*outcome == Exchange::kTimeout) {
    // The handlers refer to this call's variables; none may be left behind.
    requests_.cancel();
    replies_.cancel();
    io_.restart();
    io_.poll();
    return Exchange::kTimeout;
  }
  return *outcome;
}

std::string Process::LastWords() {
  // Its stderr ends with it; do not wait for a grandchild that kept the pipe.
  io_.restart();
  io_.run_for(std::chrono::milliseconds(200));
  return LastLine(error_text_);
}

}  // namespace

struct Worker::Impl {
  explicit Impl(std::filesystem::path script_path) : script(std::move(script_path)) {}

  std::string Send(const std::string& request, std::chrono::milliseconds time_limit);

  const std::filesystem::path script;
  std::mutex mutex;
  std::unique_ptr<Process> process;
};

std::string Worker::Impl::Send(const std::string& request, std::chrono::milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  if (!process) {
    const std::filesystem::path interpreter = PythonInterpreter();
    std::error_code ignored;
    if (!std::filesystem::exists(interpreter, ignored))
      throw Error(interpreter.string(), "no such Python interpreter", "run scripts/setup");
    if (!std::filesystem::exists(script, ignored))
      throw Error(script.string(), "no such file", "set FULLBAND_HOME to the source folder");
    process = std::make_unique<Process>(interpreter, script);
  }
  std::string reply;
  switch (process->Call(request, reply, deadline)) {
    case Exchange::kDone:
      return reply;
    case Exchange::kTimeout:
      process.reset();
      throw WorkerTimeout();
    case Exchange::kBroken:
      break;
  }
  const std::string words = process->LastWords();
  process.reset();
  throw Error(script.string(), "the worker ended without an answer" + (words.empty() ? "" : ": " + words),
              "if it persists, run scripts/setup");
}

Worker::Worker(std::filesystem::path script) : impl_(std::make_unique<Impl>(std::move(script))) {}
Worker::~Worker() = default;

nlohmann::json Worker::Call(const nlohmann::json& request, std::chrono::milliseconds time_limit) {
  const std::string job = request.value("job", "");
  std::string text;
  try {
    text = request.dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error("worker job " + job, "the request holds text that is not UTF-8");
  }
  if (text.size() > kMaxFrame) throw Error("worker job " + job, "the request is larger than 256 MiB");

  const std::lock_guard<std::mutex> lock(impl_->mutex);
  const std::string reply_text = impl_->Send(text, time_limit);
  const auto reply = nlohmann::json::parse(reply_text, nullptr, false);
  if (!reply.is_object() || !reply.contains("ok") || !reply["ok"].is_boolean()) {
    impl_->process.reset();
    throw Error(impl_->script.string(), "the worker's answer is not of the protocol");
  }
  if (reply["ok"].get<bool>()) return reply.value("result", nlohmann::json());
  if (reply.contains("missing"))
    throw Error("worker job " + job, "Python package missing: " + reply.value("missing", "?"),
                "run scripts/setup");
  if (const std::string limit = reply.value("limit", ""); !limit.empty()) {
    // What is left of the process's memory may be in pieces: the next job must not pay for this one.
    if (limit == "memory") impl_->process.reset();
    throw WorkerLimit(limit);
  }
  throw Error("worker job " + job, reply.value("error", "failed"));
}

}  // namespace fullband
