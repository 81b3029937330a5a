// Every file that is not a store that can be used here gives one clear Error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/error.h"
#include "evals/store/connection.h"
#include "evals/store/store.h"
#include "store/schema.h"
#include "tests/evals/processes.h"
#include "tests/support/small_mount.h"
#include "tests/support/temp_folder.h"

namespace fullband {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The error's text, "" where there was none.
std::string OpenError(const std::filesystem::path& path, StoreMode mode = StoreMode::kReadWrite) {
  try {
    OpenStore(path, mode);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kFailed);
    EXPECT_EQ(error.subject(), path.string());
    return error.what();
  }
  return "";
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(OpenStore, MakesAStoreAndOpensItAgain) {
  TempFolder folder;
  EXPECT_EQ(OpenError(folder / "a.db"), "");
  EXPECT_EQ(OpenError(folder / "a.db"), "");
  EXPECT_EQ(OpenError(folder / "a.db", StoreMode::kReadOnly), "");
  SQLite::Database database(folder / "a.db");
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), SchemaVersion());
  EXPECT_EQ(database.execAndGet("PRAGMA application_id").getInt(), kApplicationId);
  EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "wal");
}

TEST(OpenStore, AnEmptyFileBecomesAStore) {
  TempFolder folder;
  WriteFile(folder / "a.db", "");
  EXPECT_THAT(OpenError(folder / "a.db", StoreMode::kReadOnly), HasSubstr("is empty"));
  EXPECT_EQ(OpenError(folder / "a.db"), "");
}

TEST(OpenStore, APathWithOddCharacters) {
  TempFolder folder;
  EXPECT_EQ(OpenError(folder / "a b?c%20#d.db"), "");
  EXPECT_TRUE(std::filesystem::exists(folder / "a b?c%20#d.db"));
  EXPECT_EQ(OpenError(folder / "a b?c%20#d.db", StoreMode::kReadOnly), "");
}

TEST(OpenStore, RefusesWhatIsNoStore) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "folder");
  WriteFile(folder / "text", "This is a text file, long enough to have a header.\n");
  WriteFile(folder / "short", "SQLite");
  WriteFile(folder / "garbled", std::string("SQLite format 3\0", 16) + std::string(4096, 'x'));
  SQLite::Database(folder / "foreign", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t (x)");
  const struct {
    const char* file;
    const char* why;
  } cases[] = {
      {"folder", "is a folder"},
      {"text", "not an SQLite file"},
      {"short", "not an SQLite file"},
      {"garbled", "not an SQLite file"},
      {"foreign", "SQLite file of another program"},
      {"missing/a.db", "does not exist"},
  };
  for (const auto& one : cases) EXPECT_THAT(OpenError(folder / one.file), HasSubstr(one.why)) << one.file;
  EXPECT_THAT(OpenError(folder / "missing.db", StoreMode::kReadOnly), HasSubstr("no such store"));
  EXPECT_FALSE(std::filesystem::exists(folder / "missing.db"));
  EXPECT_THAT(OpenError("/dev/null"), HasSubstr("not a regular file"));
}

TEST(OpenStore, LeavesAForeignFileAsItWas) {
  TempFolder folder;
  SQLite::Database(folder / "foreign", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t (x)");
  OpenError(folder / "foreign");
  SQLite::Database database(folder / "foreign");
  EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "delete");
  EXPECT_EQ(database.execAndGet("SELECT COUNT(*) FROM sqlite_master").getInt(), 1);
}

