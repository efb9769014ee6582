// What guarded arrays notice.
#include "fuzz/guarded_memory.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::fuzz;

namespace {

std::string run_on(const GuardedArray& array, const std::function<void(float*)>& body) {
  auto* data = static_cast<float*>(array.array().data());
  return run_generated([&] { body(data); }, [&](const void* at) { return array.describe(at); });
}

} // namespace

TEST(guarded_memory, stops_a_read_past_the_end) {
  GuardedArray array(Array::zeros({5}), 4, Guard::after, "x");
  volatile float seen = 0;
  EXPECT_EQ(run_on(array, [&](float* data) { seen = data[4]; }), "");
  EXPECT_EQ(run_on(array, [&](float* data) { seen = data[5]; }), "access violation x, 0 bytes past its end");
}

TEST(guarded_memory, stops_a_read_before_the_begin) {
  GuardedArray array(Array::zeros({5}), 16, Guard::before, "x");
  volatile float seen = 0;
  EXPECT_EQ(run_on(array, [&](float* data) { seen = data[-1]; }), "access violation x, 4 bytes before its begin");
}

TEST(guarded_memory, notices_writes_into_gaps_and_inputs) {
  Array rows = Array::zeros({3, 4}).slice(1, 0, 4, 2);
  {
    GuardedArray array(rows, 4, Guard::after, "x");
    run_on(array, [](float* data) { data[2] = 1; });
    EXPECT_EQ(array.damage(/*elements_may_change=*/true), "");
    EXPECT_NE(array.damage(/*elements_may_change=*/false).find("does not store to"), std::string::npos);
  }
  GuardedArray array(rows, 4, Guard::after, "x");
  run_on(array, [](float* data) { data[1] = 1; });
  EXPECT_NE(array.damage(true).find("x was overwritten"), std::string::npos);
}

TEST(guarded_memory, keeps_values_strides_and_alignment) {
  Array source = Array::rand({4, 6}, 1).t();
  GuardedArray array(source, 16, Guard::after, "x");
  EXPECT_EQ(array.array().strides(), source.strides());
  EXPECT_TRUE(equal(array.array(), source));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.array().data()) % 16, 0u);
}

TEST(guarded_memory, stops_a_division_by_zero) {
  volatile int zero = 0, quotient = 1;
  std::string what = run_generated([&] { quotient = quotient / zero; }, [](const void*) { return std::string(); });
  EXPECT_NE(what.find("SIGFPE"), std::string::npos);
}
