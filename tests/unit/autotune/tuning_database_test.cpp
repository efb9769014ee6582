// The tuning database: what it keeps, and all that can be wrong with a file.
#include "autotune/tuning_database.h"

#include "support/files.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tilewright {
namespace {

const Config kConfig{{"block_sizes", {64, 128}}, {"pid_type", "flat"}};
const Config kOther{{"block_sizes", {32, 32}}, {"pid_type", "flat"}};
const TuningKey kKey{"family", "full", "float32[1024]", "cpu x", "0.1.0"};

class Database : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tilewright-" + std::to_string(getpid()) + "-" +
                                                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
    file = folder / "cache" / "tuning.sqlite3";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  TuningDatabase::Options options() {
    return {.file = file, .patience = std::chrono::milliseconds(0), .warn = [this](const std::string& warning) {
              warnings.push_back(warning);
            }};
  }

  /// A file in which there is one result.
  void write_one() {
    TuningDatabase database(options());
    database.record(kKey, kConfig, 12.5);
  }

  std::filesystem::path folder, file;
  std::vector<std::string> warnings;
};

TuningKey with_shapes(std::string shapes) {
  TuningKey key = kKey;
  key.full_hash = "full of " + shapes;
  key.shapes = std::move(shapes);
  return key;
}

TEST_F(Database, finds_in_another_process_what_was_recorded) {
  const pid_t child = fork();
  if (child == 0) {
    write_one();
    _exit(warnings.empty() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);

  TuningDatabase database(options());
  const std::optional<TuningRecord> record = database.find(kKey);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->config, kConfig);
  EXPECT_EQ(record->microseconds, 12.5);
  EXPECT_EQ(record->key.shapes, kKey.shapes);
  EXPECT_EQ(record->date.size(), std::string("2026-08-31 17:05:12").size());
  EXPECT_TRUE(warnings.empty());
}

TEST_F(Database, finds_nothing_where_any_part_of_the_key_differs) {
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kConfig, 1);
  EXPECT_TRUE(database.find(kKey));
  for (std::string TuningKey::* part :
       {&TuningKey::full_hash, &TuningKey::shapes, &TuningKey::hardware, &TuningKey::compiler}) {
    TuningKey key = kKey;
    key.*part += "'; DROP TABLE results; --";
    EXPECT_FALSE(database.find(key));
  }
  EXPECT_TRUE(database.find(kKey));
}

TEST_F(Database, the_latest_result_stands) {
  TuningDatabase database(options());
  database.record(kKey, kConfig, 1);
  database.record(kKey, kOther, 2);
  EXPECT_EQ(database.find(kKey)->config, kOther);
  EXPECT_EQ(database.nearest(kKey, 10).size(), 1u);
}

TEST_F(Database, the_nearest_come_by_shapes_then_by_hardware) {
  TuningDatabase database(options());
  auto record = [&](const TuningKey& key, double time) { database.record(key, kConfig, time); };
  TuningKey elsewhere = with_shapes("float32[1000]"), other_family = with_shapes("float32[1001]");
  elsewhere.hardware = "cpu y";
  other_family.family_hash = "other";
  record(with_shapes("float32[16]"), 1);
  record(with_shapes("float64[1024]"), 2);
  record(with_shapes("float32[2048]"), 3);
  record(elsewhere, 4);
  record(other_family, 5);
  std::vector<std::string> shapes;
  for (const TuningRecord& found : database.nearest(with_shapes("float32[1001]"), 10))
    shapes.push_back(found.key.shapes);
  EXPECT_EQ(shapes, (std::vector<std::string>{"float32[2048]", "float32[16]", "float32[1000]", "float64[1024]"}));
  EXPECT_EQ(database.nearest(with_shapes("float32[1001]"), 1).size(), 1u);
}

TEST_F(Database, a_damaged_file_is_moved_aside_with_one_warning) {
  write_file_atomically(file,
                        "this is no database, and longer than a page's header would be: " + std::string(4000, 'x'));
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kConfig, 1);
  EXPECT_TRUE(database.find(kKey));
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".damaged"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the tuning database " + file.string() +
                             " is damaged (file is not a database); it was moved to tuning.sqlite3.damaged and a new "
                             "one begun");
}

TEST_F(Database, damage_inside_a_file_is_found_when_it_is_met) {
  {
    TuningDatabase database(options());
    for (int i = 0; i < 5; ++i) database.record(with_shapes(std::string(2000, 'x') + std::to_string(i)), kConfig, i);
  }
  std::string bytes = read_file(file);
  std::fill(bytes.begin() + 4096, bytes.end(), '\xff'); // all but the first page
  write_file_atomically(file, bytes);
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kConfig, 1);
  EXPECT_TRUE(database.find(kKey));
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(Database, a_file_cut_short_is_damaged_and_an_empty_one_is_new) {
  write_one();
  const std::string bytes = read_file(file);
  for (size_t length : {size_t(0), size_t(10), size_t(1000), bytes.size() - 4096}) {
    warnings.clear();
    write_file_atomically(file, bytes.substr(0, length));
    TuningDatabase database(options());
    EXPECT_FALSE(database.find(kKey));
    database.record(kKey, kConfig, 1);
    EXPECT_TRUE(database.find(kKey)) << length;
    EXPECT_EQ(warnings.size(), length == 0 ? 0u : 1u) << length;
  }
}

