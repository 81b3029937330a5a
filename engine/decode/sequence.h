// One request on its way: which rows it runs next, what it wants to know of them, and its answer.
#pragma once

#include <chrono>
#include <memory>

#include "engine/decode/generated_text.h"
#include "engine/decode/request.h"
#include "engine/decode/walk.h"

namespace fullband {

// Where sequences find pages and slots, and what others left in them (null: nothing). Must outlive them.
struct Memory {
  Places* places = nullptr;
  PrefixTree* prefixes = nullptr;
};

class Sequence {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Sequence() = default;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // Adds the rows that can run now to a step; of a prompt or a continuation at most `limit`, which is above 0
  // in the first step. Returns how many of the rows count against that limit: a sequence that moves one
  // position a step always may.
  int AddTo(int limit, Step* step);
  // See Walk.
  int WillShareWith(const Sequence& other) const { return walk_.WillShareWith(other.walk_); }
  int shared() const { return walk_.shared(); }
  int Adoptable() const { return walk_.Adoptable(); }
  bool prefilled() const { return walk_.prefilled(); }
  bool decodes() const { return walk_.decodes(); }
  // Takes what that step gave. Does nothing where the sequence had no rows in it.
  void Accept(const StepResult& result, Clock::time_point started, Clock::time_point ended);

  bool finished() const { return finished_; }
  Answer TakeAnswer() { return std::move(answer_); }
  int pages_ahead() const { return walk_.pages_ahead(); }

 protected:
  // `prompt_size` positions are the prompt; the logits of the last pass are asked for from its last position
  // on.
  Sequence(uint64_t id, int prompt_size, Walk::Plan plan, const Memory& memory);

  virtual void Ask(int position, Query* query) const = 0;
  virtual void Hear(const QueryResult& result) = 0;
  // A fault: what is known of the answer stays in it, but it is no result.
  virtual void Abandon() = 0;
  void Fail(std::string why);
  void Finish() { finished_ = true; }

  Walk walk_;
  Answer answer_;
  const int prompt_size_;

 private:
  void Begin();
  void AskOfAdopted(Step* step);
  void AskOfRow(int position, int32_t row, int32_t state, Step* step);
  void NoteState(float rms);
  bool CheckStates(std::span<const float> state_rms);
  void CountRows();

  const Clock::time_point submitted_ = Clock::now();
  Clock::time_point first_step_, first_token_;
  bool begun_ = false;
  bool started_ = false;
  bool asks_of_adopted_ = false;  // the prompt's last position was adopted and is still to be asked about
  bool has_token_ = false;
  bool finished_ = false;
  // What it has in the step being run.
  Walk::Chunk chunk_;
  size_t first_row_ = 0, first_query_ = 0, query_count_ = 0;
};

// `end_tokens` and `tokenizer` (may be null) must outlive the sequence.
struct GenerateLimits {
  const std::vector<int32_t>* end_tokens = nullptr;
  const Tokenizer* tokenizer = nullptr;
  int max_context = 0;  // tokens that prompt and trace have together at most
};

std::unique_ptr<Sequence> MakeSequence(GenerateRequest request, const GenerateLimits& limits,
                                       const Memory& memory);
std::unique_ptr<Sequence> MakeSequence(ScoreRequest request, const Memory& memory);

}  // namespace fullband
