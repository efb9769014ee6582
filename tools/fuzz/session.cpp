#include "fuzz/session.h"

#include "fuzz/coverage.h"
#include "fuzz/fuzz_case.h"
#include "fuzz/generator.h"
#include "fuzz/inputs.h"
#include "fuzz/print_kernel.h"
#include "fuzz/random_config.h"
#include "fuzz/record_kernel.h"
#include "fuzz/shrink.h"

#include "driver/pipeline.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright::fuzz {
namespace {

constexpr int64_t kKernelsPerProcess = 300;
constexpr int64_t kKernelsToUseAll = 1000;    // after so many, nothing may have been left out
constexpr rlim_t kMostSecondsPerKernel = 120; // of the processor

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

//===----------------------------------------------------------------------===//
// The child: tells the parent what it does, a line each.
//===----------------------------------------------------------------------===//

class Worker {
public:
  Worker(const SessionOptions& options, int to) : options_(options), to_(to) {}

  void run(int64_t begin, int64_t end, double deadline) {
    say("dtypes\n" + Coverage::of_all(prober_.dtypes(), limits_of(cpu::host_target()).options).lines());
    for (int64_t i = begin; i < end && now() < deadline && failures_ < options_.most_failures; ++i) {
      say(fmt::format("begin {}\n", i));
      limit_time();
      run_kernel(i);
      say("end\n");
    }
  }

  /// The kernel that ended another worker, every config isolated.
  void run_isolated_kernel(int64_t number) {
    FuzzKernel kernel = generate(number);
    std::vector<Config> configs;
    try {
      configs = configs_for(kernel, number);
    } catch (const std::exception&) {
    }
    if (configs.empty()) configs.push_back(Config());
    for (const Config& config : configs) {
      CheckReport report = run_isolated({kernel, config});
      if (report.outcome == CheckReport::Outcome::failed) return report_failure({kernel, config}, report, number);
    }
    say("failure\n");
    fmt::print("kernel {} of seed {} ended its process, and does not when it runs alone\n", number, options_.seed);
  }

private:
  void say(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(to_, text.data() + at, text.size() - at);
      if (written <= 0) _exit(1);
      at += written;
    }
  }

  // From now on; what was used so far does not count.
  static void limit_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    rlim_t soft = used.ru_utime.tv_sec + used.ru_stime.tv_sec + kMostSecondsPerKernel;
    rlimit limit{soft, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
  }

  FuzzKernel generate(int64_t number) {
    return Generator(options_.seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(number), prober_).generate();
  }

  std::vector<Config> configs_for(const FuzzKernel& kernel, int64_t number) const {
    RecordedCall call(kernel, inputs_of(kernel));
    return configs_of(kernel, CallChecker(call.definition(), call.call()), number);
  }
  std::vector<Config> configs_of(const FuzzKernel& kernel, const CallChecker& checker, int64_t number) const {
    Random random(options_.seed + static_cast<uint64_t>(number) * 7919);
    std::vector<Config> configs;
    bool may_flatten = !depends_on_tiles(kernel);
    for (int i = 0; i < options_.configs; ++i)
      configs.push_back(random_config(checker.specialisation().spec, random, may_flatten));
    return configs;
  }

  void run_kernel(int64_t number) {
    FuzzKernel kernel = generate(number);
    if (options_.print_kernels) {
      fmt::print("--- {}\n{}\n", number, Printer(kernel).kernel_text());
      std::fflush(stdout);
    }
    Coverage used;
    used.add(kernel);
    try {
      RecordedCall call(kernel, inputs_of(kernel));
      CallChecker checker(call.definition(), call.call());
      Config defaults = default_config(checker.specialisation().spec);
      for (const Config& config : configs_of(kernel, checker, number)) {
        used.add(config, defaults);
        CheckReport report = checker.check(config, kernel.seed);
        used.add("run", "configs");
        used.add("elements", "compared", report.elements);
        used.add("elements", "compared bit for bit", report.exact);
        used.add("elements", "incomparable", report.incomparable);
        if (report.outcome == CheckReport::Outcome::not_defined) used.add("run", "without a defined result");
        if (report.outcome == CheckReport::Outcome::agreed) {
          if (std::optional<CheckReport> larger = check_larger(kernel, call, checker, config)) {
            used.add("sizes", "larger ones, of a specialisation");
            report = *larger;
          }
        }
        if (report.outcome != CheckReport::Outcome::failed) continue;
        report_failure({kernel, config}, report, number);
        break; // one config tells enough
      }
    } catch (const std::exception& error) {
      if (needs_static_shapes(kernel, error)) {
        used.add("run", "refused with run-time sizes");
      } else {
        CheckReport report;
        report.outcome = CheckReport::Outcome::failed;
        report.stage = "record";
        report.message = error.what();
        report_failure({kernel, Config()}, report, number);
      }
    }
    say(used.lines());
  }

