// Which rows of a step attend together, and in what portions threads do the work. Made once a step; every
// layer follows it. No result depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compute/cpu/kernels.h"
#include "engine/compute/cpu/pages.h"
#include "engine/compute/step.h"

namespace fullband {

// Rows first_row .. first_row + rows - 1 of the plan's.
struct PlannedTile {
  int32_t first_row = 0;
  int32_t rows = 0;
  int32_t pages = 0;        // of the row that sees most
  int32_t first_begin = 0;  // in run_begins, pages + 1 numbers
  int64_t pairs = 0;        // of a row and a position that it sees
  int32_t split = -1;       // which of the tiles that are done block by block; -1: it is none
  int64_t first_part = 0;   // of those: where its parts begin, in parts of one query
};

// What a thread takes at a time: a tile, or a block of it, for one key/value head.
struct PlannedItem {
  int32_t tile = 0;
  int32_t head = 0;
  int32_t block = -1;  // -1: all
  int64_t pairs = 0;
};

class AttentionPlan {
 public:
  // `heads` query heads share each of `kv_heads` key/value heads.
  AttentionPlan(int64_t heads, int64_t kv_heads);

  void Make(std::span<const Span> spans, const Pages& pages, int threads);

  int64_t tile_rows() const { return tile_rows_; }                      // at most
  const std::vector<int32_t>& rows() const { return rows_; }            // of the step, tile by tile
  const std::vector<int64_t>& positions() const { return positions_; }  // that each of rows() sees
  const std::vector<PlannedTile>& tiles() const { return tiles_; }
  const std::vector<PageRun>& runs() const { return runs_; }
  const std::vector<int32_t>& run_begins() const { return run_begins_; }
  const std::vector<PlannedItem>& items() const { return items_; }  // the longest first
  int32_t split_tiles() const { return split_tiles_; }
  int64_t parts() const { return parts_; }  // of one query each, of one key/value head

 private:
  void OrderSpans(std::span<const Span> spans);
  void CutTiles(std::span<const Span> spans);
  void FindRuns(std::span<const Span> spans, const Pages& pages, PlannedTile& tile);
  void DealItems(int threads);
  void SplitTile(PlannedTile& tile);
  void AddItems(int32_t tile);

  int64_t heads_, kv_heads_, tile_rows_;
  std::vector<int32_t> order_;  // of the spans
  std::vector<int32_t> rows_, span_of_;
  std::vector<int64_t> positions_;
  std::vector<PlannedTile> tiles_;
  std::vector<PageRun> runs_;
  std::vector<int32_t> run_begins_;
  std::vector<PlannedItem> items_;
  std::vector<int64_t> loads_;  // of threads
  int32_t split_tiles_ = 0;
  int64_t parts_ = 0;
};

}  // namespace fullband
