#include "engine/compute/counting_backend.h"

#include <algorithm>
#include <cmath>

#include "engine/compute/check_step.h"

namespace fullband {

CountingBackend::CountingBackend(const ModelConfig& config, const BackendInfo& info, int64_t page_bytes,
                                 int64_t state_bytes)
    : config_(config), info_(info), page_bytes_(page_bytes), state_bytes_(state_bytes) {
  const auto ends = [&](int32_t token) {
    return std::find(config.end_tokens.begin(), config.end_tokens.end(), token) != config.end_tokens.end();
  };
  while (token_ + 1 < config.vocab_size && ends(token_)) ++token_;
  other_token_ = token_ == 0 ? std::min(1, config.vocab_size - 1) : 0;
}

int64_t CountingBackend::Touched(int64_t used, int64_t reserved, int64_t bytes) {
  constexpr int64_t kLargePage = int64_t{2} << 20;
  return std::min(reserved * bytes, (used * bytes + kLargePage - 1) / kLargePage * kLargePage);
}

void CountingBackend::Reserve(int page_count, int state_count) {
  reserved_pages_ = std::max(reserved_pages_, page_count);
  reserved_states_ = std::max(reserved_states_, state_count);
}

void CountingBackend::Run(const Step& step, StepResult* result) {
  CheckStep(step, config_, {reserved_pages_, info_.page_size, reserved_states_});
  int64_t fused = 0;
  for (const Row& row : step.rows) {
    if (row.state != kNoSlot) {
      ++fused;
      fused_tokens_.insert(row.token);
    }
    states_ = std::max(states_, row.keep_state + 1);
  }
  for (const Span& span : step.spans) {
    for (const int32_t page : span.pages) pages_ = std::max(pages_, page + 1);
    largest_.positions = std::max<int64_t>(largest_.positions, span.position + span.row_count);
  }
  largest_.rows = std::max<int64_t>(largest_.rows, static_cast<int64_t>(step.rows.size()));
  largest_.fused_rows = std::max(largest_.fused_rows, fused);
  largest_.fused_tokens = static_cast<int64_t>(fused_tokens_.size());
  largest_.queries = std::max<int64_t>(largest_.queries, static_cast<int64_t>(step.queries.size()));

  result->state_rms.assign(step.rows.size(), 1.0f);
  const float logprob = -std::log(static_cast<float>(config_.vocab_size));
  QueryResult answer;
  answer.top = {{token_, logprob}, {other_token_, logprob}};
  answer.sampled = {token_, logprob};
  result->queries.assign(step.queries.size(), answer);
  for (size_t i = 0; i < step.queries.size(); ++i)
    result->queries[i].target_logprobs.assign(step.queries[i].targets.size(), logprob);
}

std::vector<float> CountingBackend::ReadState(int) const {
  return std::vector<float>(static_cast<size_t>(config_.hidden_size));
}

}  // namespace fullband
