#include "support/worker_process.h"

#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr size_t kMostOutput = 4096; // looked at of what a crashed child has written

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Moves a descriptor out of the way of the numbers that the child gets.
int moved_up(int file) {
  int moved = fcntl(file, F_DUPFD_CLOEXEC, 64);
  if (moved < 0) fail("a worker process cannot be started: {}", std::strerror(errno));
  return moved;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& own) {
  std::vector<std::string> merged = own;
  for (char** each = environ; *each; ++each) {
    std::string_view variable(*each), name = variable.substr(0, variable.find('='));
    bool replaced = std::ranges::any_of(
        own, [&](const std::string& o) { return std::string_view(o).substr(0, o.find('=')) == name; });
    if (!replaced) merged.emplace_back(variable);
  }
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && std::strchr(" \r\n", text.back())) text.remove_suffix(1);
  if (size_t end = text.rfind('\n'); end != text.npos) text.remove_prefix(end + 1);
  return std::string(text);
}

} // namespace

WorkerProcess::WorkerProcess(const Options& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    fail("a worker process cannot be started: {}", std::strerror(errno));
  socket_ = sockets[0];
  output_ = memfd_create("worker output", MFD_CLOEXEC);

  std::vector<int> moved = {moved_up(sockets[1])};
  close(sockets[1]);
  for (int file : options.files) moved.push_back(moved_up(file));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output_ >= 0)
    for (int standard : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&actions, output_, standard);
  for (size_t i = 0; i < moved.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, moved[i], kSocket + static_cast<int>(i));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);

  std::vector<std::string> command = options.command, environment = merged_environment(options.environment);
  int error = posix_spawnp(&pid_, command.front().c_str(), &actions, &attributes, pointers_to(command).data(),
                           pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (int file : moved) close(file);
  if (error != 0) {
    close(socket_);
    if (output_ >= 0) close(output_);
    fail("the worker process {} cannot be started: {}", command.front(), std::strerror(error));
  }
  if (options.memory_bytes > 0) {
    const rlimit limit{options.memory_bytes, options.memory_bytes};
    prlimit(pid_, RLIMIT_AS, &limit, nullptr);
  }
}

WorkerProcess::~WorkerProcess() {
  kill();
  if (!waited_for_) waitpid(pid_, nullptr, 0);
  close(socket_);
  if (output_ >= 0) close(output_);
}

// The process group has the child's number for as long as the child has not been waited for.
void WorkerProcess::kill() {
  std::lock_guard lock(ending_);
  if (!waited_for_) ::kill(-pid_, SIGKILL);
}

void WorkerProcess::send(std::string_view message) {
  const auto length = static_cast<uint32_t>(message.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += message;
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

bool WorkerProcess::read_exactly(char* bytes, size_t count, double deadline, bool& ended) {
  for (size_t got = 0; got < count;) {
    const double left = deadline - now();
    pollfd poll_for{socket_, POLLIN, 0};
    const int wait = static_cast<int>(std::clamp(std::ceil(left * 1000), 0.0, 1e9));
    const int ready = poll(&poll_for, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return false;
    ssize_t read_now = recv(socket_, bytes + got, count - got, 0);
    if (read_now < 0 && errno == EINTR) continue;
    if (read_now <= 0) {
      ended = true;
      return false;
    }
    got += static_cast<size_t>(read_now);
  }
  return true;
}

WorkerProcess::Answer WorkerProcess::receive(double seconds) {
  const double deadline = now() + seconds;
  bool ended = waited_for_;
  uint32_t length = 0;
  std::string text;
  if (!ended && read_exactly(reinterpret_cast<char*>(&length), sizeof(length), deadline, ended)) {
    text.resize(length);
    if (read_exactly(text.data(), length, deadline, ended)) return {Answer::Kind::message, std::move(text)};
  }
  if (ended) return {Answer::Kind::ended, how_it_ended()};
  return {Answer::Kind::timed_out, {}};
}

std::string WorkerProcess::how_it_ended() {
  int status = 0;
  {
    std::lock_guard lock(ending_);
    if (waited_for_) return "it ended before";
    ::kill(-pid_, SIGKILL); // one that has closed its socket is of no use; what it started goes with it
    waitpid(pid_, &status, 0);
    waited_for_ = true;
  }
  std::string how;
  if (WIFSIGNALED(status))
    how = "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  else
    how = "exit status " + std::to_string(WEXITSTATUS(status));
  char written[kMostOutput];
  const off_t size = output_ >= 0 ? lseek(output_, 0, SEEK_END) : 0;
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(kMostOutput));
  const ssize_t count = size > 0 ? pread(output_, written, sizeof(written), begin) : 0;
  if (count > 0)
    if (std::string line = last_line({written, static_cast<size_t>(count)}); !line.empty()) how += ": " + line;
  return how;
}

} // namespace tilewright
