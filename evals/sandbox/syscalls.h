// The system calls that programs in the sandbox may not make.
#pragma once

#include <string>

namespace fullband {

// A compiled filter (cBPF, as the kernel and bubblewrap take it). Throws Error where libseccomp fails.
std::string SyscallFilter();

}  // namespace fullband
