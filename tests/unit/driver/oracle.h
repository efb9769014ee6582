// Runs a kernel call through the CPU backend and through the interpreter, and compares.
#pragma once

#include "autotune/random_search.h"
#include "config/config_spec.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/in_process_runner.h"
#include "driver/pipeline.h"
#include "driver/variants.h"
#include "ir/interpreter.h"
#include "schedule/schedule.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright::test {

/// A call's specialisation, and its results for any config.
class CallUnderTest {
public:
  explicit CallUnderTest(BoundCall call)
      : call_(std::move(call)), variants_(std::make_unique<Variants>(call_.core().definition(), call_.call())) {}

  const Specialisation& specialisation() const { return variants_->base(); }

  /// What the CPU backend writes with a config.
  std::vector<Array> run(const Config& config) const {
    Variants::Choice choice = variants_->fit(config);
    ProgramArguments work = ProgramArguments(*choice.specialisation, call_.call()).copy();
    CompiledKernel compiled = compile_config(choice.specialisation->tile_ir, choice.config);
    launch(compiled.plan, work.sizes(), work.pointers());
    return work.written();
  }

  /// The same for a CPU that is not quite this one; this one must be able to run its code.
  std::vector<Array> run_on(const cpu::CpuTarget& target, const Config& config) const {
    Variants::Choice choice = variants_->fit(config);
    ProgramArguments work = ProgramArguments(*choice.specialisation, call_.call()).copy();
    with_kernel(choice.specialisation->tile_ir, [&](KernelOp kernel) {
      CompiledKernel compiled = compile_kernel(kernel, choice.config, target);
      launch(compiled.plan, work.sizes(), work.pointers());
    });
    return work.written();
  }

  /// What the interpreter makes of the program that a config gives: the oracle.
  std::vector<Array> interpret(const Config& config) const {
    Variants::Choice choice = variants_->fit(config);
    ProgramArguments work = ProgramArguments(*choice.specialisation, call_.call()).copy();
    with_kernel(choice.specialisation->tile_ir, [&](KernelOp kernel) {
      auto module = schedule(kernel, choice.config, limits_of(cpu::host_target()));
      interpret_program(program_of(*module), work.interpreter_arguments(), 3);
    });
    return work.written();
  }

  /// What the interpreter makes of the kernel itself, for the block sizes of a config: the oracle of scheduling.
  std::vector<Array> interpret_kernel(const Config& config) const {
    Variants::Choice choice = variants_->fit(config);
    ProgramArguments work = ProgramArguments(*choice.specialisation, call_.call()).copy();
    with_kernel(choice.specialisation->tile_ir, [&](KernelOp kernel) {
      std::vector<int64_t> blocks;
      if (choice.config.has("block_sizes")) blocks = choice.config.get_ints("block_sizes");
      std::vector<InterpreterArgument> all = work.interpreter_arguments();
      auto allocations = all.begin() + kernel.getNumArguments();
      std::vector<Array> made;
      for (auto each = allocations; each != all.end(); ++each) made.push_back(std::get<Array>(*each));
      tilewright::interpret_kernel(kernel, blocks, std::vector<InterpreterArgument>(all.begin(), allocations), made);
    });
    return work.written();
  }

  std::string stage(const Config& config, Stage stage) const {
    std::string text;
    Variants::Choice choice = variants_->fit(config);
    with_kernel(choice.specialisation->tile_ir,
                [&](KernelOp kernel) { text = stage_text(kernel, choice.config, cpu::host_target(), stage); });
    return text;
  }

  Config default_config() const { return tilewright::default_config(specialisation().spec); }
  std::vector<Config> configs(size_t count, uint64_t seed = 1) const {
    return random_configs(specialisation().spec, count, seed);
  }

private:
  BoundCall call_;
  std::unique_ptr<Variants> variants_; // refer to the call
};

inline void expect_agrees(const std::vector<Array>& found, const std::vector<Array>& expected, int64_t terms) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].numel() == 0) continue;
    if (!is_floating_point(found[i].dtype()))
      EXPECT_TRUE(equal(found[i], expected[i]));
    else
      EXPECT_LE(max_relative_error(found[i], expected[i]), tolerance(found[i].dtype(), terms));
  }
}

/// The CPU backend agrees with the program's interpreter, and that with the kernel's, for the default config and
/// `count` random ones. The interpreter rounds each op, so results agree up to the rounding of sums.
inline void expect_agrees_with_oracle(const BoundCall& call, size_t count, int64_t terms) {
  CallUnderTest test(call);
  std::vector<Config> configs = test.configs(count);
  configs.push_back(test.default_config());
  for (const Config& config : configs) {
    SCOPED_TRACE(test.specialisation().description + " " + config.to_json());
    std::vector<Array> expected = test.interpret(config);
    {
      SCOPED_TRACE("the program against the kernel");
      expect_agrees(expected, test.interpret_kernel(config), terms);
    }
    expect_agrees(test.run(config), expected, terms);
    if (testing::Test::HasFailure()) return; // one config tells enough
  }
}

} // namespace tilewright::test
