// Stores of older schemas: read as they are, migrated whole, whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "common/error.h"
#include "evals/store/connection.h"
#include "evals/store/store.h"
#include "tests/evals/processes.h"
#include "tests/support/small_mount.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::HasSubstr;

constexpr int kItems = 40;

std::string Statement(const std::string& name) {
  std::ifstream file(std::string(FULLBAND_TEST_DATA) + "/stores/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A store as the program of schema `version` left it: one run of kItems items, half of them answered and
// graded, a run of choices, a lease that somebody holds.
void MakeVersion(int version, const std::filesystem::path& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON");
  SQLite::Transaction transaction(database);
  database.exec(Statement("schema_" + std::to_string(version) + ".sql"));
  database.exec(
      "INSERT INTO models VALUES (1, 'w', 'toy', 'models/toy', 'Llama', 'glu', 7, 'float32', '{}');"
      "INSERT INTO runs VALUES (1, 'aa', '{}', 1, 'mini', 1, 'generate', 'completion', 5, 'latent', 0, 0, "
      "'number', "
      "40, '2026-01-31T12:00:00.000Z', '0.1.0', 'host', 9, 'p', 'token', '2026-01-31T12:00:01.000Z');"
      "INSERT INTO runs VALUES (2, 'bb', '{}', 1, 'mini_choice', 1, 'choose', 'completion', 5, 'latent', 0, "
      "0, 'acc', "
      "1, '2026-01-31T12:00:00.000Z', '0.1.0', NULL, NULL, NULL, NULL, NULL);");
  const std::string into_items =
      "INSERT INTO items (id, run_id, item, position, prompt, gold, shots_dropped) VALUES ";
  database.exec(into_items + "(1000, 2, 'c', 0, 'Which?', 'b', 1)");
  database.exec(
      "INSERT INTO samples (id, item_id, sample, finished, content_sha256) VALUES (1000, 1000, 0, 't', 's');"
      "INSERT INTO choices VALUES (1000, 0, ' a', 1, 1, 1, -1.5, x'0000c0bf', 1, 0);"
      "INSERT INTO choices VALUES (1000, 1, ' b', 1, 1, 1, -2.5, x'000020c0', 0, 1);"
      "INSERT INTO sessions VALUES (1, 1, 'host', 'processor', 2, 32, 16, 't', 8.5, 20, 1024);");
  for (int i = 1; i <= kItems; ++i) {
    const std::string id = std::to_string(i);
    database.exec(into_items + "(" + id + ", 1, 'item " + id + "', " + id + ", 'Question " + id +
                  "', '7', 0)");
    if (i % 2 == 0) continue;
    database.exec(
        "INSERT INTO samples (id, item_id, sample, text, stop_reason, tokens, finished, content_sha256) "
        "VALUES (" +
        id + ", " + id + ", 0, 'text " + id + "', 'end', x'05000000', 't', 'sha " + id +
        "');"
        "INSERT INTO grades VALUES (" +
        id + ", 'number', 1, 'correct', 1, '7', '')");
  }
  database.exec("PRAGMA application_id = " + std::to_string(kApplicationId) +
                "; PRAGMA user_version = " + std::to_string(version));
  transaction.commit();
}

std::vector<std::string> Column(SQLite::Database& database, const std::string& sql) {
  std::vector<std::string> values;
  SQLite::Statement query(database, sql);
  while (query.executeStep()) values.push_back(query.getColumn(0).getString());
  return values;
}

// All rows of all tables, in the columns that schema `version` has.
std::vector<std::string> Rows(const std::filesystem::path& path, int version) {
  SQLite::Database old(":memory:", SQLite::OPEN_READWRITE);
  old.exec(Statement("schema_" + std::to_string(version) + ".sql"));
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  std::vector<std::string> rows;
  for (const std::string& table :
       Column(old, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")) {
    std::string values;
    for (const std::string& column :
         Column(old, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid"))
      values += (values.empty() ? "quote(" : " || ',' || quote(") + column + ")";
    for (const std::string& row : Column(database, "SELECT " + values + " FROM " + table + " ORDER BY 1"))
      rows.push_back(table + ": " + row);
  }
  return rows;
}

// Every column of every table and view, every index, and what the views say, as SQLite sees them.
std::vector<std::string> Shape(const std::filesystem::path& path) {
  SQLite::Database database(path, SQLite::OPEN_READWRITE);
  return Column(
      database,
      "SELECT m.name || ': ' || quote(c.cid) || quote(c.name) || quote(c.type) || quote(c.\"notnull\") || "
      "quote(c.dflt_value) || quote(c.pk) FROM sqlite_master m JOIN pragma_table_info(m.name) c "
      "UNION ALL SELECT m.name || ': ' || i.name || i.\"unique\" || i.origin FROM sqlite_master m "
      "JOIN pragma_index_list(m.name) i UNION ALL SELECT sql FROM sqlite_master WHERE type = 'view' "
      "ORDER BY 1");
}

int VersionOf(const std::filesystem::path& path) {
  return SQLite::Database(path).execAndGet("PRAGMA user_version").getInt();
}

struct MigrationTest : testing::TestWithParam<int> {
  TempFolder folder;
  std::filesystem::path path = folder / "old.db";
  std::vector<std::string> rows;

  std::vector<std::string> Rows() const { return fullband::Rows(path, GetParam()); }
  void SetUp() override {
    MakeVersion(GetParam(), path);
    rows = Rows();
    ASSERT_EQ(rows.size(), 1u + 2 + kItems + 1 + kItems / 2 + 1 + 2 + kItems / 2 + 1);
  }
};

TEST_P(MigrationTest, KeepsEveryRowAndEndsAtTheNewestSchema) {
  OpenStore(path, StoreMode::kReadWrite);
  OpenStore(folder / "fresh.db", StoreMode::kReadWrite);
  EXPECT_EQ(VersionOf(path), SchemaVersion());
  EXPECT_EQ(Rows(), rows);
  EXPECT_EQ(Shape(path), Shape(folder / "fresh.db"));
}

TEST_P(MigrationTest, TheRunGoesOn) {
  const auto store = OpenStore(path, StoreMode::kReadWrite);
  EXPECT_EQ(store->Committed(1).size(), static_cast<size_t>(kItems) / 2);
  const std::vector<ItemRecord> items = store->Items(1);
  ASSERT_EQ(items.size(), static_cast<size_t>(kItems));
  EXPECT_EQ(items[0].groups, "{}");
  ItemRecord item = items[0];
  item.groups = R"({"difficulty":3})";
  store->AddItems(1, {item});
  EXPECT_EQ(store->Items(1)[0].groups, R"({"difficulty":3})");
  SampleRecord sample;
  sample.item_id = items[1].id;
  store->AddSample(sample, "token", store->Sessions(1).at(0));
  EXPECT_EQ(store->Committed(1).size(), static_cast<size_t>(kItems) / 2 + 1);
}

// What all readers get of it.
std::string Content(Store& store) {
  std::string content;
  for (const RunRecord& run : store.Runs()) {
    content += run.key + "\n";
    for (const ItemRecord& item : store.Items(run.id))
      content += item.item + item.prompt + item.groups + "\n";
    for (const SampleRecord& sample : store.Samples(run.id, true))
      content += sample.item + sample.text + std::to_string(sample.tokens.size()) +
                 std::to_string(store.SampleWithGold(sample.id).first.choices.size()) + "\n";
    for (const GradeRecord& grade : store.Grades(run.id)) content += grade.outcome + "\n";
    store.ForEachBudgetOutcome(run.id, "number", [&](const BudgetOutcome&) { content += "cut"; });
    content +=
        std::to_string(store.Ungraded(run.id, "other", 1).size() + store.Committed(run.id).size()) + "\n";
  }
  return content;
}

TEST_P(MigrationTest, ReadOnlyAnOlderStoreReadsAsTheNewestAndStaysOld) {
  const std::string old = Content(*OpenStore(path, StoreMode::kReadOnly));
  EXPECT_THAT(old, HasSubstr("item 40Question 40{}"));
  EXPECT_EQ(VersionOf(path), GetParam());
  EXPECT_EQ(Rows(), rows);
  EXPECT_THROW(OpenStore(path, StoreMode::kReadOnly)->AddModel({}), Error);
  EXPECT_EQ(Content(*OpenStore(path, StoreMode::kReadWrite)), old);
  EXPECT_EQ(Content(*OpenStore(path, StoreMode::kReadOnly)), old);
}

TEST_P(MigrationTest, AnOlderStoreIsReadOnReadOnlyMedia) {
  SmallMount disk("1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting needs root";
  MakeVersion(GetParam(), disk.path() / "old.db");
  ASSERT_TRUE(disk.MakeReadOnly());
  EXPECT_EQ(Content(*OpenStore(disk.path() / "old.db", StoreMode::kReadOnly)),
            Content(*OpenStore(path, StoreMode::kReadOnly)));
}

TEST_P(MigrationTest, AReaderKeepsItsSnapshotWhileTheStoreIsMigrated) {
  const auto reader = OpenStore(path, StoreMode::kReadOnly);
  const std::string old = Content(*reader);
  const auto writer = OpenStore(path, StoreMode::kReadWrite);
  ItemRecord item = writer->Items(1).at(0);
  item.groups = R"({"difficulty":3})";
  writer->AddItems(1, {item});
  EXPECT_EQ(Content(*reader), old);
  EXPECT_EQ(OpenStore(path, StoreMode::kReadOnly)->Items(1).at(0).groups, item.groups);
}

TEST_P(MigrationTest, SeveralProcessesMigrateItAtOnce) {
  InProcesses([this] { return OpenStore(path, StoreMode::kReadWrite)->Items(1).size() == kItems; });
  EXPECT_EQ(VersionOf(path), SchemaVersion());
  EXPECT_EQ(Rows(), rows);
}

// Killed in the middle of a migration that has written already: nothing of it stays, and the next one does it
// all.
TEST_P(MigrationTest, KilledOnTheWayItLeavesTheOldStore) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    // A cache too small for the changes, so that they reach the log before the end; then no end.
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA cache_size = 1; PRAGMA cache_spill = 1");
    database.createFunction(
        "announce", 0, false, &ready[1],
        [](sqlite3_context* context, int, sqlite3_value**) {
          const int out = *static_cast<int*>(sqlite3_user_data(context));
          if (write(out, "x", 1) != 1) _exit(3);
          for (;;) pause();
        },
        nullptr, nullptr, nullptr);
    const std::vector<std::string_view> steps = {
        "ALTER TABLE items ADD COLUMN groups TEXT NOT NULL DEFAULT '{}'",
        "UPDATE items SET prompt = hex(zeroblob(5000)); UPDATE samples SET text = hex(zeroblob(5000));"
        "SELECT announce()"};
    Migrate(database, steps);
    _exit(4);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_GT(std::filesystem::file_size(path.string() + "-wal"), 100'000u);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(VersionOf(path), GetParam());
  EXPECT_EQ(Rows(), rows);
  OpenStore(path, StoreMode::kReadWrite);
  EXPECT_EQ(VersionOf(path), SchemaVersion());
  EXPECT_EQ(Rows(), rows);
}

INSTANTIATE_TEST_SUITE_P(Schema, MigrationTest, testing::Values(1, 2),
                         [](const auto& info) { return std::to_string(info.param); });

// A fixture for every schema that there was.
TEST(Migrations, AllAreTested) { EXPECT_EQ(SchemaVersion(), 3); }

}  // namespace
}  // namespace fullband
