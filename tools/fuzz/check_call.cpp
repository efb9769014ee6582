#include "fuzz/check_call.h"

#include "fuzz/captured_output.h"
#include "fuzz/guarded_memory.h"

#include "config/normalise.h"
#include "config/random.h"
#include "driver/compile_context.h"
#include "driver/pipeline.h"
#include "frontend/traced_kernel.h"
#include "ir/interpreter.h"
#include "schedule/cut_blocks.h"
#include "schedule/schedule.h"

#include "llvm/ADT/SmallString.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tilewright::fuzz {

/// What the first run gave: the arguments after it, then the allocations, each with its bounds.
struct CallChecker::Expected {
  std::vector<InterpreterArgument> arguments;
  std::vector<Array> allocations;
  ErrorBounds bounds;
  std::vector<std::string> printed; // sorted
};

CallChecker::CallChecker(const KernelDefinition& definition, const detail::Call& call)
    : CallChecker(specialise(definition, call), call) {}

CallChecker::CallChecker(const Specialisation& specialisation, const detail::Call& call)
    : specialisation_(specialisation), arguments_(specialisation_, call) {
  for (const Specialisation::Parameter& parameter : specialisation_.parameters)
    arrays_.push_back(parameter.is_array ? specialisation_.array_of(parameter, call) : Array());
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string index_text(const Array& array, int64_t number) {
  std::vector<int64_t> index(array.rank());
  for (int dim = array.rank() - 1; dim >= 0; --dim) {
    index[dim] = number % array.size(dim);
    number /= array.size(dim);
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

static bool agree(double a, double b, double bound) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= bound;
}

static bool same_bits(const Array& a, const Array& b) {
  Array x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data(), y.data(), x.numel() * size_in_bytes(x.dtype())) == 0;
}

// Empty where all elements agree.
static std::string difference(const Array& found, const Array& expected, const std::vector<double>& bounds,
                              CheckReport& report) {
  int64_t wrong = 0, first = -1;
  std::string text;
  auto compare = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> a = found.to_vector<T>(), b = expected.to_vector<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      ++report.elements;
      report.exact += bounds[i] == 0;
      if (bounds[i] == HUGE_VAL) {
        ++report.incomparable;
        continue;
      }
      bool right = a[i] == b[i];
      if constexpr (std::is_same_v<T, double>) right = agree(a[i], b[i], bounds[i]);
      if (right) continue;
      if (++wrong > 1) continue;
      first = static_cast<int64_t>(i);
      text =
          fmt::format("element {} is {}, expected {} within {:.3g}", index_text(found, first), a[i], b[i], bounds[i]);
    }
  };
  if (is_floating_point(found.dtype()))
    compare(0.0);
  else
    compare(int64_t(0));
  return wrong == 0 ? "" : fmt::format("{} ({} of {} elements are wrong)", text, wrong, found.numel());
}

static void fail_check(CheckReport& report, const char* stage, std::string message) {
  report.outcome = CheckReport::Outcome::failed;
  report.stage = stage;
  report.message = std::move(message);
}

// What the interpreter says where a result has no defined number.
static bool is_undefined(const Error& error) {
  std::string_view what = error.what();
  return what.find("no defined number") != what.npos || what.find("undefined number") != what.npos;
}

//===----------------------------------------------------------------------===//
// The three runs
//===----------------------------------------------------------------------===//

// What no store reaches must stay as it is.
static Array allocation(const HostPlan::Allocation& allocation, std::span<const int64_t> sizes) {
  Number unset = allocation.dtype == boolean ? 1 : 77;
  return Array::full(IndexList(allocation.sizes_for(sizes)), allocation.fill.value_or(unset), allocation.dtype);
}

static std::vector<int64_t> block_sizes(const Config& config) {
  return config.has("block_sizes") ? config.get_ints("block_sizes") : std::vector<int64_t>();
}

void CallChecker::interpret(KernelOp kernel, const Config& config, Expected& expected) const {
  ProgramArguments work = arguments_.copy();
  expected.arguments = work.interpreter_arguments();
  expected.arguments.resize(specialisation_.parameters.size());
  for (const HostPlan::Allocation& each : specialisation_.host.allocations)
    expected.allocations.push_back(allocation(each, arguments_.sizes()));
  // Of blocks that are cut to what they walk, a kernel sees the size they are cut to.
  llvm::SmallVector<int64_t> blocks =
      cut_blocks(kernel, block_sizes(config), limits_of(cpu::host_target()).pads_extents);
  CapturedOutput output;
  interpret_kernel(kernel, blocks, expected.arguments, expected.allocations, &expected.bounds);
  expected.printed = output.lines();
}

