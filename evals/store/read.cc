#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "evals/store/blob.h"
#include "evals/store/connection.h"

namespace fullband {
namespace {

// Columns of the current row, one after another.
class Row {
 public:
  explicit Row(SQLite::Statement& statement) : statement_(statement) {}
  void Get(std::string& value) { value = statement_.getColumn(next_++).getString(); }
  void Get(int64_t& value) { value = statement_.getColumn(next_++).getInt64(); }
  void Get(int& value) { value = statement_.getColumn(next_++).getInt(); }
  void Get(bool& value) { value = statement_.getColumn(next_++).getInt() != 0; }
  void Get(double& value) { value = statement_.getColumn(next_++).getDouble(); }
  void Get(std::vector<int32_t>& values) { values = DecodeInts(Blob()); }
  void Get(std::vector<float>& values) { values = DecodeFloats(Blob()); }
  template <typename... Values>
  void GetAll(Values&... values) {
    (Get(values), ...);
  }

 private:
  std::string_view Blob() {
    const SQLite::Column column = statement_.getColumn(next_++);
    return {static_cast<const char*>(column.getBlob()), static_cast<size_t>(column.getBytes())};
  }
  SQLite::Statement& statement_;
  int next_ = 0;
};

constexpr char kRunColumns[] =
    "SELECT id, key, identity, model_id, suite, suite_version, ask, format, shots, setting, temperature, "
    "seed, headline, "
    "items_total, created, program_version FROM runs ";

RunRecord ReadRun(SQLite::Statement& statement) {
  RunRecord run;
  int64_t seed = 0;
  Row(statement).GetAll(run.id, run.key, run.identity, run.model_id, run.suite, run.suite_version, run.ask,
                        run.format, run.shots, run.setting, run.temperature, seed, run.headline,
                        run.items_total, run.created, run.program_version);
  run.seed = std::bit_cast<uint64_t>(seed);
  return run;
}

constexpr char kItemColumns[] = "SELECT id, item, position, prompt, gold, shots_dropped, groups FROM items ";

ItemRecord ReadItem(SQLite::Statement& statement) {
  ItemRecord item;
  Row(statement).GetAll(item.id, item.item, item.position, item.prompt, item.gold, item.shots_dropped,
                        item.groups);
  return item;
}

constexpr char kSampleColumns[] =
    "SELECT s.id, s.item_id, i.item, i.position, s.sample, s.fault, s.text, s.stop_reason, s.prompt_tokens, "
    "s.generated_tokens, s.trace_tokens, s.prefill_forwards, s.saved_forwards, s.decode_forwards, "
    "s.min_state_rms, "
    "s.max_state_rms, s.queue_seconds, s.prefill_seconds, s.decode_seconds, s.finished, s.content_sha256, "
    "i.gold, substr(i.prompt, -200), "
    "s.tokens, s.text_ends, s.runner_ups, s.logprobs, s.runner_up_logprobs "
    "FROM samples s JOIN items i ON i.id = s.item_id ";

SampleRecord ReadSample(SQLite::Statement& statement, bool with_blobs, std::string& gold) {
  SampleRecord sample;
  Row row(statement);
  row.GetAll(sample.id, sample.item_id, sample.item, sample.position, sample.sample, sample.fault,
             sample.text, sample.stop_reason, sample.prompt_tokens, sample.generated_tokens,
             sample.trace_tokens, sample.prefill_forwards, sample.saved_forwards, sample.decode_forwards,
             sample.min_state_rms, sample.max_state_rms, sample.queue_seconds, sample.prefill_seconds,
             sample.decode_seconds, sample.finished, sample.content_sha256, gold, sample.prompt_end);
  if (with_blobs)
    row.GetAll(sample.tokens, sample.text_ends, sample.runner_ups, sample.logprobs,
               sample.runner_up_logprobs);
  return sample;
}

std::vector<GradeRecord> ReadGrades(SQLite::Statement& statement) {
  std::vector<GradeRecord> grades;
  while (statement.executeStep()) {
    GradeRecord& grade = grades.emplace_back();
    Row(statement).GetAll(grade.sample_id, grade.grader, grade.version, grade.outcome, grade.score,
                          grade.extracted, grade.detail);
  }
  return grades;
}

std::vector<int64_t> ReadIds(SQLite::Statement& statement) {
  std::vector<int64_t> ids;
  while (statement.executeStep()) ids.push_back(statement.getColumn(0).getInt64());
  return ids;
}

std::vector<ChoiceRecord> ReadChoices(SQLite::Statement& choices, int64_t sample_id) {
  std::vector<ChoiceRecord> found;
  choices.reset();
  choices.bind(1, sample_id);
  while (choices.executeStep()) {
    ChoiceRecord& choice = found.emplace_back();
    Row(choices).GetAll(choice.text, choice.tokens, choice.characters, choice.bytes, choice.logprob,
                        choice.logprobs, choice.greedy, choice.gold);
  }
  return found;
}

constexpr char kChoiceColumns[] =
    "SELECT text, tokens, characters, bytes, logprob, logprobs, greedy, gold FROM choices WHERE sample_id = "
    "? "
    "ORDER BY choice";

}  // namespace

std::optional<LeaseRecord> Store::Lease(int64_t run_id) {
  return impl_->Guard([&]() -> std::optional<LeaseRecord> {
    SQLite::Statement query(
        impl_->database,
        "SELECT lease_host, lease_pid, lease_process, lease_token, lease_heartbeat FROM runs "
        "WHERE id = ? AND lease_token IS NOT NULL");
    query.bind(1, run_id);
    if (!query.executeStep()) return std::nullopt;
    LeaseRecord lease;
    Row(query).GetAll(lease.host, lease.pid, lease.process, lease.token, lease.heartbeat);
    return lease;
  });
}

std::vector<ModelRecord> Store::Models() {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT id, weights_sha256, name, folder, architecture, fusion, parameters, dtype, config "
        "FROM models ORDER BY id");
    std::vector<ModelRecord> models;
    while (query.executeStep()) {
      ModelRecord& model = models.emplace_back();
      Row(query).GetAll(model.id, model.weights_sha256, model.name, model.folder, model.architecture,
                        model.fusion, model.parameters, model.dtype, model.config);
    }
    return models;
  });
}

