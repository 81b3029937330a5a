#include "engine/tokenizer/bpe.h"

#include <algorithm>
#include <bit>
#include <queue>

#include "common/hash.h"
#include "engine/tokenizer/unicode.h"

namespace fullband {
namespace {

// Up to this many symbols, looking at every pair after every merge is faster than keeping a queue.
constexpr size_t kFew = 48;

// A stretch of a long piece: a list linked by index, so that a merge costs no copying.
struct Symbol {
  int32_t id;
  int32_t previous, next;  // -1 at the ends
  bool merged_away = false;
};

// A pair that may be merged. The best has the lowest rank, then the leftmost place.
struct Candidate {
  int32_t rank;
  int32_t place;  // index of the left symbol
  int32_t left, right;
  int32_t result;
  bool operator<(const Candidate& other) const {  // for a queue whose greatest comes first
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

}  // namespace

Bpe::Bpe(const BpeDefinition& definition) {
  byte_ids_.fill(-1);
  unknown_ = definition.unknown;
  fuse_unknown_ = definition.fuse_unknown;
  std::string bytes;
  for (const auto& [token, id] : definition.vocab) {
    if (!BytesOfToken(token, &bytes) || bytes.empty()) continue;  // no text has it
    if (bytes.size() == 1) byte_ids_[static_cast<unsigned char>(bytes[0])] = id;
    if (definition.ignore_merges) {
      whole_.emplace(bytes, id);
      longest_whole_ = std::max(longest_whole_, bytes.size());
    }
  }
  merges_.resize(std::bit_ceil(2 * definition.merges.size() + 2));
  int32_t rank = 0;
  for (const MergeRule& rule : definition.merges)
    AddMerge({Pair(rule.left, rule.right), rank++, rule.result});
}

void Bpe::AddMerge(const Merge& merge) {
  const size_t mask = merges_.size() - 1;
  size_t slot = Mix64(merge.pair) & mask;
  while (merges_[slot].rank >= 0 && merges_[slot].pair != merge.pair) slot = (slot + 1) & mask;
  merges_[slot] = merge;  // of a pair listed twice Hugging Face takes the later rank
}

const Bpe::Merge* Bpe::FindMerge(int32_t left, int32_t right) const {
  const uint64_t pair = Pair(left, right);
  const size_t mask = merges_.size() - 1;
  for (size_t slot = Mix64(pair) & mask; merges_[slot].rank >= 0; slot = (slot + 1) & mask)
    if (merges_[slot].pair == pair) return &merges_[slot];
  return nullptr;
}

void Bpe::Append(std::string_view piece, std::vector<int32_t>* ids) const {
  if (piece.size() <= longest_whole_) {
    const auto found = whole_.find(std::string(piece));
    if (found != whole_.end()) return ids->push_back(found->second);
  }
  const size_t first = ids->size();
  AppendBytes(piece, ids);
  if (ids->size() - first <= kFew) return MergeFew(first, ids);
  MergeMany(first, ids);
}

void Bpe::AppendBytes(std::string_view piece, std::vector<int32_t>* symbols) const {
  bool after_unknown = false;
  for (const char c : piece) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    if (id >= 0) {
      symbols->push_back(id);
    } else if (unknown_ && !(fuse_unknown_ && after_unknown)) {
      symbols->push_back(*unknown_);
    }
    after_unknown = id < 0;
  }
}

void Bpe::MergeFew(size_t first, std::vector<int32_t>* symbols) const {
  while (symbols->size() - first > 1) {
    const Merge* best = nullptr;
    size_t place = 0;
    for (size_t i = first; i + 1 < symbols->size(); ++i) {
      const Merge* merge = FindMerge((*symbols)[i], (*symbols)[i + 1]);
      if (merge == nullptr || (best != nullptr && merge->rank >= best->rank)) continue;
      best = merge;
      place = i;
    }
    if (best == nullptr) return;
    (*symbols)[place] = best->result;
    symbols->erase(symbols->begin() + place + 1);
  }
}

void Bpe::MergeMany(size_t first, std::vector<int32_t>* out) const {
  const int32_t count = static_cast<int32_t>(out->size() - first);
  std::vector<Symbol> symbols(count);
  for (int32_t i = 0; i < count; ++i) symbols[i] = {(*out)[first + i], i - 1, i + 1 < count ? i + 1 : -1};
  std::priority_queue<Candidate> queue;
  const auto consider = [&](int32_t place) {
    if (place < 0 || symbols[place].next < 0) return;
    const int32_t left = symbols[place].id, right = symbols[symbols[place].next].id;
    if (const Merge* merge = FindMerge(left, right))
      queue.push({merge->rank, place, left, right, merge->result});
  };
  for (int32_t i = 0; i < count; ++i) consider(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.place];
    // Candidates are not taken back when a neighbour changes: they are checked when their turn comes.
    if (left.merged_away || left.id != best.left || left.next < 0 || symbols[left.next].id != best.right)
      continue;
    Symbol& right = symbols[left.next];
    left.id = best.result;
    right.merged_away = true;
    left.next = right.next;
    if (left.next >= 0) symbols[left.next].previous = best.place;
    consider(left.previous);
    consider(best.place);
  }
  out->resize(first);
  for (int32_t i = 0; i >= 0; i = symbols[i].next) out->push_back(symbols[i].id);
}

}  // namespace fullband
