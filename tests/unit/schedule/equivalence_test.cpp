// Every config of a kernel computes what the kernel says: the interpreter on tile IR against the interpreter on the
// programs that schedule() makes, bit for bit where nothing is rounded.
#include "config/config_point.h"
#include "config/random.h"
#include "ir/interpreter.h"
#include "schedule/host_plan.h"
#include "schedule/pinned_kernel.h"
#include "schedule/schedule.h"
#include "tilewright/array.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr int kConfigs = 60;
constexpr int64_t kWorkers = 3;

/// Arguments in order: arrays of small integers, numbers.
std::vector<InterpreterArgument> make_arguments(KernelOp kernel) {
  std::vector<InterpreterArgument> arguments;
  for (mlir::Type type : kernel.getArgumentTypes()) {
    if (auto array = mlir::dyn_cast<ArrayType>(type)) {
      arguments.push_back(
          Array::randint(-4, 5, array.sizes(), arguments.size() + 1, dtype_of_element(array.getElementType())));
    } else {
      arguments.push_back(2.0);
    }
  }
  return arguments;
}

std::vector<Array> run_kernel(KernelOp kernel, const std::vector<int64_t>& blocks) {
  return interpret_kernel(kernel, blocks, make_arguments(kernel));
}

/// What the kernel would give back, computed by a program.
std::vector<Array> run_program(KernelOp kernel, const Config& config) {
  std::vector<InterpreterArgument> arguments = make_arguments(kernel);
  HostPlan host = evaluate_host(kernel);
  const size_t own = arguments.size();
  for (const HostPlan::Allocation& allocation : host.allocations)
    arguments.push_back(Array::full(allocation.sizes_for({}), 1e30, allocation.dtype));
  auto module = schedule(kernel, config, test_limits());
  interpret_program(program_of(*module), arguments, kWorkers);
  std::vector<Array> results;
  for (const HostPlan::Returned& returned : host.returned)
    results.push_back(std::get<Array>(
        arguments[returned.kind == HostPlan::Returned::Kind::Argument ? returned.index : own + returned.index]));
  return results;
}

/// A config that a search would not propose: block sizes that divide nothing.
Config with_odd_blocks(Config config, Random& random) {
  if (!config.has("block_sizes")) return config;
  std::vector<int64_t> blocks = config.get_ints("block_sizes");
  for (int64_t& block : blocks) block = 1 + static_cast<int64_t>(random.below(12));
  return config.set("block_sizes", blocks);
}

class Equivalence : public testing::TestWithParam<size_t> {};

TEST_P(Equivalence, of_every_config_and_the_kernel) {
  const TestKernel& test = test_kernels()[GetParam()];
  for (const auto& shapes : test.shapes) {
    PinnedKernel pinned(test.text, shapes);
    ConfigSpec spec = pinned.spec();
    Random random(1);
    for (int i = 0; i < kConfigs; ++i) {
      Config config = i == 0 ? default_config(spec) : decode(spec, random_point(spec, random));
      if (i % 2 == 1) config = with_odd_blocks(config, random);
      // What a kernel computes may depend on its block sizes (tile.id), so both sides have the same.
      std::vector<int64_t> blocks;
      if (config.has("block_sizes")) blocks = config.get_ints("block_sizes");
      std::vector<Array> expected = run_kernel(pinned.kernel(), blocks);
      std::vector<Array> results = run_program(pinned.kernel(), config);
      ASSERT_EQ(results.size(), expected.size());
      for (size_t r = 0; r < results.size(); ++r)
        ASSERT_TRUE(test.rounds ? allclose(results[r], expected[r], 1e-5) : equal(results[r], expected[r]))
            << "result " << r << " with " << config << "\n"
            << results[r] << "\ninstead of\n"
            << expected[r];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Equivalence, testing::Range<size_t>(0, test_kernels().size()),
                         [](const auto& info) { return std::string(test_kernels()[info.param].name); });

} // namespace
} // namespace tilewright