std::vector<RunRecord> Store::Runs() {
  return impl_->Guard([&] {
    SQLite::Statement query(impl_->database, std::string(kRunColumns) + "ORDER BY id");
    std::vector<RunRecord> runs;
    while (query.executeStep()) runs.push_back(ReadRun(query));
    return runs;
  });
}

RunRecord Store::FindRun(const std::string& prefix) {
  std::vector<RunRecord> found;
  for (RunRecord& run : Runs())
    if (!prefix.empty() && run.key.starts_with(prefix)) found.push_back(std::move(run));
  if (found.size() == 1) return found.front();
  if (found.empty())
    throw UsageError("run " + prefix, fmt::format("{} has no run whose key starts so", impl_->path.string()),
                     "fullband report lists the keys");
  throw UsageError("run " + prefix, fmt::format("{} runs have keys that start so", found.size()),
                   fmt::format("say more of it, e.g. {}", found.front().key.substr(0, prefix.size() + 8)));
}

std::vector<ItemRecord> Store::Items(int64_t run_id) {
  return impl_->Guard([&] {
    SQLite::Statement query(impl_->database,
                            std::string(kItemColumns) + "WHERE run_id = ? ORDER BY position");
    query.bind(1, run_id);
    std::vector<ItemRecord> items;
    while (query.executeStep()) items.push_back(ReadItem(query));
    return items;
  });
}

