// Ending a long command by a signal, with all that was finished in the store.
#pragma once

#include <atomic>

namespace fullband {

// From now on the first SIGINT, SIGTERM or SIGHUP sets what StopAsked gives, and the second ends the process.
// A signal that is ignored (nohup) stays ignored.
void CatchStopSignals();
const std::atomic<bool>& StopAsked();

// Ends as the signal would have ended the process, so that a shell or a scheduler sees why.
[[noreturn]] void EndBySignal();

}  // namespace fullband