TEST_F(Database, a_database_of_something_else_is_moved_aside) {
  std::filesystem::create_directories(file.parent_path());
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
  sqlite3_exec(connection, "CREATE TABLE cookies (x)", nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  TuningDatabase database(options());
  database.record(kKey, kConfig, 1);
  EXPECT_TRUE(database.find(kKey));
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".damaged"));
}

TEST_F(Database, a_result_that_is_no_config_is_passed_over_with_one_warning) {
  write_one();
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
  sqlite3_exec(connection, "UPDATE results SET config = '{oops'", nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  EXPECT_FALSE(database.find(kKey));
  EXPECT_EQ(warnings.size(), 1u);
  database.record(kKey, kOther, 1);
  EXPECT_EQ(database.find(kKey)->config, kOther);
}

TEST_F(Database, one_that_another_process_holds_costs_one_warning_and_is_used_again_later) {
  write_one();
  sqlite3* holder = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &holder), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(holder, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kOther, 1);
  EXPECT_TRUE(database.nearest(kKey, 3).empty());
  EXPECT_EQ(warnings, (std::vector<std::string>{"the tuning database " + file.string() +
                                                " is held by another process; going on without it"}));
  sqlite3_close(holder);
  EXPECT_EQ(database.find(kKey)->config, kConfig);
}

TEST_F(Database, a_place_that_cannot_be_written_costs_one_warning) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder / "cache", "a file where the folder should be");
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kConfig, 1);
  EXPECT_FALSE(database.find(kKey));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "the tuning database " + file.string() + " cannot be used (Not a directory); going on without it");
}

TEST_F(Database, a_folder_in_the_files_place_costs_one_warning) {
  std::filesystem::create_directories(file);
  TuningDatabase database(options());
  EXPECT_FALSE(database.find(kKey));
  database.record(kKey, kConfig, 1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], "the tuning database " + file.string() +
                             " cannot be used (unable to open database file); going on without it");
}

TEST_F(Database, a_cache_that_is_emptied_meanwhile_is_begun_again) {
  TuningDatabase database(options());
  database.record(kKey, kConfig, 1);
  std::filesystem::remove_all(file.parent_path());
  database.record(kKey, kOther, 1);
  EXPECT_EQ(database.find(kKey)->config, kOther);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(Database, several_processes_and_threads_write_at_once) {
  constexpr int kProcesses = 4, kThreads = 2, kResults = 3;
  auto patient = options();
  patient.patience = std::chrono::minutes(1);
  for (int process = 0; process < kProcesses; ++process)
    if (fork() == 0) {
      TuningDatabase database(patient); // all of them create the file
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
          for (int i = 0; i < kResults; ++i) {
            const TuningKey key = with_shapes(std::to_string(process) + "." + std::to_string(thread * kResults + i));
            database.record(key, kConfig, i);
            if (!database.find(key)) _exit(2);
          }
        });
      for (std::thread& thread : threads) thread.join();
      _exit(warnings.empty() ? 0 : 1);
    }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  TuningDatabase database(options());
  EXPECT_EQ(database.nearest(kKey, 1000).size(), size_t(kProcesses * kThreads * kResults));
}

TEST_F(Database, several_processes_that_find_one_damaged_file_move_it_once) {
  write_file_atomically(file, std::string(5000, 'x'));
  auto patient = options();
  patient.patience = std::chrono::minutes(1);
  constexpr int kProcesses = 4;
  for (int process = 0; process < kProcesses; ++process)
    if (fork() == 0) {
      TuningDatabase database(patient);
      database.record(with_shapes(std::to_string(process)), kConfig, 1);
      _exit(0);
    }
  for (int process = 0; process < kProcesses; ++process) wait(nullptr);
  TuningDatabase database(options());
  EXPECT_EQ(database.nearest(kKey, 1000).size(), size_t(kProcesses)) << "nobody's new file was moved away";
  EXPECT_TRUE(read_file(file.string() + ".damaged") == std::string(5000, 'x'));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(Database, its_file_lies_in_the_users_cache_and_names_its_version) {
  EXPECT_EQ(TuningDatabase::default_file(), user_cache_directory() / "tuning-v1.sqlite3");
}

} // namespace
} // namespace tilewright
