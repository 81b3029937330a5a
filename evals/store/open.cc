// Opening a store: every way in which a file can be the wrong one is told apart here.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "evals/store/connection.h"
#include "evals/store/file_system.h"
#include "store/schema.h"

namespace fullband {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyMilliseconds = 20000;

// Migrations by position: the first leads from version 1 to version 2. schema.sql is always the newest
// version.
const std::vector<std::string_view>& Migrations() {
  static const std::vector<std::string_view> steps = {
      "ALTER TABLE items ADD COLUMN groups TEXT NOT NULL DEFAULT '{}'",
      "CREATE TABLE budget_grades (sample_id INTEGER NOT NULL REFERENCES samples(id), grader TEXT NOT NULL, "
      "grader_version INTEGER NOT NULL, budget INTEGER NOT NULL, outcome TEXT NOT NULL, score REAL NOT NULL, "
      "extracted TEXT NOT NULL, detail TEXT NOT NULL, truncated INTEGER NOT NULL, text_bytes INTEGER NOT "
      "NULL, certain INTEGER NOT NULL, PRIMARY KEY (sample_id, grader, grader_version, budget)) WITHOUT "
      "ROWID",
  };
  return steps;
}

// What makes a store of an older version, by position as above, read as the newest: temporary views, which
// hide the tables of their names. A new migration changes all of these.
const std::vector<std::string>& ReadingViews() {
  static const std::string no_budgets =
      "CREATE TEMP VIEW budget_grades AS SELECT 0 AS sample_id, '' AS grader, 0 AS grader_version, "
      "0 AS budget, '' AS outcome, 0.0 AS score, '' AS extracted, '' AS detail, 0 AS truncated, "
      "0 AS text_bytes, 1 AS certain WHERE 0";
  static const std::vector<std::string> views = {
      "CREATE TEMP VIEW items AS SELECT *, '{}' AS groups FROM main.items;" + no_budgets,
      no_budgets,
  };
  return views;
}

fs::path FolderOf(const fs::path& path) {
  const fs::path folder = fs::absolute(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool Writable(const fs::path& path) { return access(path.c_str(), W_OK) == 0; }

// True where the file exists and holds something. The file is not opened here: closing it again would drop
// the locks of every connection that this process has to it (POSIX advisory locks belong to the process, not
// the descriptor), and another process could then take away the log under them.
bool CheckFile(const fs::path& path, StoreMode mode) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw Error(path.string(), "is a folder, not a store", "name a file");
  if (!fs::exists(status)) {
    if (mode == StoreMode::kReadOnly)
      throw Error(path.string(), "no such store", "fullband run --store makes one");
    if (!fs::is_directory(FolderOf(path), ignored))
      throw Error(path.string(), fmt::format("the folder {} does not exist", FolderOf(path).string()),
                  "make it first");
    return false;
  }
  if (!fs::is_regular_file(status)) throw Error(path.string(), "is not a regular file");
  if (access(path.c_str(), R_OK) != 0)
    throw Error(path.string(), std::strerror(errno), "check the file's permissions");
  return fs::file_size(path) > 0;
}

void CheckWritable(const fs::path& path, bool exists) {
  const fs::path folder = FolderOf(path);
  const bool file_fails = exists && !Writable(path);
  if (!file_fails && Writable(folder)) return;
  const std::string where = file_fails ? "the file" : "the folder " + folder.string();
  throw Error(path.string(), fmt::format("{} cannot be written ({})", where, std::strerror(errno)),
              "choose another --store or change the permissions");
}

// As a URI, for options that only a URI can give.
std::string ImmutableUri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : fs::absolute(path).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/-_.~", c) != nullptr;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

bool HasLog(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path.string() + "-wal", error);
  return !error && size > 0;
}

// True where the database is fresh: no tables, no mark of another program.
bool IsFresh(SQLite::Database& database) {
  return database.execAndGet("PRAGMA application_id").getInt() == 0 &&
         database.execAndGet("PRAGMA user_version").getInt() == 0 &&
         database.execAndGet("SELECT COUNT(*) FROM sqlite_master").getInt() == 0;
}

Error EmptyError(const fs::path& path) {
  return Error(path.string(), "is empty, not a store", "fullband run --store makes one");
}

void CheckKind(const fs::path& path, SQLite::Database& database) {
  if (IsFresh(database)) throw EmptyError(path);
  if (database.execAndGet("PRAGMA application_id").getInt() != kApplicationId)
    throw Error(path.string(), "is not a store: an SQLite file of another program", "name another file");
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version > SchemaVersion())
    throw Error(path.string(),
                fmt::format("was written by a newer version (schema {}; this program knows {})", version,
                            SchemaVersion()),
                "use the newer program");
  if (version < 1)
    throw Error(path.string(), "is damaged: a store without a schema version", "restore a copy");
}

