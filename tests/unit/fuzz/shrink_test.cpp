// The shrinker, on failures that are made up.
#include "fuzz/forms.h"
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/shrink.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::fuzz;

namespace {

int64_t count(const FuzzKernel& kernel, std::string_view form) {
  int64_t found = 0;
  for_each_statement(kernel.body, [&](const Statement& statement) { found += statement.form->name == form; });
  return found;
}

/// A kernel that fails whenever `fails` says so, and really runs.
CheckReport run_with(const FuzzCase& fuzz_case, const std::function<bool(const FuzzCase&)>& fails) {
  CheckReport report = run_case(fuzz_case);
  if (report.outcome == CheckReport::Outcome::agreed && fails(fuzz_case)) {
    report.outcome = CheckReport::Outcome::failed;
    report.stage = "run";
  }
  return report;
}

} // namespace

TEST(shrinker, leaves_only_what_fails) {
  Prober prober;
  auto fails = [](const FuzzCase& c) { return count(c.kernel, "sum") > 0; };
  int shrunk_kernels = 0;
  for (uint64_t seed = 100; seed < 300 && shrunk_kernels < 3; ++seed) {
    FuzzKernel kernel = Generator(seed, prober).generate();
    if (count(kernel, "sum") == 0) continue;
    std::optional<FuzzCase> failing = with_default_config(kernel);
    ASSERT_TRUE(failing);
    CheckReport report = run_with(*failing, fails);
    if (report.outcome != CheckReport::Outcome::failed) continue;
    ShrunkCase shrunk = shrink(*failing, report, [&](const FuzzCase& c) { return run_with(c, fails); });
    ++shrunk_kernels;
    const FuzzKernel& small = shrunk.fuzz_case.kernel;
    EXPECT_EQ(count(small, "sum"), 1);
    int64_t statements = 0;
    for_each_statement(small.body, [&](const Statement&) { ++statements; });
    EXPECT_LE(statements, 8) << Printer(small).kernel_text();
    for (size_t i = 0; i < small.extents.size(); ++i)
      EXPECT_TRUE(is_derived(small, static_cast<int>(i)) || small.extents[i] <= 1) << small.extents[i];
  }
  EXPECT_EQ(shrunk_kernels, 3);
}

TEST(shrinker, keeps_the_config_option_that_matters) {
  Prober prober;
  auto fails = [](const FuzzCase& c) {
    const ConfigValue* type = c.config.find("pid_type");
    return type && type->as_string() == "persistent_blocked";
  };
  FuzzKernel kernel = Generator(11, prober).generate();
  std::optional<FuzzCase> failing = with_default_config(kernel);
  ASSERT_TRUE(failing);
  failing->config.set("pid_type", "persistent_blocked");
  CheckReport report = run_with(*failing, fails);
  ASSERT_EQ(report.outcome, CheckReport::Outcome::failed);
  ShrunkCase shrunk = shrink(*failing, report, [&](const FuzzCase& c) { return run_with(c, fails); });
  EXPECT_EQ(shrunk.fuzz_case.config.get_string("pid_type"), "persistent_blocked");
}
