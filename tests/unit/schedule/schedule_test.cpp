// schedule() as its callers see it.
#include "schedule/schedule.h"

#include "config/config_point.h"
#include "ir/context.h"
#include "schedule/pinned_kernel.h"
#include "support/error_of.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

PinnedKernel matmul() { return PinnedKernel(test_kernel("matmul").text, {{1000, 512}, {512, 300}}); }

TEST(Schedule, leaves_the_kernel_as_it_is) {
  PinnedKernel pinned = matmul();
  std::string before = to_text(pinned.kernel());
  pinned.program_text({{"loop_orders", ConfigValue::List{{1, 0}}}, {"range_unroll_factors", {2}}});
  EXPECT_EQ(to_text(pinned.kernel()), before);
}

TEST(Schedule, makes_the_same_text_each_time) {
  PinnedKernel pinned = matmul();
  Config config{{"block_sizes", {17, 33, 65}}, {"pid_type", "persistent_blocked"}, {"l2_groupings", {4}}};
  EXPECT_EQ(pinned.program_text(config), pinned.program_text(config));
  EXPECT_EQ(pinned.program_text(config), matmul().program_text(config));
}

TEST(Schedule, gives_the_program_the_kernels_arguments_and_its_allocations) {
  PinnedKernel pinned = matmul();
  auto module = schedule(pinned.kernel(), default_config(pinned.spec()), test_limits());
  ProgramOp program = program_of(*module);
  EXPECT_EQ(program.getSymName(), "kernel");
  ASSERT_EQ(program.getArgumentTypes().size(), 3u);
  EXPECT_EQ(program.argument_name(0), "x");
  EXPECT_EQ(program.argument_name(1), "y");
  EXPECT_EQ(program.argument_name(2), "");
  EXPECT_EQ(mlir::cast<ArrayType>(program.getArgumentTypes()[2]).sizes(), (llvm::SmallVector<int64_t>{1000, 300}));
  EXPECT_EQ(program.getPrograms(), 33u);
}

TEST(Schedule, needs_no_bounds_where_blocks_divide) {
  PinnedKernel pinned(test_kernel("matmul").text, {{256, 512}, {512, 256}});
  std::string text = pinned.program_text({{"block_sizes", {64, 64, 64}}});
  EXPECT_EQ(text.find("valid"), std::string::npos) << text;
  EXPECT_EQ(text.find("minsi"), std::string::npos) << text;
}

TEST(Schedule, keeps_one_bound_for_each_tile) {
  std::string text = matmul().program_text({{"block_sizes", {64, 64, 48}}});
  size_t bounds = 0;
  for (size_t at = text.find("minsi"); at != std::string::npos; at = text.find("minsi", at + 1)) ++bounds;
  EXPECT_EQ(bounds, 3u) << text; // rows, columns, and in the loop the sum
}

TEST(Schedule, names_what_it_does_not_have) {
  PinnedKernel pinned = matmul();
  auto run = [&](const char* option, ConfigValue value) {
    Config config = default_config(pinned.spec());
    schedule(pinned.kernel(), config.set(option, std::move(value)), test_limits());
  };
  EXPECT_EQ(error_of([&] { run("pid_type", "diagonal"); }), "there is no pid_type 'diagonal'");
  EXPECT_EQ(error_of([&] { run("block_sizes", {64, 64}); }), "has 3 block ids, 2 block sizes are given");
  EXPECT_EQ(error_of([&] { run("block_sizes", {64, 64, 0}); }), "cannot have a block of size 0");
  EXPECT_EQ(error_of([&] { run("l2_groupings", {0}); }), "cannot have a group of 0");
  EXPECT_EQ(error_of([&] { run("range_unroll_factors", {0}); }), "cannot be unrolled by 0");
  EXPECT_EQ(error_of([&] { run("loop_orders", ConfigValue::List{{0, 0}}); }),
            "loop order is no permutation of 2 dimensions");
}

} // namespace
} // namespace tilewright