ItemRecord Store::Item(int64_t item_id) {
  return impl_->Guard([&] {
    Impl::KeptStatement query(*impl_, std::string(kItemColumns) + "WHERE id = ?");
    query->bind(1, item_id);
    if (!query->executeStep()) throw Error(impl_->path.string(), fmt::format("has no item {}", item_id));
    return ReadItem(*query);
  });
}

void Store::ForEachSample(int64_t run_id, bool with_blobs,
                          const std::function<void(const SampleRecord&)>& visit) {
  impl_->Guard([&] {
    SQLite::Statement query(impl_->database,
                            std::string(kSampleColumns) + "WHERE i.run_id = ? ORDER BY i.position, s.sample");
    SQLite::Statement choices(impl_->database, kChoiceColumns);
    query.bind(1, run_id);
    std::string gold;
    while (query.executeStep()) {
      SampleRecord sample = ReadSample(query, with_blobs, gold);
      if (with_blobs) sample.choices = ReadChoices(choices, sample.id);
      visit(sample);
    }
  });
}

std::vector<SampleRecord> Store::Samples(int64_t run_id, bool with_blobs) {
  std::vector<SampleRecord> samples;
  ForEachSample(run_id, with_blobs, [&](const SampleRecord& sample) { samples.push_back(sample); });
  return samples;
}

std::map<std::string, double> Store::MeanLengths(const std::string& suite) {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT i.item, avg(s.generated_tokens) FROM runs r JOIN items i ON i.run_id = r.id "
        "JOIN samples s ON s.item_id = i.id "
        "WHERE r.suite = ? AND r.ask = 'generate' AND s.fault = '' AND s.generated_tokens > 0 GROUP BY "
        "i.item");
    query.bind(1, suite);
    std::map<std::string, double> lengths;
    while (query.executeStep()) lengths[query.getColumn(0).getString()] = query.getColumn(1).getDouble();
    return lengths;
  });
}

std::set<std::pair<std::string, int>> Store::Committed(int64_t run_id) {
  return impl_->Guard([&] {
    SQLite::Statement query(impl_->database,
                            "SELECT i.item, s.sample FROM samples s JOIN items i ON i.id = s.item_id "
                            "WHERE i.run_id = ?");
    query.bind(1, run_id);
    std::set<std::pair<std::string, int>> committed;
    while (query.executeStep())
      committed.emplace(query.getColumn(0).getString(), query.getColumn(1).getInt());
    return committed;
  });
}

std::vector<GradeRecord> Store::Grades(int64_t run_id) {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT g.sample_id, g.grader, g.grader_version, g.outcome, g.score, g.extracted, g.detail "
        "FROM grades g JOIN samples s ON s.id = g.sample_id JOIN items i ON i.id = s.item_id "
        "WHERE i.run_id = ? AND g.grader_version = (SELECT MAX(n.grader_version) FROM grades n "
        "WHERE n.sample_id = g.sample_id AND n.grader = g.grader) ORDER BY i.position, s.sample, g.grader");
    query.bind(1, run_id);
    return ReadGrades(query);
  });
}

std::vector<GradeRecord> Store::GradesOfSample(int64_t sample_id) {
  return impl_->Guard([&] {
    Impl::KeptStatement query(*impl_,
                              "SELECT sample_id, grader, grader_version, outcome, score, extracted, detail "
                              "FROM grades WHERE sample_id = ? ORDER BY grader, grader_version");
    query->bind(1, sample_id);
    return ReadGrades(*query);
  });
}

std::vector<int64_t> Store::SampleIds(int64_t run_id) {
  return impl_->Guard([&] {
    SQLite::Statement query(impl_->database,
                            "SELECT s.id FROM samples s JOIN items i ON i.id = s.item_id WHERE i.run_id = ? "
                            "ORDER BY i.position, s.sample");
    query.bind(1, run_id);
    return ReadIds(query);
  });
}

