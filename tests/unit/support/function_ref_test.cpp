#include "support/function_ref.h"

#include <gtest/gtest.h>
#include <memory>

namespace tilewright {
namespace {

int twice(FunctionRef<int(int)> function) { return function(function(1)); }

int add_one(int value) { return value + 1; }

TEST(FunctionRef, calls_functions_and_lambdas) {
  EXPECT_EQ(twice(&add_one), 3);
  int calls = 0;
  EXPECT_EQ(twice([&](int value) {
              ++calls;
              return value * 10;
            }),
            100);
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, refers_to_the_callable_itself) {
  auto counter = [count = 0](int) mutable { return ++count; };
  EXPECT_EQ(twice(counter), 2);
  EXPECT_EQ(twice(counter), 4);
}

TEST(FunctionRef, passes_arguments_without_copying_them) {
  auto take = [](std::unique_ptr<int> value) { return *value; };
  FunctionRef<int(std::unique_ptr<int>)> reference = take;
  EXPECT_EQ(reference(std::make_unique<int>(7)), 7);
}

} // namespace
} // namespace tilewright
