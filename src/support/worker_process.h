// A child process that answers messages, and that may crash, hang or be killed without harm to this one.
//
// Both sides speak over one socket, which the child has as descriptor 3: a message is its length, 4 bytes,
// little-endian, then its bytes. What the child writes to its standard output and error is kept for when it crashes. It
// is started by posix_spawn in a process group of its own: Ctrl-C at the terminal does not reach it, and what it starts
// itself is killed with it. A child whose parent has gone finds its socket closed.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tilewright {

class WorkerProcess {
public:
  static constexpr int kSocket = 3, kFirstFile = 4; // the child's descriptors

  struct Options {
    std::vector<std::string> command = {};     // a program, found on PATH, and its arguments
    std::vector<std::string> environment = {}; // "NAME=value", beside this process's, whose own it replaces
    std::vector<int> files = {};               // open ones that the child has as kFirstFile, kFirstFile + 1, ...
    uint64_t memory_bytes = 0;                 // the most address space it may have; 0: as much as there is
  };

  /// Throws Error where there is no such program.
  explicit WorkerProcess(const Options& options);
  ~WorkerProcess(); // kills
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// To a child that has ended the message is lost: the next receive() says so.
  void send(std::string_view message);

  struct Answer {
    enum class Kind : uint8_t { message, timed_out, ended };
    Kind kind;
    std::string text; // the message; or how it ended: "signal 6 (Aborted): last line of what it wrote"
  };
  /// The next message, waited for so long.
  Answer receive(double seconds);

  /// From any thread; a receive() under way finds that the child has ended.
  void kill();

private:
  bool read_exactly(char* bytes, size_t count, double deadline, bool& ended);
  std::string how_it_ended();

  pid_t pid_ = -1;
  int socket_ = -1, output_ = -1;
  std::mutex ending_; // guards waited_for_ and the number, which is another process's later
  bool waited_for_ = false;
};

} // namespace tilewright
