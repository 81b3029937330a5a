// What the store's sources share: the connection, its errors, schema versions. Not for use outside this
// folder.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "evals/store/store.h"

namespace fullband {

inline constexpr int kApplicationId = 0x46424E44;  // "FBND"

// The schema's version: one more than the number of migrations.
int SchemaVersion();

// Brings a store from its user_version to `steps.size() + 1`; step i leads from version i + 1 to i + 2; then
// `views` makes the views of that version. One transaction.
void Migrate(SQLite::Database& database, std::span<const std::string_view> steps,
             const std::string& views = {});

// What went wrong, in words a user can act on.
Error StoreError(const std::filesystem::path& path, const SQLite::Exception& error);

struct Store::Impl {
  std::filesystem::path path;
  SQLite::Database database;
  bool together = false;  // inside Store::Together, whose transaction takes what is written
  std::map<std::string, SQLite::Statement> statements;  // by their text; see KeptStatement

  Impl(std::filesystem::path file, SQLite::Database&& opened)
      : path(std::move(file)), database(std::move(opened)) {}

  // A statement that is prepared the first time only, for queries that are made for one row after another. In
  // no use by two at a time.
  class KeptStatement {
   public:
    KeptStatement(Impl& impl, const std::string& sql)
        : statement_(impl.statements.try_emplace(sql, impl.database, sql).first->second) {}
    ~KeptStatement() { statement_.tryReset(); }  // else it would hold its lock
    KeptStatement(const KeptStatement&) = delete;
    KeptStatement& operator=(const KeptStatement&) = delete;
    SQLite::Statement& operator*() { return statement_; }
    SQLite::Statement* operator->() { return &statement_; }

   private:
    SQLite::Statement& statement_;
  };

  // Runs `body`; SQLite's exceptions leave as Error.
  template <typename Body>
  auto Guard(Body&& body) -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& error) {
      throw StoreError(path, error);
    }
  }

  // Runs `body` in one write transaction, rolled back when it throws.
  template <typename Body>
  auto Write(Body&& body) -> decltype(body()) {
    return Guard([&] {
      if (together) return body();
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        transaction.commit();
      } else {
        auto result = body();
        transaction.commit();
        return result;
      }
    });
  }
};

}  // namespace fullband
