// Whether the map that latent feedback iterates contracts: pass after pass over texts
// (engine/decode/passes.h), put together as residuals, distances to the exact recurrence and losses, and
// judged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "evals/contraction_input.h"

namespace fullband {

struct TokenLoss {
  double nats_per_token = 0;
  std::optional<double> bits_per_byte;  // nothing where the tokens have no bytes
};

// Norms are Frobenius norms over all positions of all texts: squares are summed first, text by text in order.
// The open ones leave out what is the recurrence whatever the map: positions below p-1 in pass p's residual
// and below p in its distance. Nothing where no position is open.
struct PassFigures {
  std::optional<double> residual;       // |h(p) - h(p-1)| / |h(p-1)|; from pass 2 on
  std::optional<double> open_residual;  // the same over open positions
  double distance = 0;                  // |h(p) - h*| / |h*|, h* being the recurrence's
  std::optional<double> open_distance;
  TokenLoss loss;                      // of all tokens but each text's first
  std::optional<TokenLoss> answer;     // of the reference answers' tokens; suites
  std::optional<double> greedy_share;  // share of items whose answer tokens are all the arg max; suites
};

enum class MapVerdict { kContracts, kDoesNotContract, kUndecided };
const char* MapVerdictName(MapVerdict verdict);  // "contracts", "does not contract", "undecided"

struct MapJudgement {
  MapVerdict verdict = MapVerdict::kUndecided;
  std::optional<double> rate;  // ratio of successive residuals, fitted
  std::string reason;          // one sentence
};

// What open residuals of passes 2 .. K and the open distance of pass K say. See docs/decoding.md for the
// rule.
MapJudgement JudgeMap(const std::vector<double>& residuals, double distance);

struct Contraction {
  std::vector<PassFigures> passes;
  PassFigures recurrence;  // its distance is 0
  MapJudgement judgement;
  int64_t positions = 0;
  int64_t scored_tokens = 0, scored_bytes = 0;
  int64_t answer_tokens = 0, answer_bytes = 0;
};

// Puts together what the passes over single texts gave. Texts are to come in one order always: then the
// figures are the same, bit for bit.
class ContractionSums {
 public:
  // `bytes[i]` is what token i of the text stands for; `answer_from` where its reference answer begins, if
  // any.
  void Add(const SequencePasses& text, const std::vector<int>& bytes, std::optional<size_t> answer_from);
  // Throws std::logic_error where nothing was added.
  Contraction Result() const;

 private:
  struct Loss {
    double nats = 0;
    int64_t tokens = 0, bytes = 0;
    void Add(float logprob, int token_bytes);
    TokenLoss Figures() const;
  };
  struct Pass {
    PassSums sums;
    Loss all, answer;
    int64_t greedy = 0;
  };
  static void AddTo(Pass* pass, const PassSums& sums, const std::vector<int>& bytes,
                    std::optional<size_t> answer_from);
  PassFigures Figures(const Pass& pass) const;

  std::vector<Pass> passes_;
  Pass recurrence_;
  int64_t texts_ = 0, answers_ = 0, positions_ = 0;
};

// Runs and judges. `advance` (may be empty) hears of the rows run, PassRows() in all.
Contraction MeasureContraction(Engine& engine, const ContractionInput& input, int passes, Control control,
                               const std::function<void(int64_t rows)>& advance);

}  // namespace fullband