std::vector<int64_t> Store::Ungraded(int64_t run_id, const std::string& grader, int version) {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT s.id FROM samples s JOIN items i ON i.id = s.item_id WHERE i.run_id = ? AND NOT EXISTS "
        "(SELECT 1 FROM grades g WHERE g.sample_id = s.id AND g.grader = ? AND g.grader_version = ?) "
        "ORDER BY i.position, s.sample");
    query.bind(1, run_id);
    query.bind(2, grader);
    query.bind(3, version);
    return ReadIds(query);
  });
}

std::pair<SampleRecord, std::string> Store::SampleWithGold(int64_t sample_id) {
  return impl_->Guard([&] {
    Impl::KeptStatement query(*impl_, std::string(kSampleColumns) + "WHERE s.id = ?");
    query->bind(1, sample_id);
    if (!query->executeStep()) throw Error(impl_->path.string(), fmt::format("has no sample {}", sample_id));
    std::pair<SampleRecord, std::string> found;
    found.first = ReadSample(*query, true, found.second);
    Impl::KeptStatement choices(*impl_, kChoiceColumns);
    found.first.choices = ReadChoices(*choices, sample_id);
    return found;
  });
}

std::vector<SessionRecord> Store::Sessions(int64_t run_id) {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT id, run_id, host, machine, threads, batch, chunk, started, seconds, samples, "
        "peak_memory_bytes FROM sessions WHERE run_id = ? ORDER BY id");
    query.bind(1, run_id);
    std::vector<SessionRecord> sessions;
    while (query.executeStep()) {
      SessionRecord& session = sessions.emplace_back();
      Row(query).GetAll(session.id, session.run_id, session.host, session.machine, session.threads,
                        session.batch, session.chunk, session.started, session.seconds, session.samples,
                        session.peak_memory_bytes);
    }
    return sessions;
  });
}

std::vector<BudgetGradeRecord> Store::BudgetGrades(int64_t sample_id, const std::string& grader,
                                                   int version) {
  return impl_->Guard([&] {
    SQLite::Statement query(
        impl_->database,
        "SELECT sample_id, grader, grader_version, outcome, score, extracted, detail, budget, truncated, "
        "text_bytes, certain FROM budget_grades WHERE sample_id = ? AND grader = ? AND grader_version = ? "
        "ORDER BY budget");
    query.bind(1, sample_id);
    query.bind(2, grader);
    query.bind(3, version);
    std::vector<BudgetGradeRecord> records;
    while (query.executeStep()) {
      BudgetGradeRecord& record = records.emplace_back();
      GradeRecord& grade = record.grade;
      Row(query).GetAll(grade.sample_id, grade.grader, grade.version, grade.outcome, grade.score,
                        grade.extracted, grade.detail, record.budget, record.truncated, record.text_bytes,
                        record.certain);
    }
    return records;
  });
}

void Store::ForEachBudgetOutcome(int64_t run_id, const std::string& grader,
                                 const std::function<void(const BudgetOutcome&)>& visit) {
  impl_->Guard([&] {
    // Items first: the table alone is in no order of runs.
    SQLite::Statement query(
        impl_->database,
        "SELECT i.item, s.sample, b.budget, b.grader_version, b.outcome, b.truncated, b.certain "
        "FROM items i CROSS JOIN samples s ON s.item_id = i.id CROSS JOIN budget_grades b "
        "ON b.sample_id = s.id WHERE i.run_id = ? AND b.grader = ? AND b.grader_version = "
        "(SELECT MAX(n.grader_version) FROM budget_grades n WHERE n.sample_id = b.sample_id AND "
        "n.grader = b.grader AND n.budget = b.budget) ORDER BY i.position, s.sample, b.budget");
    query.bind(1, run_id);
    query.bind(2, grader);
    BudgetOutcome outcome;
    while (query.executeStep()) {
      Row(query).GetAll(outcome.item, outcome.sample, outcome.budget, outcome.version, outcome.outcome,
                        outcome.truncated, outcome.certain);
      visit(outcome);
    }
  });
}

}  // namespace fullband
