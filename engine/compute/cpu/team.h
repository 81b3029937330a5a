// Sharing work out between the threads of an OpenMP team.
//
// A whole forward pass is one parallel region: every thread runs the same code, each of these calls does its
// share, and all meet at its end. Outside a parallel region the calling thread does everything.
#pragma once

#include <omp.h>

#include <cstdint>

namespace fullband {

// Calls work(begin, end) once a thread, on contiguous shares of 0 .. count - 1.
template <class Work>
void ShareRanges(int64_t count, Work work) {
  const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
  const int64_t begin = count * thread / threads, end = count * (thread + 1) / threads;
  if (begin < end) work(begin, end);
#pragma omp barrier
}

// Calls work(i) for all i in 0 .. count - 1, dealt out like cards, since neighbours are alike in cost.
template <class Work>
void ShareItems(int64_t count, Work work) {
#pragma omp for schedule(static, 1)
  for (int64_t i = 0; i < count; ++i) work(i);
}

}  // namespace fullband
