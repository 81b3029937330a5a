// Plans of attention: that every row meets each of its pages once, and how the work is cut.
#include "engine/compute/cpu/attention_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "common/hash.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

constexpr int kKvHeads = 2;

// Spans one after another, of (position, rows, pages).
struct Shape {
  int position, rows;
  std::vector<int32_t> pages;
};

std::vector<Span> SpansOf(const std::vector<Shape>& shapes) {
  std::vector<Span> spans;
  int row = 0;
  for (const Shape& shape : shapes) {
    spans.push_back({row, shape.rows, shape.position, shape.pages});
    row += shape.rows;
  }
  return spans;
}

std::vector<int32_t> PagesFrom(int first, int count) {
  std::vector<int32_t> pages(count);
  std::iota(pages.begin(), pages.end(), first);
  return pages;
}

class AttentionPlanTest : public testing::Test {
 protected:
  AttentionPlanTest() : pages_(TinyConfig(), KvDtype::kF32) { pages_.Reserve(600); }

  // How often each (row of the step, page number) is met, as the plan says; checks each run on the way.
  std::map<std::pair<int, int>, int> Meetings(const AttentionPlan& plan,
                                              const std::vector<Span>& spans) const {
    std::map<int, const Span*> span_of;
    for (const Span& span : spans)
      for (int i = 0; i < span.row_count; ++i) span_of[span.first_row + i] = &span;
    std::map<std::pair<int, int>, int> met;
    for (const PlannedTile& tile : plan.tiles()) {
      EXPECT_LE(tile.rows, plan.tile_rows());
      for (int p = 0; p < tile.pages; ++p) {
        const int32_t* begins = &plan.run_begins()[tile.first_begin + p];
        for (int r = begins[0]; r < begins[1]; ++r) {
          const PageRun& run = plan.runs()[r];
          EXPECT_LE(run.first + run.rows, tile.rows);
          for (int i = run.first; i < run.first + run.rows; ++i) {
            const int row = plan.rows()[tile.first_row + i];
            EXPECT_EQ(run.page, pages_.page(span_of[row]->pages[p]));
            ++met[{row, p}];
          }
        }
      }
    }
    return met;
  }

  void ExpectComplete(const AttentionPlan& plan, const std::vector<Span>& spans) const {
    std::map<std::pair<int, int>, int> expected;
    std::map<int, int64_t> positions;
    for (const Span& span : spans) {
      for (int i = 0; i < span.row_count; ++i) {
        positions[span.first_row + i] = span.position + i + 1;
        for (int p = 0; p * kPageSize <= span.position + i; ++p) expected[{span.first_row + i, p}] = 1;
      }
    }
    EXPECT_EQ(Meetings(plan, spans), expected);
    ASSERT_EQ(plan.rows().size(), positions.size());
    for (size_t i = 0; i < plan.rows().size(); ++i) EXPECT_EQ(plan.positions()[i], positions[plan.rows()[i]]);
    ExpectItems(plan);
  }

  // Every block of every tile and key/value head is done once, the longest items first.
  static void ExpectItems(const AttentionPlan& plan) {
    std::multiset<std::array<int64_t, 3>> done, expected;
    int64_t last = INT64_MAX, pairs = 0, all_pairs = 0;
    for (const PlannedItem& item : plan.items()) {
      const int64_t blocks = AttentionBlocks(plan.tiles()[item.tile].pages);
      for (int64_t b = 0; b < blocks; ++b)
        if (item.block < 0 || item.block == b) done.insert({item.tile, item.head, b});
      EXPECT_LE(item.pairs, last);
      last = item.pairs;
      pairs += item.pairs;
    }
    for (size_t t = 0; t < plan.tiles().size(); ++t) {
      all_pairs += plan.tiles()[t].pairs * kKvHeads;
      for (int64_t head = 0; head < kKvHeads; ++head)
        for (int64_t b = 0; b < AttentionBlocks(plan.tiles()[t].pages); ++b)
          expected.insert({static_cast<int64_t>(t), head, b});
    }
    EXPECT_EQ(done, expected);
    EXPECT_EQ(pairs, all_pairs);
  }

