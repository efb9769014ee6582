// The examples on sizes that divide nothing: against their references in double precision, and the compiled code
// against the interpreter for some random configs.
#include "driver/oracle.h"
#include "examples/small_cases.h"

#include "driver/command_line/check_results.h"
#include "driver/prepared_call.h"
#include "tilewright/registry.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tw = tilewright;

namespace {

using tw::test::Case;
using tw::test::cases;
using tw::test::instance_of;

TEST(Examples, each_has_a_case_here) {
  for (const tw::RegisteredKernel* kernel : tw::registered_kernels()) {
    auto is_of_kernel = [&](const Case& one) { return one.kernel == kernel->name; };
    bool is_spelt_out = kernel->name == "softmax_steps" || kernel->name == "softmax_online"; // tests/unit/driver
    EXPECT_TRUE(is_spelt_out || std::any_of(cases().begin(), cases().end(), is_of_kernel)) << kernel->name;
  }
}

class Example : public testing::TestWithParam<Case> {
protected:
  const tw::RegisteredKernel& kernel() const { return *tw::find_registered_kernel(GetParam().kernel); }
};

TEST_P(Example, agrees_with_its_reference) {
  for (tw::DType dtype : kernel().dtypes) {
    SCOPED_TRACE(tw::name(dtype));
    std::vector<tw::AnyArgument> arguments = kernel().make_arguments(instance_of(GetParam(), dtype));
    kernel().check_arguments(arguments);
    std::vector<tw::Array> expected = tw::reference_results(kernel(), arguments);
    tw::PreparedCall call(kernel().bind(arguments));
    tw::ReadyLaunch launch = call.ready(call.complete({}));
    launch.run();
    tw::ResultCheck check = tw::check_results(kernel(), dtype, arguments, launch.results, expected);
    EXPECT_LE(check.error, check.allowed);
  }
}

TEST_P(Example, agrees_with_the_oracle) {
  std::vector<tw::AnyArgument> arguments = kernel().make_arguments(instance_of(GetParam(), kernel().dtypes[0]), 1);
  tw::test::expect_agrees_with_oracle(kernel().bind(arguments), 3, 64);
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(cases()), [](const testing::TestParamInfo<Case>& info) {
  return info.param.kernel + "_" + std::to_string(info.index);
});

} // namespace
