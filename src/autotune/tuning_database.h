// What tuning found out, kept between processes: a SQLite file under the user's cache directory.
//
// The database helps and never hinders: nothing here throws, and whatever is wrong costs one warning.
//   - A damaged file is moved aside, to <file>.damaged, and a new one begun.
//   - One that another process holds for long is tried again at the next call, but hardly waited for any more.
//   - Where it cannot be read or written at all, this process does without from then on.
// Several processes and threads may use one file. The schema's version is part of the file's name, so that different
// versions of Tilewright live side by side.
#pragma once

#include "tilewright/config.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace tilewright {

/// What a tuning result holds for. All are texts compared as they are; hashes in hexadecimal.
struct TuningKey {
  std::string family_hash; // of the tile IR with sizes as symbols: the same kernel with other shapes
  std::string full_hash;   // of the tile IR with the sizes pinned
  std::string shapes;      // sizes, strides and alignment class of the arguments: see shapes_distance.h
  std::string hardware;
  std::string compiler; // Tilewright's and the backend's version
};

struct TuningRecord {
  TuningKey key;
  Config config;
  double microseconds = 0;
  std::string date; // UTC, "2026-08-31 17:05:12"
};

class TuningDatabase {
public:
  struct Options {
    std::filesystem::path file = {};                   // by default default_file()
    std::chrono::milliseconds patience{2000};          // how long to wait for another process that writes
    std::function<void(const std::string&)> warn = {}; // by default a warning line to stderr
  };

  TuningDatabase();
  explicit TuningDatabase(Options options);
  ~TuningDatabase();
  TuningDatabase(const TuningDatabase&) = delete;
  TuningDatabase& operator=(const TuningDatabase&) = delete;

  /// user_cache_directory() / "tuning-v1.sqlite3". Throws Error where the user has no home.
  static std::filesystem::path default_file();

  /// The result for exactly this key.
  std::optional<TuningRecord> find(const TuningKey& key);

  /// Results for the same family, the nearest first: by shapes, but another hardware or compiler counts like some
  /// doublings of a size. An exact one comes before all.
  std::vector<TuningRecord> nearest(const TuningKey& key, size_t count);

  /// Keeps a result. The latest stands, even if an earlier one was faster: whoever tunes again wants that, and times of
  /// different days do not compare.
  /// `microseconds` is finite.
  void record(const TuningKey& key, const Config& config, double microseconds);

private:
  void attempt(const std::function<void()>& work);
  void open();
  void open_locked();
  void close();
  void prepare_schema();
  void replace_damaged(const std::string& damage);
  void warn_once(const std::string& warning);
  std::vector<TuningRecord> select(const char* condition, const std::vector<std::string>& values);

  const std::filesystem::path file_; // empty: there is no place for one
  const std::function<void(const std::string&)> warn_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  sqlite3* connection_ = nullptr;
  bool unusable_ = false;
  bool has_warned_ = false;
};

} // namespace tilewright
