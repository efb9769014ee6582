#include "support/files.h"

#include "support/error_of.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <thread>
#include <vector>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "tilewright_files_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(Files, what_is_written_is_read) {
  std::string bytes(200000, 'x');
  bytes[17] = '\0';
  write_file_atomically(folder_ / "new" / "folder" / "file", bytes);
  EXPECT_EQ(read_file(folder_ / "new" / "folder" / "file"), bytes);
  write_file_atomically(folder_ / "new" / "folder" / "file", "");
  EXPECT_EQ(read_file(folder_ / "new" / "folder" / "file"), "");
}

TEST_F(Files, writing_leaves_no_other_file_behind) {
  write_file_atomically(folder_ / "file", "a");
  write_file_atomically(folder_ / "file", "b");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, many_writers_leave_one_whole_file) {
  std::vector<std::thread> writers;
  for (char letter : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i) write_file_atomically(folder_ / "file", std::string(10000, letter));
    });
  for (auto& writer : writers) writer.join();
  std::string bytes = read_file(folder_ / "file");
  EXPECT_EQ(bytes, std::string(10000, bytes[0]));
}

TEST_F(Files, errors_name_the_file_and_the_reason) {
  std::string missing = (folder_ / "missing").string();
  EXPECT_EQ(error_of([&] { read_file(missing); }), "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder_); }), "cannot read " + folder_.string() + ": Is a directory");

  write_file_atomically(folder_ / "file", "kept");
  std::string below = (folder_ / "file" / "below").string();
  EXPECT_EQ(error_of([&] { write_file_atomically(below, ""); }),
            "cannot create the folder " + (folder_ / "file").string() + ": Not a directory");
  fs::create_directory(folder_ / "taken");
  std::string taken = (folder_ / "taken").string();
  EXPECT_EQ(error_of([&] { write_file_atomically(taken, ""); }), "cannot write " + taken + ": Is a directory");
  EXPECT_EQ(read_file(folder_ / "file"), "kept");
}

// Sets an environment variable, or unsets it, for as long as it lives.
class ScopedVariable {
public:
  ScopedVariable(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~ScopedVariable() { set(before_); }

private:
  void set(const std::optional<std::string>& value) { value ? setenv(name_, value->c_str(), 1) : unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(UserCacheDirectory, follows_the_xdg_specification) {
  ScopedVariable home("HOME", "/home/someone");
  {
    ScopedVariable cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(user_cache_directory(), "/cache/tilewright");
  }
  for (std::optional<std::string> ignored : {std::optional<std::string>(), {"relative"}, {""}}) {
    ScopedVariable cache("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(user_cache_directory(), "/home/someone/.cache/tilewright");
  }
}

TEST(UserCacheDirectory, asks_the_system_where_HOME_is_not_set) {
  ScopedVariable home("HOME", std::nullopt), cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_TRUE(user_cache_directory().is_absolute());
  EXPECT_TRUE(user_cache_directory().string().ends_with("/.cache/tilewright"));
}

} // namespace
} // namespace tilewright
