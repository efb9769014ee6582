#include "autotune/tuning_database.h"

#include "autotune/shapes_distance.h"
#include "support/error.h"
#include "support/files.h"
#include "support/log.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr int kSchemaVersion = 1;

// In doublings of one size: see shapes_distance.h.
constexpr double kOtherHardware = 6, kOtherCompiler = 2;

constexpr const char* kCreateTables = R"(
  CREATE TABLE results (
    family_hash TEXT NOT NULL,
    full_hash TEXT NOT NULL,
    shapes TEXT NOT NULL,
    hardware TEXT NOT NULL,
    compiler TEXT NOT NULL,
    config TEXT NOT NULL,
    microseconds REAL NOT NULL,
    date TEXT NOT NULL,
    PRIMARY KEY (full_hash, shapes, hardware, compiler));
  CREATE INDEX results_by_family ON results (family_hash);
)";

/// Never leaves this file.
struct SqliteError {
  int code; // extended
  std::string message;

  bool is_busy() const { return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED; }
  bool is_damage() const {
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB || code == SQLITE_IOERR_SHORT_READ;
  }
};

void check(sqlite3* connection, int code) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
    throw SqliteError{sqlite3_extended_errcode(connection), sqlite3_errmsg(connection)};
}

void execute(sqlite3* connection, const std::string& sql) {
  check(connection, sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr));
}

