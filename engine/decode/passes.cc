#include "engine/decode/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "common/error.h"

namespace fullband {
namespace {

// One sequence's places and figures. It has three sets of state slots: a pass reads the set of the pass
// before it and fills the other one, and the recurrence's states stay for comparison.
class Member {
 public:
  static constexpr int kSets = 3;
  static constexpr int kExact = 2;

  Member(const PassText& text, Places* places) : text_(text), places_(places) {
    const int count = size();
    for (int i = 0; i < count; i += places->page_size) pages_.push_back(places->pages.Take());
    for (std::vector<int32_t>& slots : slots_)
      for (int i = 0; i < count; ++i) slots.push_back(places->states.Take());
  }
  ~Member() {
    for (int32_t page : pages_) places_->pages.Release(page);
    for (const std::vector<int32_t>& slots : slots_)
      for (int32_t slot : slots) places_->states.Release(slot);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  int size() const { return static_cast<int>(text_.tokens.size()); }
  const std::string& name() const { return text_.name; }
  int32_t slot(int set, int position) const { return slots_[set][static_cast<size_t>(position)]; }

  // Positions begin .. end - 1, with a query for each that has a token after it. Fused rows read the states
  // in set `from` (none: -1); all keep theirs in set `to`.
  void AddRows(int begin, int end, int from, int to, Control control, Step* step) const {
    Span span{static_cast<int32_t>(step->rows.size()), end - begin, begin, {}};
    span.pages.assign(pages_.begin(), pages_.begin() + (end - 1) / places_->page_size + 1);
    step->spans.push_back(std::move(span));
    for (int t = begin; t < end; ++t) {
      Row row;
      row.token = text_.tokens[static_cast<size_t>(t)];
      if (from >= 0 && t > 0) {
        row.state = slot(from, t - 1);
        row.control = control;
        if (control == Control::kStale) row.older_state = slot(from, std::max(t - 2, 0));
      }
      row.keep_state = slot(to, t);
      if (t + 1 < size()) {
        Query query;
        query.row = static_cast<int32_t>(step->rows.size());
        query.targets = {text_.tokens[static_cast<size_t>(t) + 1]};
        step->queries.push_back(std::move(query));
      }
      step->rows.push_back(row);
    }
  }

  // Takes what the step gave for positions begin .. end - 1, whose rows and queries begin at `row` and
  // `query`. Returns the number of queries.
  size_t Take(const StepResult& result, int begin, int end, size_t row, size_t query, const std::string& pass,
              PassSums* sums) const {
    const size_t first_query = query;
    for (int t = begin; t < end; ++t, ++row) {
      if (!std::isfinite(result.state_rms[row])) throw NotFinite("the hidden state", pass, t);
      if (t + 1 >= size()) continue;
      const QueryResult& answer = result.queries[query++];
      const float logprob = answer.target_logprobs.at(0);
      if (!std::isfinite(logprob)) throw NotFinite("a log-probability", pass, t);
      sums->logprobs.push_back(logprob);
      sums->greedy.push_back(answer.top.at(0).token == text_.tokens[static_cast<size_t>(t) + 1]);
    }
    return query - first_query;
  }

  SequencePasses result;

 private:
  Error NotFinite(const char* what, const std::string& pass, int position) const {
    return Error(text_.name, fmt::format("{} at position {} is not finite ({})", what, position, pass),
                 "the weights give no valid result for this text");
  }

  const PassText& text_;
  Places* places_;
  std::vector<int32_t> pages_;
  std::vector<int32_t> slots_[kSets];
};

double SquaredNorm(const std::vector<float>& h) {
  double sum = 0;
  for (float x : h) sum += static_cast<double>(x) * x;
  return sum;
}

double SquaredDistance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

// Sequences that are run together.
class Group {
 public:
  Group(Backend* backend, Places* places, std::span<const PassText> texts, const PassOptions& options,
        const PassListener& listener)
      : backend_(*backend), options_(options), listener_(listener) {
    for (const PassText& text : texts) members_.push_back(std::make_unique<Member>(text, places));
    backend->Reserve(places->pages.high_water(), places->states.high_water());
  }

  // The recurrence: one position of every sequence a step.
  void Recur() {
    int longest = 0;
    for (const auto& member : members_) longest = std::max(longest, member->size());
    for (int t = 0; t < longest; ++t) {
      std::vector<Part> parts;
      for (const auto& member : members_)
        if (t < member->size()) parts.push_back({member.get(), t, t + 1});
      RunStep(parts, Member::kExact, Member::kExact, "recurrence",
              [](Member& member) { return &member.result.recurrence; });
    }
    for (const auto& member : members_)
      for (int t = 0; t < member->size(); ++t)
        member->result.recurrence.exact += SquaredNorm(backend_.ReadState(member->slot(Member::kExact, t)));
  }

