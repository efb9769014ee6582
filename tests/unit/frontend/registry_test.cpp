// What programs register for the command line.
#include "tracing.h"

#include "tilewright/registry.h"

#include <algorithm>

namespace tw = tilewright;
using namespace tw::testing;

namespace {

const auto scaled =
    tw::kernel("registry_test_scaled", {"x", "w", "s"}, [](tw::Tensor x, tw::Tensor w, tw::Scalar<float> s) {
      auto [m, n] = x.sizes<2>();
      for (auto tile : tw::tile(m)) x[tile, tw::_] = x[tile, tw::_] * w[tw::_] * s;
    });

TILEWRIGHT_REGISTER(scaled) = {
    .summary = "scales",
    .arguments = {"x: T[m, n]", "w: float32[n]", "s: float32 = 0.5"},
    .dtypes = {tw::float32, tw::bfloat16},
    .cases = {{"small", {{"m", 8}, {"n", 4}}}, {"large", {{"m", 80}, {"n", 40}}}},
};

TEST(Registry, finds_kernels_by_name) {
  const tw::RegisteredKernel* found = tw::find_registered_kernel("registry_test_scaled");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->summary, "scales");
  EXPECT_EQ(tw::find_registered_kernel("no such kernel"), nullptr);
  std::vector<const tw::RegisteredKernel*> all = tw::registered_kernels();
  EXPECT_NE(std::find(all.begin(), all.end(), found), all.end());
}

TEST(Registry, makes_arguments_for_an_instance) {
  const tw::RegisteredKernel& kernel = *tw::find_registered_kernel("registry_test_scaled");
  tw::Instance instance = kernel.default_instance();
  EXPECT_EQ(instance["m"], 8);
  instance.set("m", 16);
  instance.set_dtype(tw::bfloat16);
  std::vector<tw::AnyArgument> made = kernel.make_arguments(instance, 1);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].array().dtype(), tw::bfloat16);
  EXPECT_EQ(made[0].array().sizes(), (tw::IndexList{16, 4}));
  EXPECT_EQ(made[1].array().dtype(), tw::float32);
  EXPECT_EQ(made[2].number().real(), 0.5);
  EXPECT_TRUE(tw::equal(made[0].array(), kernel.make_arguments(instance, 1)[0].array()));
  EXPECT_FALSE(tw::equal(made[0].array(), kernel.make_arguments(instance, 2)[0].array()));
  kernel.check_arguments(made);
  EXPECT_TRUE(holds(tw::trace_to_text(kernel.bind(made)), {"!tile.array<bf16, [s0, s1]>"}));
}

TEST(Registry, checks_arguments) {
  const tw::RegisteredKernel& kernel = *tw::find_registered_kernel("registry_test_scaled");
  auto message = [&](std::vector<tw::AnyArgument> arguments) {
    return error_of([&] { kernel.check_arguments(arguments); }).message;
  };
  auto array = [](tw::IndexList sizes, tw::DType dtype = tw::float32) { return tw::Array::empty(sizes, dtype); };
  EXPECT_EQ(message({array({8, 4})}), "kernel registry_test_scaled takes 3 arguments, found 1");
  EXPECT_EQ(message({array({8, 4}), 1.0, 1.0}), "w of kernel registry_test_scaled is an array, found a number");
  EXPECT_EQ(message({array({8, 4}), array({4}, tw::int32), 1.0}),
            "w of kernel registry_test_scaled is float32, found int32");
  EXPECT_EQ(message({array({8, 4}, tw::int32), array({4}), 1.0}),
            "x of kernel registry_test_scaled is int32, which it does not take");
  EXPECT_EQ(message({array({8}), array({4}), 1.0}), "x of kernel registry_test_scaled has rank 2, found 1");
  EXPECT_EQ(message({array({8, 4}), array({5}), 1.0}),
            "w of kernel registry_test_scaled has size 5 in dimension 0, where n is 4");
}

TEST(Registry, refuses_what_it_cannot_understand) {
  auto message = [](const char* text) { return error_of([&] { tw::ArgumentSpec::parse(text); }).message; };
  std::string cure = "; write \"x: float32[m, k]\", \"x: T[m]\" or \"scale: float32 = 0.5\"";
  EXPECT_EQ(message("x"), "argument \"x\": there is no \":\" after its name" + cure);
  EXPECT_EQ(message("x: float31[m]"), "argument \"x: float31[m]\": \"float31\" is no dtype" + cure);
  EXPECT_EQ(message("x: float32"),
            "argument \"x: float32\": an array has sizes in [], and a number a value after =" + cure);
  EXPECT_EQ(message("x: T[m"), "argument \"x: T[m\": its sizes do not end with ]" + cure);
  EXPECT_EQ(message("x: T[m,,n]"), "argument \"x: T[m,,n]\": a size is missing" + cure);
  EXPECT_EQ(message("x: float32 = two"), "argument \"x: float32 = two\": \"two\" is no number" + cure);
  tw::Instance instance({{"m", 1}, {"n", 2}}, tw::float32);
  EXPECT_EQ(error_of([&] { instance.set("k", 3); }).message, "there is no size k; there are m, n");
  EXPECT_EQ(error_of([&] { instance.set("m", -3); }).message, "size m cannot be -3");
  tw::RegisteredKernel missing{.name = "missing", .arguments = {"x: T[m]"}, .cases = {{"a", {{"n", 1}}}}};
  EXPECT_EQ(error_of([&] { tw::register_kernel(missing); }).message, "case a of kernel missing does not say what m is");
  EXPECT_EQ(error_of([&] { tw::register_kernel({.name = "registry_test_scaled", .cases = {{"a", {}}}}); }).message,
            "a kernel named registry_test_scaled is registered already");
}

} // namespace
