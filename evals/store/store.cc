#include "evals/store/store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <bit>
#include <chrono>

#include "common/hash.h"
#include "evals/store/blob.h"
#include "evals/store/connection.h"

namespace fullband {
namespace {

// Length first, so that no two lists of fields give the same bytes.
class ContentHash {
 public:
  void Add(std::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    hash_.Update(text);
  }
  void Add(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    hash_.Update(EncodeInts({static_cast<int32_t>(bits & 0xFFFFFFFFu), static_cast<int32_t>(bits >> 32)}));
  }
  void Add(double value) { Add(std::bit_cast<int64_t>(value)); }
  std::string Hex() { return hash_.HexDigest(); }

 private:
  Sha256 hash_;
};

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
const std::filesystem::path& Store::path() const { return impl_->path; }

std::string ContentSha256(const SampleRecord& sample) {
  ContentHash hash;
  hash.Add(int64_t{sample.sample});
  hash.Add(sample.fault);
  hash.Add(sample.text);
  hash.Add(sample.stop_reason);
  for (const auto* ints : {&sample.tokens, &sample.text_ends, &sample.runner_ups})
    hash.Add(EncodeInts(*ints));
  for (const auto* floats : {&sample.logprobs, &sample.runner_up_logprobs}) hash.Add(EncodeFloats(*floats));
  hash.Add(sample.prompt_tokens);
  hash.Add(sample.generated_tokens);
  hash.Add(sample.trace_tokens);
  hash.Add(sample.prefill_forwards +
           sample.saved_forwards);  // how many a cache saved depends on what else ran
  hash.Add(sample.decode_forwards);
  hash.Add(sample.min_state_rms);
  hash.Add(sample.max_state_rms);
  for (const ChoiceRecord& choice : sample.choices) {
    hash.Add(choice.text);
    hash.Add(int64_t{choice.characters});
    hash.Add(int64_t{choice.bytes});
    hash.Add(choice.logprob);
    hash.Add(EncodeFloats(choice.logprobs));
    hash.Add(int64_t{choice.greedy});
    hash.Add(int64_t{choice.gold});
  }
  return hash.Hex();
}

std::string UtcNow() {
  using namespace std::chrono;
  const auto now = time_point_cast<milliseconds>(system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(floor<seconds>(now))),
                     now.time_since_epoch().count() % 1000);
}

}  // namespace fullband