  // Pass `pass`, counted from 1, after the one before it.
  void Pass(int pass) {
    const int from = pass > 1 ? pass % 2 : -1, to = 1 - pass % 2;
    for (const auto& member : members_) member->result.passes.emplace_back();
    const auto run = [&](std::vector<Part>* parts) {
      RunStep(*parts, from, to, fmt::format("pass {}", pass),
              [](Member& member) { return &member.result.passes.back(); });
      parts->clear();
    };
    std::vector<Part> parts;
    int left = options_.chunk;
    for (const auto& member : members_)
      for (int begin = 0; begin < member->size();) {
        const int end = begin + std::min(left, member->size() - begin);
        parts.push_back({member.get(), begin, end});
        left -= end - begin;
        begin = end;
        if (left > 0) continue;
        run(&parts);
        left = options_.chunk;
      }
    if (!parts.empty()) run(&parts);
    for (const auto& member : members_) Compare(pass, from, to, member.get());
  }

  const SequencePasses& result(size_t i) const { return members_[i]->result; }

 private:
  // Positions of one sequence in one step.
  struct Part {
    Member* member;
    int begin, end;
  };

  template <typename SumsOf>
  void RunStep(const std::vector<Part>& parts, int from, int to, const std::string& pass, SumsOf sums_of) {
    Step step;
    for (const Part& part : parts)
      part.member->AddRows(part.begin, part.end, from, to, options_.control, &step);
    StepResult result;
    backend_.Run(step, &result);
    size_t row = 0, query = 0;
    for (const Part& part : parts) {
      query += part.member->Take(result, part.begin, part.end, row, query, pass, sums_of(*part.member));
      row += static_cast<size_t>(part.end - part.begin);
    }
    if (listener_.advance) listener_.advance(static_cast<int64_t>(row));
  }

  void Compare(int pass, int from, int to, Member* member) {
    PassSums& sums = member->result.passes.back();
    for (int t = 0; t < member->size(); ++t) {
      const std::vector<float> now = backend_.ReadState(member->slot(to, t));
      const std::vector<float> exact = backend_.ReadState(member->slot(Member::kExact, t));
      const double exact_norm = SquaredNorm(exact);
      sums.apart += SquaredDistance(now, exact);
      sums.exact += exact_norm;
      if (t >= pass) sums.exact_open += exact_norm;
      if (from < 0) continue;
      const std::vector<float> before = backend_.ReadState(member->slot(from, t));
      const double before_norm = SquaredNorm(before);
      sums.moved += SquaredDistance(now, before);
      sums.before += before_norm;
      if (t >= pass - 1) sums.before_open += before_norm;
    }
  }

  Backend& backend_;
  const PassOptions& options_;
  const PassListener& listener_;
  std::vector<std::unique_ptr<Member>> members_;
};

int64_t BytesOf(const PassText& text, const Backend& backend) {
  const auto positions = static_cast<int64_t>(text.tokens.size());
  const int64_t pages = (positions + backend.info().page_size - 1) / backend.info().page_size;
  return pages * backend.page_bytes() + Member::kSets * positions * backend.state_bytes();
}

// How many of the next texts fit together; at least one.
size_t GroupSize(std::span<const PassText> texts, const Backend& backend, const PassOptions& options) {
  size_t count = 0;
  int64_t bytes = 0;
  while (count < texts.size() && count < static_cast<size_t>(options.batch)) {
    bytes += BytesOf(texts[count], backend);
    if (count > 0 && bytes > options.memory) break;
    ++count;
  }
  return count;
}

}  // namespace

void RunPasses(Backend* backend, Places* places, std::span<const PassText> texts, const PassOptions& options,
               const PassListener& listener) {
  for (size_t first = 0; first < texts.size();) {
    const size_t count = GroupSize(texts.subspan(first), *backend, options);
    Group group(backend, places, texts.subspan(first, count), options, listener);
    group.Recur();
    for (int pass = 1; pass <= options.passes; ++pass) group.Pass(pass);
    for (size_t i = 0; i < count; ++i) listener.take(first + i, group.result(i));
    first += count;
  }
}

int64_t PassRows(std::span<const PassText> texts, int passes) {
  int64_t positions = 0;
  for (const PassText& text : texts) positions += static_cast<int64_t>(text.tokens.size());
  return positions * (int64_t{passes} + 1);
}

}  // namespace fullband