// Switching to the write-ahead log does not wait for other connections by itself.
void UseWriteAheadLog(SQLite::Database& database) {
  using std::chrono::milliseconds;
  for (int waited = 0;; waited += 20) {
    const int code = database.tryExec("PRAGMA journal_mode = WAL");
    if (code == SQLITE_OK || code == SQLITE_ROW) return;
    if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || waited >= kBusyMilliseconds) database.check(code);
    std::this_thread::sleep_for(milliseconds(20));
  }
}

// Tables and marks come in one transaction: a process that dies here leaves a fresh file, not half a store.
void CreateSchema(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (!IsFresh(database)) return;  // another process was first
  database.exec(kSchemaSql);
  database.exec(kViewsSql);
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", SchemaVersion()));
  transaction.commit();
}

SQLite::Database OpenReadWrite(const fs::path& path) {
  SQLite::Database database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
  const bool fresh = IsFresh(database);
  if (!fresh) CheckKind(path, database);
  UseWriteAheadLog(database);
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  if (fresh) CreateSchema(database);
  CheckKind(path, database);
  if (database.execAndGet("PRAGMA user_version").getInt() < SchemaVersion())
    Migrate(database, Migrations(), kViewsSql);
  return database;
}

// Without the right to make files beside it, SQLite can read a store at rest only when told that nothing
// changes it.
SQLite::Database OpenReadOnly(const fs::path& path, bool network) {
  const bool still = network || !Writable(path) || !Writable(FolderOf(path));
  if (still && !HasLog(path))
    return SQLite::Database(ImmutableUri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyMilliseconds);
  if (network)
    throw Error(path.string(), "is in use or was left in use, on a network file system",
                "copy it, with its -wal file, to a local disk");
  if (still) return SQLite::Database(path.string(), SQLite::OPEN_READONLY, kBusyMilliseconds);
  // With write permission on the file, the last reader tidies up the log's files; nothing can be written all
  // the same, since BeginReading() forbids it.
  return SQLite::Database(path.string(), SQLite::OPEN_READWRITE, kBusyMilliseconds);
}

// The snapshot is taken before the version is read, so that a migration in another process cannot come
// between.
void BeginReading(const fs::path& path, SQLite::Database& database) {
  database.exec("PRAGMA temp_store = MEMORY; BEGIN");
  CheckKind(path, database);
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version < SchemaVersion()) database.exec(ReadingViews().at(version - 1));
  database.exec("PRAGMA query_only = ON");
}

bool DiskFull(const fs::path& path) {
  struct statvfs status = {};
  return statvfs(FolderOf(path).c_str(), &status) == 0 && status.f_bavail == 0;
}

}  // namespace

int SchemaVersion() { return static_cast<int>(Migrations().size()) + 1; }

void Migrate(SQLite::Database& database, std::span<const std::string_view> steps, const std::string& views) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const int target = static_cast<int>(steps.size()) + 1;
  for (int version = database.execAndGet("PRAGMA user_version").getInt(); version < target; ++version)
    database.exec(std::string(steps[version - 1]));
  database.exec(views);
  database.exec(fmt::format("PRAGMA user_version = {}", target));
  transaction.commit();
}

Error StoreError(const fs::path& path, const SQLite::Exception& error) {
  const std::string name = path.string();
  const bool input_output = error.getErrorCode() == SQLITE_IOERR || error.getErrorCode() == SQLITE_CANTOPEN;
  if (error.getErrorCode() == SQLITE_FULL || (input_output && DiskFull(path)))
    return Error(name, "the disk is full",
                 "what was committed is safe: make room and start the same command again, it goes on");
  switch (error.getErrorCode()) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Error(name, "cannot be written", "choose another --store or change the permissions");
    case SQLITE_CANTOPEN:
      return Error(name, "cannot be opened", "check the permissions of the file and of its folder");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(name, "another process has kept it locked for too long", "see what else uses the file");
    case SQLITE_NOTADB:
      return Error(name, "is not a store: not an SQLite file", "name another file");
    case SQLITE_CORRUPT:
      return Error(name, fmt::format("is damaged ({})", error.what()), "restore a copy");
    case SQLITE_IOERR:
      return Error(name, fmt::format("cannot be read or written ({})", error.what()), "check the disk");
    default:
      return Error(name, error.what());
  }
}

std::unique_ptr<Store> OpenStore(const fs::path& path, StoreMode mode) {
  const bool exists = CheckFile(path, mode);
  const std::string network = NetworkFileSystemOf(FolderOf(path));
  try {
    if (mode == StoreMode::kReadOnly) {
      if (!exists) throw EmptyError(path);
      auto impl = std::make_unique<Store::Impl>(path, OpenReadOnly(path, !network.empty()));
      BeginReading(path, impl->database);
      return std::unique_ptr<Store>(new Store(std::move(impl)));
    }
    if (!network.empty())
      throw Error(path.string(),
                  fmt::format("is on a network file system ({}), whose locks cannot be relied on", network),
                  "keep the store on a local disk and copy it when done");
    CheckWritable(path, exists);
    return std::unique_ptr<Store>(new Store(std::make_unique<Store::Impl>(path, OpenReadWrite(path))));
  } catch (const SQLite::Exception& error) {
    throw StoreError(path, error);
  }
}

}  // namespace fullband
