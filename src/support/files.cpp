#include "support/files.h"

#include "support/error.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pwd.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tilewright {

namespace {

[[noreturn]] void fail_with_errno(const char* action, const std::filesystem::path& path) {
  fail("cannot {} {}: {}", action, path.string(), std::strerror(errno));
}

// A file descriptor that is closed on every way out.
class OpenFile {
public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  // Whether the system took all that was written: some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

private:
  int descriptor_;
};

std::filesystem::path home_directory() {
  if (const char* home = std::getenv("HOME"); home && *home) return home;
  std::vector<char> buffer(16384);
  passwd entry;
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found) return found->pw_dir;
  fail("there is no home directory to keep the cache in; set XDG_CACHE_HOME or HOME");
}

// Creates a file of a name that nobody uses, and returns its descriptor, or -1 with errno set.
int create_beside(const std::filesystem::path& path, std::string& name) {
  static std::atomic<uint64_t> count = 0;
  for (;;) {
    name = fmt::format("{}.{}.{}.tmp", path.string(), ::getpid(), count++);
    int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(size_t(written));
  }
  return true;
}

} // namespace

std::filesystem::path user_cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/')
    return std::filesystem::path(cache) / "tilewright";
  return home_directory() / ".cache" / "tilewright";
}

std::string read_file(const std::filesystem::path& path) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail_with_errno("read", path);
  std::string bytes;
  char block[65536];
  for (;;) {
    ssize_t count = ::read(file.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("read", path);
    if (count == 0) return bytes;
    bytes.append(block, size_t(count));
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail("cannot create the folder {}: {}", path.parent_path().string(), error.message());
  }
  // The new bytes go to a file of their own in the same folder, and reach the disk before they take the old name.
  std::string temporary;
  OpenFile file(create_beside(path, temporary));
  if (!file.is_open()) fail_with_errno("write", path);
  if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    int reason = errno;
    ::unlink(temporary.c_str());
    errno = reason;
    fail_with_errno("write", path);
  }
}

} // namespace tilewright
