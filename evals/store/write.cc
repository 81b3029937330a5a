#include <fmt/format.h>

#include <bit>
#include <string>

#include "evals/store/blob.h"
#include "evals/store/connection.h"

namespace fullband {
namespace {

void BindAt(SQLite::Statement& statement, int index, const std::string& value) {
  statement.bind(index, value);
}
void BindAt(SQLite::Statement& statement, int index, int value) { statement.bind(index, value); }
void BindAt(SQLite::Statement& statement, int index, int64_t value) { statement.bind(index, value); }
void BindAt(SQLite::Statement& statement, int index, double value) { statement.bind(index, value); }

// Binds values from the first parameter on and runs the statement; returns the number of rows changed.
template <typename... Values>
int Run(SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  int index = 0;
  (BindAt(statement, ++index, values), ...);
  return statement.exec();
}

void BindBlob(SQLite::Statement& statement, int index, const std::string& blob) {
  statement.bind(index, blob.data(), static_cast<int>(blob.size()));
}

// The number in the first column of the first row, or 0.
template <typename... Values>
int64_t FindId(SQLite::Database& database, const char* sql, const Values&... values) {
  SQLite::Statement statement(database, sql);
  int index = 0;
  (BindAt(statement, ++index, values), ...);
  return statement.executeStep() ? statement.getColumn(0).getInt64() : 0;
}

void InsertChoices(SQLite::Database& database, int64_t sample_id, const std::vector<ChoiceRecord>& choices) {
  SQLite::Statement insert(database, "INSERT INTO choices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (size_t i = 0; i < choices.size(); ++i) {
    const ChoiceRecord& choice = choices[i];
    insert.bind(1, sample_id);
    insert.bind(2, static_cast<int>(i));
    insert.bind(3, choice.text);
    insert.bind(4, choice.tokens);
    insert.bind(5, choice.characters);
    insert.bind(6, choice.bytes);
    insert.bind(7, choice.logprob);
    BindBlob(insert, 8, EncodeFloats(choice.logprobs));
    insert.bind(9, static_cast<int>(choice.greedy));
    insert.bind(10, static_cast<int>(choice.gold));
    insert.exec();
    insert.reset();
  }
}

int64_t InsertSample(SQLite::Database& database, const SampleRecord& sample) {
  SQLite::Statement insert(
      database,
      "INSERT INTO samples (item_id, sample, fault, text, stop_reason, tokens, text_ends, runner_ups, "
      "logprobs, "
      "runner_up_logprobs, prompt_tokens, generated_tokens, trace_tokens, prefill_forwards, saved_forwards, "
      "decode_forwards, min_state_rms, max_state_rms, queue_seconds, prefill_seconds, decode_seconds, "
      "finished, "
      "content_sha256) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  int index = 0;
  insert.bind(++index, sample.item_id);
  insert.bind(++index, sample.sample);
  for (const std::string* text : {&sample.fault, &sample.text, &sample.stop_reason})
    insert.bind(++index, *text);
  for (const auto* ints : {&sample.tokens, &sample.text_ends, &sample.runner_ups})
    BindBlob(insert, ++index, EncodeInts(*ints));
  for (const auto* floats : {&sample.logprobs, &sample.runner_up_logprobs})
    BindBlob(insert, ++index, EncodeFloats(*floats));
  for (const int64_t count : {sample.prompt_tokens, sample.generated_tokens, sample.trace_tokens,
                              sample.prefill_forwards, sample.saved_forwards, sample.decode_forwards})
    insert.bind(++index, count);
  for (const double number : {sample.min_state_rms, sample.max_state_rms, sample.queue_seconds,
                              sample.prefill_seconds, sample.decode_seconds})
    insert.bind(++index, number);
  insert.bind(++index, sample.finished.empty() ? UtcNow() : sample.finished);
  insert.bind(++index, ContentSha256(sample));
  insert.exec();
  return database.getLastInsertRowid();
}

// A holder that was taken for dead (a suspended machine, say) must not commit beside the one that took over.
void CheckHolder(SQLite::Database& database, const std::filesystem::path& path, int64_t run_id,
                 const std::string& token) {
  SQLite::Statement holder(database, "SELECT 1 FROM runs WHERE id = ? AND lease_token = ?");
  holder.bind(1, run_id);
  holder.bind(2, token);
  if (!holder.executeStep())
    throw Error(path.string(), "another process has taken over this run",
                "start the command again to help it later");
}

void InsertGrades(SQLite::Database& database, const std::vector<GradeRecord>& grades, const char* otherwise) {
  const std::string statement =
      std::string(
          "INSERT INTO grades (sample_id, grader, grader_version, outcome, score, extracted, detail) "
          "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sample_id, grader, grader_version) ") +
      otherwise;
  for (const GradeRecord& grade : grades)
    Run(database, statement.c_str(), grade.sample_id, grade.grader, grade.version, grade.outcome, grade.score,
        grade.extracted, grade.detail);
}

}  // namespace

void Store::Together(const std::function<void()>& body) {
  impl_->Write([&] {
    impl_->together = true;
    try {
      body();
    } catch (...) {
      impl_->together = false;
      throw;
    }
    impl_->together = false;
  });
}

int64_t Store::AddModel(const ModelRecord& model) {
  SQLite::Database& database = impl_->database;
  return impl_->Write([&] {
    const int64_t found = FindId(database, "SELECT id FROM models WHERE weights_sha256 = ? AND config = ?",
                                 model.weights_sha256, model.config);
    if (found != 0) return found;
    Run(database,
        "INSERT INTO models (weights_sha256, name, folder, architecture, fusion, parameters, dtype, config) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        model.weights_sha256, model.name, model.folder, model.architecture, model.fusion, model.parameters,
        model.dtype, model.config);
    return database.getLastInsertRowid();
  });
}

int64_t Store::AddRun(const RunRecord& run) {
  SQLite::Database& database = impl_->database;
  return impl_->Write([&] {
    const int64_t found = FindId(database, "SELECT id FROM runs WHERE key = ?", run.key);
    if (found != 0) return found;
    Run(database,
        "INSERT INTO runs (key, identity, model_id, suite, suite_version, ask, format, shots, setting, "
        "temperature, "
        "seed, headline, items_total, created, program_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, ?)",
        run.key, run.identity, run.model_id, run.suite, run.suite_version, run.ask, run.format, run.shots,
        run.setting, run.temperature, std::bit_cast<int64_t>(run.seed), run.headline, run.items_total,
        run.created.empty() ? UtcNow() : run.created, run.program_version);
    return database.getLastInsertRowid();
  });
}

void Store::AddItems(int64_t run_id, const std::vector<ItemRecord>& items) {
  SQLite::Database& database = impl_->database;
  impl_->Write([&] {
    SQLite::Statement find(database, "SELECT prompt, gold, groups FROM items WHERE run_id = ? AND item = ?");
    for (const ItemRecord& item : items) {
      find.bind(1, run_id);
      find.bind(2, item.item);
      if (find.executeStep()) {
        if (find.getColumn(0).getString() != item.prompt || find.getColumn(1).getString() != item.gold)
          throw Error(impl_->path.string(),
                      fmt::format("item {} was asked with another prompt or gold answer", item.item),
                      "use a fresh store, or the program that began this run");
        if (find.getColumn(2).getString() != item.groups)
          Run(database, "UPDATE items SET groups = ? WHERE run_id = ? AND item = ?", item.groups, run_id,
              item.item);
      } else {
        Run(database,
            "INSERT INTO items (run_id, item, position, prompt, gold, shots_dropped, groups) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            run_id, item.item, item.position, item.prompt, item.gold, item.shots_dropped, item.groups);
      }
      find.reset();
    }
  });
}

int64_t Store::AddSession(const SessionRecord& session) {
  SQLite::Database& database = impl_->database;
  return impl_->Write([&] {
    Run(database,
        "INSERT INTO sessions (run_id, host, machine, threads, batch, chunk, started, seconds, samples, "
        "peak_memory_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        session.run_id, session.host, session.machine, session.threads, session.batch, session.chunk,
        session.started.empty() ? UtcNow() : session.started, session.seconds, session.samples,
        session.peak_memory_bytes);
    return database.getLastInsertRowid();
  });
}

void Store::UpdateSession(int64_t session_id, double seconds, int64_t peak_memory_bytes) {
  impl_->Write([&] {
    Run(impl_->database, "UPDATE sessions SET seconds = ?, peak_memory_bytes = ? WHERE id = ?", seconds,
        peak_memory_bytes, session_id);
  });
}

int64_t Store::AddSample(const SampleRecord& sample, const std::string& lease_token,
                         const SessionRecord& session) {
  SQLite::Database& database = impl_->database;
  return impl_->Write([&] {
    CheckHolder(database, impl_->path, session.run_id, lease_token);
    const int64_t id = InsertSample(database, sample);
    InsertChoices(database, id, sample.choices);
    Run(database,
        "UPDATE sessions SET samples = samples + 1, seconds = ?, peak_memory_bytes = ? WHERE id = ?",
        session.seconds, session.peak_memory_bytes, session.id);
    return id;
  });
}

void Store::AddGrades(const std::vector<GradeRecord>& grades) {
  if (grades.empty()) return;
  impl_->Write([&] { InsertGrades(impl_->database, grades, "DO NOTHING"); });
}

void Store::ReplaceGrades(const std::vector<GradeRecord>& grades) {
  if (grades.empty()) return;
  impl_->Write([&] {
    InsertGrades(impl_->database, grades,
                 "DO UPDATE SET outcome = excluded.outcome, score = excluded.score, "
                 "extracted = excluded.extracted, detail = excluded.detail");
  });
}

void Store::ReplaceBudgetGrades(const std::vector<BudgetGradeRecord>& grades) {
  if (grades.empty()) return;
  impl_->Write([&] {
    for (const BudgetGradeRecord& record : grades) {
      const GradeRecord& grade = record.grade;
      Run(impl_->database,
          "INSERT OR REPLACE INTO budget_grades (sample_id, grader, grader_version, budget, outcome, score, "
          "extracted, detail, truncated, text_bytes, certain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          grade.sample_id, grade.grader, grade.version, record.budget, grade.outcome, grade.score,
          grade.extracted, grade.detail, static_cast<int>(record.truncated), record.text_bytes,
          static_cast<int>(record.certain));
    }
  });
}

bool Store::ReplaceLease(int64_t run_id, const std::string& expected, const LeaseRecord& lease) {
  return impl_->Write([&] {
    SQLite::Statement update(
        impl_->database,
        "UPDATE runs SET lease_host = ?, lease_pid = ?, lease_process = ?, lease_token = ?, "
        "lease_heartbeat = ? WHERE id = ? AND lease_token IS ?");
    update.bind(1, lease.host);
    update.bind(2, lease.pid);
    update.bind(3, lease.process);
    update.bind(4, lease.token);
    update.bind(5, lease.heartbeat);
    update.bind(6, run_id);
    if (expected.empty())
      update.bind(7);
    else
      update.bind(7, expected);
    return update.exec() == 1;
  });
}

bool Store::Heartbeat(int64_t run_id, const std::string& token) {
  return impl_->Write([&] {
    return Run(impl_->database, "UPDATE runs SET lease_heartbeat = ? WHERE id = ? AND lease_token = ?",
               UtcNow(), run_id, token) == 1;
  });
}

void Store::ReleaseLease(int64_t run_id, const std::string& token) {
  impl_->Write([&] {
    Run(impl_->database,
        "UPDATE runs SET lease_host = NULL, lease_pid = NULL, lease_process = NULL, lease_token = NULL, "
        "lease_heartbeat = NULL WHERE id = ? AND lease_token = ?",
        run_id, token);
  });
}

}  // namespace fullband
