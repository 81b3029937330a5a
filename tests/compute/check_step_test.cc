#include "engine/compute/check_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/error.h"
#include "tests/support/random_model.h"

namespace fullband {
namespace {

constexpr Capacity kCapacity = {.pages = 4, .page_size = 32, .states = 3};

// Positions 30 .. 34 of one sequence, the last of them fused and queried, and position 0 of another.
Step GoodStep() {
  Step step;
  step.copies.push_back({0, 1, 32});
  step.spans = {{0, 5, 30, {1, 2}}, {5, 1, 0, {3}}};
  step.rows.assign(6, Row{.token = 1});
  step.rows[4] = {2, 0, 1, 0, Control::kStale};
  Query query;
  query.row = 4;
  query.targets = {66};
  Query kept;
  kept.state = 2;
  step.queries = {kept, query};
  return step;
}

TEST(CheckStep, AcceptsWhatIsRight) { EXPECT_NO_THROW(CheckStep(GoodStep(), TinyLatentConfig(), kCapacity)); }

TEST(CheckStep, NamesWhatIsWrong) {
  struct Fault {
    const char* subject;
    const char* why;
    std::function<void(Step&)> make;
  };
  const std::vector<Fault> faults = {
      {"step, copy 0", "page", [](Step& s) { s.copies[0].from = 4; }},
      {"step, copy 0", "page", [](Step& s) { s.copies[0].to = -1; }},
      {"step, copy 0", "more than a page", [](Step& s) { s.copies[0].positions = 33; }},
      {"step, copy 0", "more than a page", [](Step& s) { s.copies[0].positions = -1; }},
      {"step, span 0", "begin", [](Step& s) { s.spans[0].first_row = 1; }},
      {"step, span 1", "begin", [](Step& s) { s.spans[1].first_row = 4; }},
      {"step, span 1", "more rows", [](Step& s) { s.spans[1].row_count = 2; }},
      {"step, span 0", "no rows", [](Step& s) { s.spans[0].row_count = 0; }},
      {"step, span 0", "negative", [](Step& s) { s.spans[0].position = -1; }},
      {"step, span 0", "pages", [](Step& s) { s.spans[0].pages.pop_back(); }},
      {"step, span 0", "page is out of range", [](Step& s) { s.spans[0].pages[0] = 4; }},
      {"step, row 6", "no span", [](Step& s) { s.rows.emplace_back(); }},
      {"step, row 2", "vocabulary", [](Step& s) { s.rows[2].token = 67; }},
      {"step, row 2", "vocabulary", [](Step& s) { s.rows[2].token = -1; }},
      {"step, row 4", "slot", [](Step& s) { s.rows[4].state = 3; }},
      {"step, row 4", "slot", [](Step& s) { s.rows[4].older_state = -2; }},
      {"step, row 0", "slot", [](Step& s) { s.rows[0].keep_state = 3; }},
      {"step, row 4", "older", [](Step& s) { s.rows[4].older_state = kNoSlot; }},
      {"step, row 5", "predecessor", [](Step& s) { s.rows[5].state = 0; }},
      {"step, query 0", "slot", [](Step& s) { s.queries[0].state = 3; }},
      {"step, query 1", "row", [](Step& s) { s.queries[1].row = 6; }},
      {"step, query 0", "target", [](Step& s) { s.queries[0].targets = {67}; }},
      {"step, query 2", "ascend", [](Step& s) { s.queries.push_back(s.queries[1]); }},
      {"step, query 3", "ascend",
       [](Step& s) {
         s.queries.insert(s.queries.end(), {s.queries[0], s.queries[1]});
       }},
      {"top-p", "0", [](Step& s) { s.queries[0].sample = true, s.queries[0].spec.top_p = 0; }},
  };
  for (const Fault& fault : faults) {
    Step step = GoodStep();
    fault.make(step);
    try {
      CheckStep(step, TinyLatentConfig(), kCapacity);
      ADD_FAILURE() << "accepted: " << fault.subject << ", " << fault.why;
    } catch (const Error& error) {
      EXPECT_EQ(error.subject(), fault.subject);
      EXPECT_THAT(error.why(), testing::HasSubstr(fault.why));
    }
  }
}

TEST(CheckStep, WantsFeedbackWeightsForFusedRows) {
  EXPECT_THROW(CheckStep(GoodStep(), TinyConfig(), kCapacity), Error);
  ModelConfig additive = TinyLatentConfig();
  additive.fusion = Fusion::kAdditive;
  Step step = GoodStep();
  EXPECT_NO_THROW(CheckStep(step, additive, kCapacity));
  step.rows[4].control = Control::kConstantGate;
  EXPECT_NO_THROW(CheckStep(step, TinyLatentConfig(), kCapacity));
  EXPECT_THROW(CheckStep(step, additive, kCapacity), Error);
}

TEST(FeedbackSlot, IsTheOlderOneForStaleRows) {
  EXPECT_EQ(FeedbackSlot({1, 5, 6, kNoSlot, Control::kNone}, 9), 5);
  EXPECT_EQ(FeedbackSlot({1, 5, 6, kNoSlot, Control::kStale}, 9), 6);
  EXPECT_EQ(FeedbackSlot({1, 5, kNoSlot, kNoSlot, Control::kStale}, 1), 5);  // h_0 has no predecessor
}

}  // namespace
}  // namespace fullband