// Empty where both printed the same.
static std::string difference(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  if (found == expected) return "";
  auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  auto text = [](const std::vector<std::string>& lines, auto at) { return at == lines.end() ? "no more" : *at; };
  return fmt::format("printed {} lines, expected {}: the first that differs in order is \"{}\", expected \"{}\"",
                     found.size(), expected.size(), text(found, a), text(expected, b));
}

void CallChecker::check_program(KernelOp kernel, const Config& config, const Expected& expected,
                                CheckReport& report) const {
  auto module = schedule(kernel, config, limits_of(cpu::host_target()));
  ProgramArguments work = arguments_.copy();
  std::vector<InterpreterArgument> arguments = work.interpreter_arguments();
  size_t parameters = specialisation_.parameters.size();
  for (size_t i = parameters; i < arguments.size(); ++i)
    arguments[i] = allocation(specialisation_.host.allocations[i - parameters], arguments_.sizes());
  CapturedOutput output;
  interpret_program(program_of(*module), arguments, 3);
  if (std::string text = difference(output.lines(), expected.printed); !text.empty())
    return fail_check(report, "program", text);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Array* found = std::get_if<Array>(&arguments[i]);
    if (!found) continue;
    bool given = i < parameters;
    std::string text =
        difference(*found, given ? std::get<Array>(expected.arguments[i]) : expected.allocations[i - parameters],
                   given ? expected.bounds.arguments[i] : expected.bounds.allocations[i - parameters], report);
    if (text.empty()) continue;
    std::string name = given ? specialisation_.parameters[i].name : fmt::format("result {}", i - parameters);
    return fail_check(report, "program", fmt::format("{}: {}", name, text));
  }
}

// All programs of each phase in some order, a few at a time.
static void run_programs(const LaunchPlan& plan, void* const* arguments, void* scratch, uint64_t seed) {
  constexpr int64_t kWorkers = 3;
  int64_t count = plan.persistent ? kWorkers : plan.program_count, phase_begin = 0;
  Random random(seed);
  for (int64_t phase : plan.phases.empty() ? std::vector<int64_t>{count} : plan.phases) {
    std::vector<std::pair<int64_t, int64_t>> chunks;
    for (int64_t begin = phase_begin; begin < phase_begin + phase;) {
      int64_t most = plan.persistent ? 1 : 1 + static_cast<int64_t>(random.below(4));
      int64_t end = std::min<int64_t>(phase_begin + phase, begin + most);
      chunks.push_back({begin, end});
      begin = end;
    }
    for (size_t i = chunks.size(); i > 1; --i) std::swap(chunks[i - 1], chunks[random.below(i)]);
    for (auto [begin, end] : chunks) plan.function(arguments, begin, end, count, scratch, plan.table);
    phase_begin += phase;
  }
}