  Pages pages_;
};

TEST_F(AttentionPlanTest, EveryRowMeetsItsPagesOnce) {
  uint64_t draw = 1;
  const auto below = [&draw](int limit) { return static_cast<int>(Mix64(draw++) % limit); };
  for (int64_t heads : {1, 3, 7, 200}) {
    AttentionPlan plan(heads, kKvHeads);
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<Shape> shapes;
      for (int s = below(12); s >= 0; --s) {
        Shape shape = {below(700), below(4) == 0 ? 1 + below(150) : 1, {}};
        const int own = below(30);  // pages after these are the sequence's own
        for (int p = 0; p * kPageSize < shape.position + shape.rows; ++p)
          shape.pages.push_back(p < own ? p : 30 + 45 * s + p);
        shapes.push_back(shape);
      }
      const std::vector<Span> spans = SpansOf(shapes);
      plan.Make(spans, pages_, 1 + below(5));
      ExpectComplete(plan, spans);
    }
  }
}

TEST_F(AttentionPlanTest, SharedPagesAreMetByAllAtOnce) {
  // 32 sequences of which two kinds share 20 pages, interleaved.
  std::vector<Shape> shapes;
  for (int s = 0; s < 32; ++s) {
    std::vector<int32_t> pages = PagesFrom(s % 2 * 20, 20);
    pages.push_back(50 + s);
    shapes.push_back({645, 1, pages});
  }
  const std::vector<Span> spans = SpansOf(shapes);
  AttentionPlan plan(3, kKvHeads);
  plan.Make(spans, pages_, 2);
  ExpectComplete(plan, spans);
  ASSERT_EQ(plan.tiles().size(), 2u);
  EXPECT_EQ(plan.runs().size(), 2u * (20 + 16));
}

TEST_F(AttentionPlanTest, LongSpansAreCutWherePagesEnd) {
  AttentionPlan plan(3, kKvHeads);
  const std::vector<Span> spans = SpansOf({{50, 100, PagesFrom(0, 5)}});
  plan.Make(spans, pages_, 2);
  ExpectComplete(plan, spans);
  std::vector<int> rows;
  for (const PlannedTile& tile : plan.tiles()) rows.push_back(tile.rows);
  EXPECT_EQ(rows, (std::vector<int>{14, 32, 32, 22}));
}

// What the busiest of `threads` has, in shares of an even split.
double Busiest(const AttentionPlan& plan, int threads) {
  std::vector<int64_t> loads(threads);
  for (const PlannedItem& item : plan.items()) *std::ranges::min_element(loads) += item.pairs;
  return static_cast<double>(*std::ranges::max_element(loads)) * threads /
         std::accumulate(loads.begin(), loads.end(), int64_t{0});
}

TEST_F(AttentionPlanTest, ThreadsGetEvenShares) {
  AttentionPlan plan(3, 3);
  for (int threads : {2, 4}) {
    const std::vector<Span> one = SpansOf({{2047, 1, PagesFrom(0, 64)}});
    plan.Make(one, pages_, threads);
    EXPECT_LT(Busiest(plan, threads), 1.01) << threads;
    const std::vector<Span> uneven = SpansOf({{4095, 1, PagesFrom(0, 128)}, {99, 1, PagesFrom(200, 4)}});
    plan.Make(uneven, pages_, threads);
    EXPECT_LT(Busiest(plan, threads), 1.1) << threads;
    const std::vector<Span> chunk = SpansOf({{0, 512, PagesFrom(0, 16)}});
    plan.Make(chunk, pages_, threads);
    EXPECT_LT(Busiest(plan, threads), 1.1) << threads;
    EXPECT_EQ(plan.split_tiles(), 0) << threads;
  }
}

}  // namespace
}  // namespace fullband
