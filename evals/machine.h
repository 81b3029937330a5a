// What this machine and this process are, for the sessions' rows.
#pragma once

#include <cstdint>
#include <string>

namespace fullband {

std::string ProcessorName();  // as /proc/cpuinfo has it
std::string HostName();
int UsableThreads();        // processors that this process may use
int64_t PeakMemoryBytes();  // largest resident size so far

}  // namespace fullband
