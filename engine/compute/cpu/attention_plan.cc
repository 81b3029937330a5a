#include "engine/compute/cpu/attention_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace fullband {
namespace {

// Queries of a tile at most: their weights and mixed values fill some hundred kilobytes of the second-level
// cache. Rows beyond a page's would gain nothing.
constexpr int64_t kTileQueries = 96;

bool Sooner(const PlannedItem& a, const PlannedItem& b) { return a.pairs > b.pairs; }

}  // namespace

AttentionPlan::AttentionPlan(int64_t heads, int64_t kv_heads)
    : heads_(heads),
      kv_heads_(kv_heads),
      tile_rows_(std::bit_floor<uint64_t>(std::clamp<int64_t>(kTileQueries / heads, 1, kPageSize))) {}

void AttentionPlan::Make(std::span<const Span> spans, const Pages& pages, int threads) {
  OrderSpans(spans);
  CutTiles(spans);
  runs_.clear();
  run_begins_.clear();
  for (PlannedTile& tile : tiles_) FindRuns(spans, pages, tile);
  DealItems(threads);
}

// Spans whose page lists begin alike come to stand side by side.
void AttentionPlan::OrderSpans(std::span<const Span> spans) {
  order_.resize(spans.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int32_t a, int32_t b) { return spans[a].pages < spans[b].pages; });
}

void AttentionPlan::CutTiles(std::span<const Span> spans) {
  rows_.clear();
  positions_.clear();
  span_of_.clear();
  tiles_.clear();
  int32_t first_page = -1;
  for (int32_t s : order_) {
    const Span& span = spans[s];
    // A tile of rows that share no page would only be larger. Long spans are cut where pages end, so that the
    // rows of a tile see the same ones.
    bool cut = tiles_.empty() || span.pages.front() != first_page;
    first_page = span.pages.front();
    for (int32_t i = 0; i < span.row_count; ++i) {
      const int32_t position = span.position + i;
      cut = cut || tiles_.back().rows == tile_rows_ ||
            (span.row_count > tile_rows_ && i > 0 && position % tile_rows_ == 0);
      if (cut) tiles_.push_back({.first_row = static_cast<int32_t>(rows_.size())});
      cut = false;
      rows_.push_back(span.first_row + i);
      span_of_.push_back(s);
      positions_.push_back(position + 1);
      PlannedTile& tile = tiles_.back();
      ++tile.rows;
      tile.pages = std::max<int32_t>(tile.pages, position / kPageSize + 1);
      tile.pairs += position + 1;
    }
  }
}

void AttentionPlan::FindRuns(std::span<const Span> spans, const Pages& pages, PlannedTile& tile) {
  tile.first_begin = static_cast<int32_t>(run_begins_.size());
  for (int32_t p = 0; p < tile.pages; ++p) {
    run_begins_.push_back(static_cast<int32_t>(runs_.size()));
    int32_t end = -1;  // row after the last run
    for (int32_t i = 0; i < tile.rows; ++i) {
      const int32_t row = tile.first_row + i;
      if (positions_[row] <= p * kPageSize) continue;
      const void* page = pages.page(spans[span_of_[row]].pages[p]);
      if (end == i && runs_.back().page == page) {
        ++runs_.back().rows;
      } else {
        runs_.push_back({page, i, 1});
      }
      end = i + 1;
    }
  }
  run_begins_.push_back(static_cast<int32_t>(runs_.size()));
}

// Whole tiles where they come out even between the threads; else the larger ones block by block.
void AttentionPlan::DealItems(int threads) {
  items_.clear();
  split_tiles_ = 0;
  parts_ = 0;
  int64_t total = 0;
  for (size_t t = 0; t < tiles_.size(); ++t) {
    AddItems(static_cast<int32_t>(t));
    total += tiles_[t].pairs * kv_heads_;
  }
  std::stable_sort(items_.begin(), items_.end(), Sooner);
  loads_.assign(threads, 0);
  for (const PlannedItem& item : items_) *std::ranges::min_element(loads_) += item.pairs;
  if (*std::ranges::max_element(loads_) * threads <= total + total / 16) return;
  items_.clear();
  for (size_t t = 0; t < tiles_.size(); ++t) {
    if (tiles_[t].pairs * threads * 8 > total && tiles_[t].pages > kBlockPages) SplitTile(tiles_[t]);
    AddItems(static_cast<int32_t>(t));
  }
  std::stable_sort(items_.begin(), items_.end(), Sooner);
}

void AttentionPlan::SplitTile(PlannedTile& tile) {
  tile.split = split_tiles_++;
  tile.first_part = parts_;
  parts_ += tile.rows * heads_ * AttentionBlocks(tile.pages);
}

void AttentionPlan::AddItems(int32_t t) {
  const PlannedTile& tile = tiles_[t];
  for (int32_t head = 0; head < kv_heads_; ++head) {
    if (tile.split < 0) {
      items_.push_back({.tile = t, .head = head, .pairs = tile.pairs});
      continue;
    }
    for (int32_t block = 0; block < AttentionBlocks(tile.pages); ++block) {
      int64_t pairs = 0;
      for (int32_t i = 0; i < tile.rows; ++i) {
        pairs +=
            std::clamp<int64_t>(positions_[tile.first_row + i] - block * kBlockPositions, 0, kBlockPositions);
      }
      items_.push_back({t, head, block, pairs});
    }
  }
}

}  // namespace fullband