void CallChecker::check_code(KernelOp kernel, const Config& config, const Expected& expected, uint64_t seed,
                             CheckReport& report) const {
  CompiledKernel compiled = compile_kernel(kernel, config, cpu::host_target());
  const LaunchPlan plan = plan_for_sizes(std::move(compiled.plan), arguments_.sizes());
  size_t parameters = specialisation_.parameters.size();
  std::vector<Array> first_results;
  for (Guard guard : {Guard::after, Guard::before}) {
    std::vector<std::unique_ptr<GuardedArray>> arrays;
    std::vector<void*> pointers(arguments_.pointers(), arguments_.pointers() + parameters);
    for (size_t i = 0; i < parameters; ++i) {
      arrays.push_back(nullptr);
      if (!specialisation_.parameters[i].is_array) continue;
      arrays[i] = std::make_unique<GuardedArray>(arrays_[i], assumed_alignment(arrays_[i]), guard,
                                                 specialisation_.parameters[i].name);
      pointers[i] = arrays[i]->array().data();
    }
    for (const HostPlan::Allocation& each : specialisation_.host.allocations) {
      std::string name = fmt::format("result {}", arrays.size() - parameters);
      arrays.push_back(std::make_unique<GuardedArray>(allocation(each, arguments_.sizes()), 64, guard, name));
      pointers.push_back(arrays.back()->array().data());
    }
    // Sizes and strides, which are those of the call.
    for (size_t i = 0; i < specialisation_.run_time_numbers.size(); ++i)
      pointers.push_back(arguments_.pointers()[arrays.size() + i]);
    GuardedMemory scratch(plan.scratch_bytes, 64, guard);
    std::fill(scratch.begin(), scratch.end(), std::byte{0xff});

    auto where = [&](const void* address) -> std::string {
      for (const auto& array : arrays)
        if (std::string text = array ? array->describe(address) : ""; !text.empty()) return "to " + text;
      std::string text = scratch.describe(address);
      return text.empty() ? fmt::format("at {}", address) : "to the scratch memory, " + text;
    };
    CapturedOutput output;
    std::string stopped = run_generated([&] { run_programs(plan, pointers.data(), scratch.data(), seed); }, where);
    if (!stopped.empty()) return fail_check(report, "run", stopped);
    if (std::string text = difference(output.lines(), expected.printed); !text.empty())
      return fail_check(report, "run", text);

    for (auto* at = scratch.begin(); at != scratch.end(); ++at)
      if (*at != std::byte{0xff} && (at < scratch.data() || at >= scratch.data() + scratch.size()))
        return fail_check(report, "memory", "the scratch memory was overwritten " + scratch.describe(at));
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (!arrays[i]) continue;
      bool given = i < parameters, written = !given || specialisation_.parameters[i].is_written;
      if (std::string text = arrays[i]->damage(written); !text.empty()) return fail_check(report, "memory", text);
      if (!written) continue;
      const Array& found = arrays[i]->array();
      std::string name = given ? specialisation_.parameters[i].name : fmt::format("result {}", i - parameters);
      if (guard == Guard::before) { // the same code on the same numbers
        if (!same_bits(found, first_results.front()))
          return fail_check(report, "run", name + " differs from one run to the next");
        first_results.erase(first_results.begin());
        continue;
      }
      first_results.push_back(found.clone());
      std::string text =
          difference(found, given ? std::get<Array>(expected.arguments[i]) : expected.allocations[i - parameters],
                     given ? expected.bounds.arguments[i] : expected.bounds.allocations[i - parameters], report);
      if (!text.empty()) return fail_check(report, "run", fmt::format("{}: {}", name, text));
    }
  }
}

CheckReport CallChecker::check(const Config& config, uint64_t seed) const {
  CheckReport report;
  const char* stage = "interpreter";
  try {
    with_kernel(specialisation_.tile_ir, [&](KernelOp kernel) {
      Expected expected;
      interpret(kernel, config, expected);
      stage = "program";
      check_program(kernel, config, expected, report);
      if (report.outcome == CheckReport::Outcome::failed) return;
      stage = "compile";
      check_code(kernel, config, expected, seed, report);
    });
  } catch (const Error& error) {
    fail_check(report, stage, error.what());
    if (is_undefined(error)) report.outcome = CheckReport::Outcome::not_defined;
  }
  return report;
}

bool serves_too(const Specialisation& specialisation, const detail::Call& recorded, const detail::Call& other) {
  llvm::SmallString<256> first, second;
  append_specialization_key(recorded.arguments, /*static_shapes=*/false, first);
  append_specialization_key(other.arguments, /*static_shapes=*/false, second);
  llvm::SmallVector<int64_t> sizes;
  append_sizes(other.arguments, sizes);
  return first == second && serves(specialisation, sizes);
}

Settings run_time_sizes() {
  Settings settings;
  settings.static_shapes = false;
  return settings;
}

static std::string check(const CallChecker& checker, const Config& config) {
  Config complete = normalise(checker.specialisation().spec, config).config;
  CheckReport report = checker.check(complete, 1);
  if (report.outcome == CheckReport::Outcome::agreed) return "";
  return report.stage + ": " + report.message;
}

std::string check(const BoundCall& call, const Config& config) {
  return check(CallChecker(call.core().definition(), call.call()), config);
}

std::string check_other(const BoundCall& recorded, const BoundCall& other, const Config& config) {
  CallChecker first(recorded.core().definition(), recorded.call());
  if (!serves_too(first.specialisation(), recorded.call(), other.call())) return "";
  return check(CallChecker(first.specialisation(), other.call()), config);
}

} // namespace tilewright::fuzz