/// One SQL statement with its values bound in order.
class Statement {
public:
  Statement(sqlite3* connection, const std::string& sql, const std::vector<std::string>& values = {})
      : connection_(connection) {
    check(connection, sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement_, nullptr));
    for (const std::string& value : values)
      check(connection,
            sqlite3_bind_text(statement_, ++bound_, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(double value) { check(connection_, sqlite3_bind_double(statement_, ++bound_, value)); }

  /// Whether there is a (next) row.
  bool step() {
    const int code = sqlite3_step(statement_);
    check(connection_, code);
    return code == SQLITE_ROW;
  }

  std::string text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text ? reinterpret_cast<const char*>(text) : "";
  }
  int integer(int column) const { return sqlite3_column_int(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }

private:
  sqlite3* connection_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

int schema_version(sqlite3* connection) {
  Statement version(connection, "PRAGMA user_version");
  return version.step() ? version.integer(0) : 0;
}

/// Keeps other processes of ours from opening or replacing the file meanwhile: one that has opened the damaged file but
/// not read it yet would take the new file's journal for its own, and play it back. The system lets go of the lock when
/// its holder dies. On file systems without such locks there is none.
class FolderLock {
public:
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      if (std::chrono::steady_clock::now() >= deadline) {
        ::close(descriptor_);
        throw SqliteError{SQLITE_BUSY, "it is being opened by another process"};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

private:
  int descriptor_;
};

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) { return path += suffix; }

std::filesystem::path file_or_default(const std::filesystem::path& file) {
  if (!file.empty()) return std::filesystem::absolute(file);
  try {
    return TuningDatabase::default_file();
  } catch (const Error&) {
    return {}; // no home directory, which open() warns of
  }
}

} // namespace

TuningDatabase::TuningDatabase() : TuningDatabase(Options{}) {}
TuningDatabase::TuningDatabase(Options options)
    : file_(file_or_default(options.file)), warn_(std::move(options.warn)), patience_(options.patience) {}
TuningDatabase::~TuningDatabase() { close(); }

std::filesystem::path TuningDatabase::default_file() {
  return user_cache_directory() / fmt::format("tuning-v{}.sqlite3", kSchemaVersion);
}

std::optional<TuningRecord> TuningDatabase::find(const TuningKey& key) {
  std::vector<TuningRecord> found;
  attempt([&] {
    found = select("full_hash = ? AND shapes = ? AND hardware = ? AND compiler = ?",
                   {key.full_hash, key.shapes, key.hardware, key.compiler});
  });
  if (found.empty()) return std::nullopt;
  return found.front();
}

std::vector<TuningRecord> TuningDatabase::nearest(const TuningKey& key, size_t count) {
  std::vector<TuningRecord> found;
  attempt([&] { found = select("family_hash = ?", {key.family_hash}); });
  auto distance = [&](const TuningRecord& record) {
    return shapes_distance(record.key.shapes, key.shapes) + (record.key.hardware == key.hardware ? 0 : kOtherHardware) +
           (record.key.compiler == key.compiler ? 0 : kOtherCompiler);
  };
  std::ranges::stable_sort(found, {}, distance);
  if (found.size() > count) found.resize(count);
  return found;
}

void TuningDatabase::record(const TuningKey& key, const Config& config, double microseconds) {
  attempt([&] {
    Statement insert(connection_,
                     "INSERT OR REPLACE INTO results (family_hash, full_hash, shapes, hardware, compiler, config, "
                     "microseconds, date) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, datetime('now'))",
                     {key.family_hash, key.full_hash, key.shapes, key.hardware, key.compiler, config.to_json()});
    insert.bind(microseconds);
    insert.step();
  });
}

std::vector<TuningRecord> TuningDatabase::select(const char* condition, const std::vector<std::string>& values) {
  Statement rows(connection_,
                 fmt::format("SELECT family_hash, full_hash, shapes, hardware, compiler, config, microseconds, date "
                             "FROM results WHERE {} ORDER BY date DESC",
                             condition),
                 values);
  std::vector<TuningRecord> records;
  while (rows.step()) {
    try {
      records.push_back({{rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4)},
                         Config::from_json(rows.text(5)),
                         rows.real(6),
                         rows.text(7)});
    } catch (const Error& error) {
      warn_once(fmt::format("the tuning database {} holds what is no config; it is not used: {}", file_.string(),
                            error.what()));
    }
  }
  return records;
}

/// Runs work on the open database, with all that can go wrong with it.
void TuningDatabase::attempt(const std::function<void()>& work) {
  std::lock_guard lock(mutex_);
  if (unusable_) return;
  try {
    try {
      open();
      work();
    } catch (const SqliteError& error) {
      if (error.is_damage()) {
        replace_damaged(error.message);
      } else if (error.code == SQLITE_READONLY_DBMOVED) { // somebody emptied the cache
        close();
        open();
      } else {
        throw;
      }
      work();
    }
  } catch (const SqliteError& error) {
    if (error.is_busy()) {
      warn_once(fmt::format("the tuning database {} is held by another process; going on without it", file_.string()));
      patience_ = {};
      if (connection_) sqlite3_busy_timeout(connection_, 0);
      return;
    }
    warn_once(
        fmt::format("the tuning database {} cannot be used ({}); going on without it", file_.string(), error.message));
    unusable_ = true;
    close();
  }
}

void TuningDatabase::open() {
  if (connection_) return;
  if (file_.empty()) throw SqliteError{SQLITE_CANTOPEN, "there is no home directory; set XDG_CACHE_HOME"};
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  if (error) throw SqliteError{SQLITE_CANTOPEN, error.message()};
  FolderLock lock(file_.parent_path(), patience_);
  open_locked();
}

void TuningDatabase::open_locked() {
  const int code = sqlite3_open_v2(file_.c_str(), &connection_,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    check(connection_, code);
    sqlite3_extended_result_codes(connection_, 1);
    sqlite3_busy_timeout(connection_, static_cast<int>(patience_.count()));
    execute(connection_, "PRAGMA synchronous = NORMAL"); // what a power cut may cost is a cache
    prepare_schema();
  } catch (const SqliteError&) {
    close();
    throw;
  }
}

void TuningDatabase::close() {
  sqlite3_close(connection_);
  connection_ = nullptr;
}

/// The journal stays SQLite's default, a rollback journal: home directories may lie on network file systems, on which
/// a write-ahead log does not work, and there is one write per tuning run.
void TuningDatabase::prepare_schema() {
  if (schema_version(connection_) == kSchemaVersion) return;
  execute(connection_, "BEGIN IMMEDIATE");
  const int version = schema_version(connection_); // another process may have been faster
  if (version == 0 && !Statement(connection_, "SELECT 1 FROM sqlite_master").step())
    execute(connection_, kCreateTables + fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  else if (version != kSchemaVersion)
    throw SqliteError{SQLITE_NOTADB, fmt::format("it has schema version {}", version)};
  execute(connection_, "COMMIT");
}

/// Several processes may find the damage at once: the first moves the file, the others then find a good one.
void TuningDatabase::replace_damaged(const std::string& damage) {
  close();
  FolderLock lock(file_.parent_path(), patience_);
  try {
    open_locked();
    Statement integrity(connection_, "PRAGMA quick_check(1)");
    if (integrity.step() && integrity.text(0) == "ok") return;
  } catch (const SqliteError& error) {
    if (!error.is_damage()) throw;
  }
  close();
  std::error_code error;
  std::filesystem::rename(file_, with_suffix(file_, ".damaged"), error);
  if (error) throw SqliteError{SQLITE_CANTOPEN, error.message()};
  // A journal that is left would be played back into the new file.
  std::filesystem::remove(with_suffix(file_, "-journal"), error);
  std::filesystem::remove(with_suffix(file_, "-wal"), error);
  std::filesystem::remove(with_suffix(file_, "-shm"), error);
  warn_once(fmt::format("the tuning database {} is damaged ({}); it was moved to {}.damaged and a new one begun",
                        file_.string(), damage, file_.filename().string()));
  open_locked();
}

void TuningDatabase::warn_once(const std::string& warning) {
  if (std::exchange(has_warned_, true)) return;
  if (warn_)
    warn_(warning);
  else
    log_warning("warning: {}", warning);
}

} // namespace tilewright