  void report_failure(const FuzzCase& fuzz_case, const CheckReport& report, int64_t number) {
    say("failure\n");
    ++failures_;
    rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
    fmt::print("\nkernel {} of seed {} fails in the stage '{}': {}\nMaking it smaller ...\n", number, options_.seed,
               report.stage, report.message);
    std::fflush(stdout);
    // A smaller kernel is no slower, unless leaving something out made a loop of it that never ends.
    double begin = now();
    run_isolated(fuzz_case);
    auto most_seconds = static_cast<unsigned>(2 + 2 * (now() - begin));
    ShrunkCase shrunk =
        shrink(fuzz_case, report, [&](const FuzzCase& smaller) { return run_isolated(smaller, most_seconds); });
    fmt::print("after {} attempts:\n\n{}\n", shrunk.attempts,
               test_source(shrunk.fuzz_case.kernel, shrunk.fuzz_case.config,
                           fmt::format("seed_{}_kernel_{}", options_.seed, number),
                           shrunk.report.stage + ": " + shrunk.report.message));
    std::fflush(stdout);
  }

  const SessionOptions& options_;
  int to_;
  int failures_ = 0;
  Prober prober_;
};

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

class Session {
public:
  explicit Session(const SessionOptions& options) : options_(options) {}

  int run() {
    double start = now();
    double deadline = options_.seconds ? start + *options_.seconds : HUGE_VAL;
    int64_t end = options_.kernels ? options_.first + *options_.kernels : INT64_MAX;
    int64_t next = options_.first;
    while (next < end && now() < deadline && failures_ < options_.most_failures) {
      int64_t batch_end = end - next > kKernelsPerProcess ? next + kKernelsPerProcess : end;
      if (run_child([&](Worker& worker) { worker.run(next, batch_end, deadline); })) {
        next += batch_done_;
        continue;
      }
      int64_t culprit = next + batch_done_;
      if (failures_ >= options_.most_failures) break; // it was stopped
      if (culprit == batch_end || !in_kernel_) {      // not a kernel's fault
        fmt::print("a worker ended outside of any kernel\n");
        return 1;
      }
      run_child([&](Worker& worker) { worker.run_isolated_kernel(culprit); });
      ++kernels_;
      next = culprit + 1;
    }
    return report(now() - start);
  }

private:
  /// True where the child ended well.
  template <class Work> bool run_child(Work&& work) {
    std::fflush(stdout);
    int ends[2];
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      Worker worker(options_, ends[1]);
      work(worker);
      std::fflush(stdout);
      _exit(0);
    }
    close(ends[1]);
    batch_done_ = 0;
    in_kernel_ = false;
    listen(ends[0], child);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  void listen(int from, pid_t child) {
    std::string text;
    char buffer[65536];
    for (ssize_t count; (count = read(from, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, count);
      size_t begin = 0;
      for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        hear(text.substr(begin, end - begin));
      text.erase(0, begin);
      if (failures_ >= options_.most_failures && !in_kernel_) kill(child, SIGKILL);
    }
  }

  void hear(const std::string& line) {
    if (line.starts_with("begin ")) {
      in_kernel_ = true;
    } else if (line == "end") {
      in_kernel_ = false;
      ++batch_done_;
      ++kernels_;
    } else if (line == "failure") {
      ++failures_;
    } else {
      coverage_.add_line(line);
    }
  }

  int report(double seconds) {
    fmt::print("\n{}\n", coverage_.report());
    std::vector<std::string> unused = coverage_.unused();
    if (!unused.empty() && kernels_ >= kKernelsToUseAll) {
      fmt::print("not used:");
      for (const std::string& name : unused) fmt::print(" [{}]", name);
      fmt::print("\n");
    }
    fmt::print("{} kernels in {:.1f} s ({:.1f} a second), {} failed\n", kernels_, seconds,
               static_cast<double>(kernels_) / seconds, failures_);
    return failures_ > 0 || (kernels_ >= kKernelsToUseAll && !unused.empty()) ? 1 : 0;
  }

  const SessionOptions& options_;
  Coverage coverage_;
  int64_t kernels_ = 0, batch_done_ = 0;
  bool in_kernel_ = false;
  int failures_ = 0;
};

} // namespace

int run_session(const SessionOptions& options) { return Session(options).run(); }

} // namespace tilewright::fuzz
