// Worker processes, played by the shell: its printf writes a message's length by hand, and cat gives messages back.
#include "support/worker_process.h"

#include "support/error_of.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace tilewright {
namespace {

constexpr double kLong = 60; // for what comes at once

using Kind = WorkerProcess::Answer::Kind;

WorkerProcess::Options shell(const char* script) { return {.command = {"sh", "-c", script}}; }

/// Of a child that does this after its first message.
std::string ending(const char* script, WorkerProcess::Options options = {}) {
  options.command = {"sh", "-c", std::string("head -c 5 <&3 > /dev/null; ") + script};
  WorkerProcess worker(options);
  worker.send("x");
  WorkerProcess::Answer answer = worker.receive(kLong);
  EXPECT_EQ(answer.kind, Kind::ended);
  return answer.text;
}

TEST(WorkerProcess, answers_messages_of_any_length) {
  WorkerProcess worker(shell("cat <&3 >&3"));
  for (size_t length : {0, 1, 5, 100000}) {
    const std::string message(length, 'm');
    worker.send(message);
    WorkerProcess::Answer answer = worker.receive(kLong);
    EXPECT_EQ(answer.kind, Kind::message);
    EXPECT_EQ(answer.text, message);
  }
}

TEST(WorkerProcess, says_how_a_child_has_ended) {
  EXPECT_EQ(ending("exit 3"), "exit status 3");
  EXPECT_EQ(ending("echo first; echo something is broken >&2; exit 1"), "exit status 1: something is broken");
  EXPECT_EQ(ending("kill -ABRT $$"), "signal 6 (Aborted)");
}

TEST(WorkerProcess, a_message_to_a_child_that_has_ended_is_lost_without_harm) {
  WorkerProcess worker(shell("exit 0"));
  EXPECT_EQ(worker.receive(kLong).kind, Kind::ended);
  worker.send("anyone?");
  EXPECT_EQ(worker.receive(kLong).kind, Kind::ended);
}

TEST(WorkerProcess, a_child_that_hangs_is_waited_for_only_so_long) {
  WorkerProcess worker(shell("cat <&3 > /dev/null"));
  worker.send("anyone?");
  EXPECT_EQ(worker.receive(0.01).kind, Kind::timed_out);
}

TEST(WorkerProcess, half_a_message_is_none) {
  EXPECT_EQ(ending("printf '\\005\\000\\000\\000he' >&3; exit 4"), "exit status 4");
}

TEST(WorkerProcess, is_killed_from_another_thread) {
  WorkerProcess worker(shell("cat <&3 > /dev/null"));
  std::jthread killer([&] { worker.kill(); });
  WorkerProcess::Answer answer = worker.receive(kLong);
  EXPECT_EQ(answer.kind, Kind::ended);
  EXPECT_EQ(answer.text, "signal 9 (Killed)");
}

TEST(WorkerProcess, has_the_environment_the_memory_and_the_files_that_it_is_given) {
  EXPECT_EQ(ending("echo $TILEWRIGHT_TEST; exit 1", {.environment = {"TILEWRIGHT_TEST=from the test"}}),
            "exit status 1: from the test");
  EXPECT_EQ(ending("ulimit -v; exit 1", {.memory_bytes = 64 << 20}), "exit status 1: 65536");
  const int file = memfd_create("test", 0);
  ASSERT_EQ(write(file, "in the file", 11), 11);
  lseek(file, 0, SEEK_SET);
  EXPECT_EQ(ending("cat <&4; exit 1", {.files = {file}}), "exit status 1: in the file");
  close(file);
}

TEST(WorkerProcess, a_program_that_is_not_there_is_refused_by_name) {
  EXPECT_EQ(error_of([] { WorkerProcess worker({.command = {"no-such-program"}}); }),
            "the worker process no-such-program cannot be started: No such file or directory");
}

} // namespace
} // namespace tilewright
