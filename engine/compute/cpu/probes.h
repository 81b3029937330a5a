// The machine's bounds, measured: what a figure's distance from the roofline (Williams et al. 2009) is taken
// from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fullband {

struct ProbeOptions {
  int threads = 0;           // 0: as many as the process may use
  int64_t buffer_bytes = 0;  // of each buffer; well above the last cache
  int repeats = 5;           // of which the fastest counts, as is usual for bounds
};

struct MachineBounds {
  struct Peak {
    std::string target;  // a Highway target
    double flops = 0;    // float32 operations a second of all threads: a multiply-add is two
  };
  int threads = 0;
  double read_bandwidth = 0;   // bytes a second of all threads: one stream a thread is read and summed
  double triad_bandwidth = 0;  // likewise: a = b + 3 c, counted as three streams
  std::vector<Peak> peaks;     // best target first

  // Throws Error where the machine has no such target.
  double PeakOf(const std::string& target) const;
};

// Takes some hundreds of milliseconds. Throws Error where the memory for three buffers is not to be had.
MachineBounds ProbeMachine(const ProbeOptions& options);

}  // namespace fullband
