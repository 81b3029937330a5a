// The Python processes that graders ask: a few, long-lived, each asked by one thread at a time.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

namespace fullband {

// As Worker::Call (common/worker.h) does it, in whichever process is free. Starting Python and importing what
// the job needs does not count against the time limit. Throws WorkerTimeout, after which that process is
// replaced, and Error. Safe to call from several threads.
nlohmann::json CallGradingWorker(const nlohmann::json& request, std::chrono::milliseconds time_limit);

}  // namespace fullband
