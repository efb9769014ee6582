// The examples on sizes that divide nothing: against their references in double precision, and the compiled code
// against the interpreter for some random configs.
#include "driver/oracle.h"

#include "driver/command_line/check_results.h"
#include "driver/prepared_call.h"
#include "tilewright/registry.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tw = tilewright;

namespace {

struct Case {
  std::string kernel;
  std::vector<std::pair<std::string, int64_t>> sizes;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.kernel;
  for (const auto& [name, size] : one.sizes) *out << " " << name << "=" << size;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"add", {{"n", 131}}},
      {"alibi_attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"causal_attention", {{"h", 3}, {"n", 45}, {"d", 19}}},
      {"causal_attention", {{"h", 1}, {"n", 1}, {"d", 1}}},
      {"cross_entropy", {{"m", 13}, {"n", 45}}},
      {"cross_entropy_backward", {{"m", 13}, {"n", 45}}},
      {"dropout", {{"m", 13}, {"n", 45}}},
      {"embedding", {{"n", 21}, {"rows", 33}, {"d", 19}}},
      {"geglu", {{"m", 13}, {"n", 45}}},
      {"grouped_matmul", {{"rows", 41}, {"k", 19}, {"groups", 5}, {"n", 23}, {"ends", 6}}},
      {"int4_matmul", {{"m", 7}, {"pairs", 19}, {"n", 21}}},
      {"int4_word_matmul", {{"m", 7}, {"words", 5}, {"n", 21}}},
      {"jagged_dense_add", {{"rows", 41}, {"d", 19}, {"ends", 8}, {"groups", 7}, {"length", 5}}},
      {"jagged_mean", {{"rows", 41}, {"d", 19}, {"ends", 8}}},
      {"jagged_softmax", {{"rows", 41}, {"d", 19}, {"ends", 8}}},
      {"js_divergence", {{"m", 13}, {"n", 45}}},
      {"kl_divergence", {{"m", 13}, {"n", 45}}},
      {"layer_norm", {{"m", 13}, {"n", 45}}},
      {"layer_norm_backward", {{"m", 13}, {"n", 45}}},
      {"linear", {{"m", 13}, {"n", 45}, {"k", 29}}},
      {"linear_attention", {{"h", 3}, {"t", 77}, {"dk", 11}, {"dv", 13}}},
      {"matmul", {{"m", 13}, {"n", 45}, {"k", 29}}},
      {"moe_matmul", {{"tokens", 41}, {"k", 19}, {"experts", 5}, {"n", 23}, {"ends", 6}}},
      {"rms_norm", {{"m", 13}, {"n", 45}}},
      {"rms_norm_backward", {{"m", 13}, {"n", 45}}},
      {"rope", {{"h", 3}, {"t", 13}, {"d", 22}, {"half", 11}}},
      {"segmented_sum", {{"rows", 77}, {"d", 13}, {"segments", 9}}},
      {"silu_and_multiply", {{"m", 13}, {"n2", 38}}},
      {"soft_cap_attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"softmax", {{"m", 13}, {"n", 45}}},
      {"split_k", {{"m", 13}, {"n", 21}, {"k", 45}}},
      {"split_k", {{"m", 13}, {"n", 21}, {"k", 3}}},
      {"split_k_atomic", {{"m", 13}, {"n", 21}, {"k", 45}}},
      {"welford_loop", {{"m", 13}, {"n", 45}}},
      {"welford_reduction", {{"m", 13}, {"n", 45}}},
  };
  return all;
}

tw::Instance instance_of(const Case& one, tw::DType dtype) {
  tw::Instance instance = tw::find_registered_kernel(one.kernel)->default_instance();
  for (const auto& [name, size] : one.sizes) instance.set(name, size);
  instance.set_dtype(dtype);
  return instance;
}

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