TEST(OpenStore, RefusesANewerSchema) {
  TempFolder folder;
  OpenStore(folder / "a.db", StoreMode::kReadWrite);
  SQLite::Database(folder / "a.db", SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  for (const StoreMode mode : {StoreMode::kReadWrite, StoreMode::kReadOnly})
    EXPECT_THAT(OpenError(folder / "a.db", mode), AllOf(HasSubstr("newer version"), HasSubstr("99")));
}

// A process may die between making the file and committing the schema.
TEST(OpenStore, AFileWithoutSchemaIsFinished) {
  TempFolder folder;
  SQLite::Database(folder / "a.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA journal_mode = WAL");
  ASSERT_GT(std::filesystem::file_size(folder / "a.db"), 0u);
  EXPECT_THAT(OpenError(folder / "a.db", StoreMode::kReadOnly), HasSubstr("is empty"));
  EXPECT_EQ(OpenError(folder / "a.db"), "");
}

TEST(OpenStore, SeveralProcessesMakeItAtOnce) {
  TempFolder folder;
  InProcesses([&] { return OpenStore(folder / "a.db", StoreMode::kReadWrite)->AddModel({}) > 0; });
  EXPECT_EQ(OpenStore(folder / "a.db", StoreMode::kReadOnly)->Models().size(), 1u);
}

TEST(OpenStore, ReadsOnReadOnlyMedia) {
  SmallMount disk("1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting needs root";
  const auto file = disk.path() / "a.db";
  {
    auto store = OpenStore(file, StoreMode::kReadWrite);
    ModelRecord model;
    model.name = "kept";
    store->AddModel(model);
  }
  ASSERT_TRUE(disk.MakeReadOnly());
  EXPECT_EQ(OpenStore(file, StoreMode::kReadOnly)->Models().at(0).name, "kept");
  EXPECT_THAT(OpenError(file), HasSubstr("cannot be written"));
  EXPECT_THAT(OpenError(disk.path() / "new.db"), HasSubstr("cannot be written"));
}

TEST(OpenStore, SaysWhenTheDiskIsFull) {
  SmallMount disk("8k");
  if (!disk.ok()) GTEST_SKIP() << "mounting needs root";
  EXPECT_THAT(OpenError(disk.path() / "a.db"), HasSubstr("disk is full"));
}

TEST(OpenStore, ReadOnlyChangesNothingAndLeavesNothing) {
  TempFolder folder;
  OpenStore(folder / "a.db", StoreMode::kReadWrite);
  {
    auto store = OpenStore(folder / "a.db", StoreMode::kReadOnly);
    EXPECT_THROW(store->AddModel({}), Error);
  }
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 1u);
}

TEST(OpenStore, ReadOnlyIsASnapshotBesideAWriter) {
  TempFolder folder;
  auto writer = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  auto reader = OpenStore(folder / "a.db", StoreMode::kReadOnly);
  EXPECT_TRUE(reader->Models().empty());
  writer->AddModel({});
  EXPECT_TRUE(reader->Models().empty());
  EXPECT_EQ(OpenStore(folder / "a.db", StoreMode::kReadOnly)->Models().size(), 1u);
}

// Locks belong to the process: were the file opened and closed anew, the first connection would lose its own,
// and another process that closes last would take the log away.
TEST(OpenStore, OpeningAgainKeepsTheLocksOfTheFirst) {
  TempFolder folder;
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();  // before the first connection: SQLite's own state must not be forked
  if (child == 0) {
    char byte = 0;
    if (read(go[0], &byte, 1) != 1) _exit(3);
    try {
      OpenStore(folder / "a.db", StoreMode::kReadOnly)->Models();
      _exit(std::filesystem::exists((folder / "a.db").string() + "-wal") ? 0 : 1);
    } catch (const std::exception& error) {
      _exit(2);
    }
  }
  const auto first = OpenStore(folder / "a.db", StoreMode::kReadWrite);
  first->AddModel({});
  OpenStore(folder / "a.db", StoreMode::kReadWrite);
  ASSERT_EQ(write(go[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Migrate, GoesStepByStepInOneTransaction) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  database.exec("CREATE TABLE t (a); PRAGMA user_version = 1");
  const std::vector<std::string_view> steps = {"ALTER TABLE t ADD COLUMN b",
                                               "ALTER TABLE t RENAME COLUMN b TO c"};
  Migrate(database, std::span(steps).first(1));
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 2);
  Migrate(database, steps);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 3);
  database.exec("INSERT INTO t (a, c) VALUES (1, 2)");
}

TEST(Migrate, AFailureLeavesTheOldVersion) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  database.exec("CREATE TABLE t (a); PRAGMA user_version = 1");
  const std::vector<std::string_view> steps = {"ALTER TABLE t ADD COLUMN b",
                                               "ALTER TABLE missing ADD COLUMN b"};
  EXPECT_THROW(Migrate(database, steps), SQLite::Exception);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_THROW(database.exec("SELECT b FROM t"), SQLite::Exception);
}

TEST(Schema, HoldsWithForeignKeys) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = ON");
  database.exec(kSchemaSql);
  EXPECT_THROW(
      database.exec("INSERT INTO items (run_id, item, position, prompt, gold) VALUES (7, '', 0, '', '')"),
      SQLite::Exception);
}

}  // namespace
}  // namespace fullband
