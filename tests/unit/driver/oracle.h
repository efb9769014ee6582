// Runs a kernel call through the CPU backend and through the interpreter, and compares.
#pragma once

#include "autotune/random_search.h"
#include "config/config_spec.h"
#include "driver/arguments.h"
#include "driver/compile_context.h"
#include "driver/in_process_runner.h"
#include "driver/pipeline.h"
#include "driver/specialisation.h"
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
      : call_(std::move(call)), specialisation_(specialise(call_.core().definition(), call_.call())),
        arguments_(specialisation_, call_.call()) {}

  const Specialisation& specialisation() const { return specialisation_; }

  /// What the CPU backend writes with a config.
  std::vector<Array> run(const Config& config) const {
    ProgramArguments work = arguments_.copy();
    CompiledKernel compiled = compile_config(specialisation_.tile_ir, config);
    launch(compiled.plan, work.pointers());
    return work.written();
  }

  /// What the interpreter makes of the program that a config gives: the oracle.
  std::vector<Array> interpret(const Config& config) const {
    ProgramArguments work = arguments_.copy();
    with_kernel(specialisation_.tile_ir, [&](KernelOp kernel) {
      auto module = schedule(kernel, config, limits_of(cpu::host_target()));
      interpret_program(program_of(*module), work.interpreter_arguments(), 3);
    });
    return work.written();
  }

  std::string stage(const Config& config, Stage stage) const {
    std::string text;
    with_kernel(specialisation_.tile_ir,
                [&](KernelOp kernel) { text = stage_text(kernel, config, cpu::host_target(), stage); });
    return text;
  }

  Config default_config() const { return tilewright::default_config(specialisation_.spec); }
  std::vector<Config> configs(size_t count, uint64_t seed = 1) const {
    return random_configs(specialisation_.spec, count, seed);
  }

private:
  BoundCall call_;
  Specialisation specialisation_;
  ProgramArguments arguments_;
};

/// The CPU backend agrees with the oracle for the default config and `count` random ones. The oracle rounds each op, so
/// results agree up to the rounding of sums.
inline void expect_agrees_with_oracle(const BoundCall& call, size_t count, int64_t terms) {
  CallUnderTest test(call);
  std::vector<Config> configs = test.configs(count);
  configs.push_back(test.default_config());
  for (const Config& config : configs) {
    SCOPED_TRACE(test.specialisation().description + " " + config.to_json());
    std::vector<Array> expected = test.interpret(config), found = test.run(config);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].numel() == 0) continue;
      if (!is_floating_point(found[i].dtype()))
        EXPECT_TRUE(equal(found[i], expected[i]));
      else
        EXPECT_LE(max_relative_error(found[i], expected[i]), tolerance(found[i].dtype(), terms));
    }
    if (testing::Test::HasFailure()) return; // one config tells enough
  }
}

} // namespace tilewright::test
