// How many sequences that decode are in flight: as many as pay, by the steps' own times. Decides about time
// only: no result depends on it.
#pragma once

#include <array>
#include <cstddef>
#include <deque>

namespace fullband {

class BatchSize {
 public:
  static constexpr int kLeast = 8, kFirst = 32, kMost = 256;

  // `fixed`: that many, whatever is measured; 0: from 8 to 256, by powers of two, beginning with 32.
  explicit BatchSize(int fixed);

  bool automatic() const { return fixed_ == 0; }
  int limit() const { return automatic() ? kLeast << level_ : fixed_; }

  // A step that ran `decode_rows` rows of sequences that decode (one each) beside `prompt_rows` others.
  // `waiting`: whether more sequences could have been in flight, were it not for the limit.
  void Note(int decode_rows, int prompt_rows, double seconds, bool waiting);

 private:
  static constexpr int kLevels = 6;
  static_assert(kLeast << (kLevels - 1) == kMost);

  // What was measured with one limit.
  struct Level {
    std::deque<double> rates;  // decode rows a second, latest last
    int refused = 0;           // steps until it may be tried again
  };

  void NotePrompt(int rows, double seconds);
  void Decide(bool waiting);
  void MoveTo(int level);

  const int fixed_;
  int level_ = 2;
  std::array<Level, kLevels> levels_;
  std::deque<double> prompt_seconds_;  // a prompt's row, in steps that were nearly all prompts
};

}  // namespace fullband
