// What is outside the closed set is refused by name, at its location.
#include "cpu/loops_kernel.h"
#include "tilewright/error.h"

#include <gtest/gtest.h>

namespace {

// The error of emitting this body.
std::string refusal(const std::string& body, const std::string& parameters = "%x: memref<8xf32>, ") {
  LoopsText text(loops_function(parameters, body));
  try {
    tilewright::cpu::emit_llvm(text.function(), tilewright::cpu::host_target());
  } catch (const tilewright::Error& error) {
    return error.what();
  }
  return "";
}

void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
}

TEST(Refusal, an_op_of_another_dialect_names_itself_and_its_line) {
  expect_mentions(refusal("%t = tensor.empty() : tensor<4xf32>"), {"kernel.mlir:2", "tensor.empty"});
}

TEST(Refusal, the_users_line_is_named_where_the_location_has_it) {
  std::string message = refusal("%t = tensor.empty() : tensor<4xf32> loc(fused[\"x\", \"model.cpp\":12:7])");
  expect_mentions(message, {"model.cpp:12", "tensor.empty"});
}

TEST(Refusal, vectors_of_two_dimensions) {
  expect_mentions(refusal("%v = arith.constant dense<0.0> : vector<4x4xf32>"), {"arith.constant", "vector"});
}

TEST(Refusal, arithmetic_on_bfloat16) {
  expect_mentions(refusal("%a = arith.constant 1.0 : bf16\n%b = arith.addf %a, %a : bf16"), {"arith.addf", "bfloat16"});
  expect_mentions(refusal("%a = arith.constant 1.0 : bf16\n%b = math.sqrt %a : bf16"), {"math.sqrt", "16-bit"});
}

TEST(Refusal, functions_that_the_runtime_table_lacks) {
  expect_mentions(
      refusal("%a = arith.constant 1.0 : f32\n%i = arith.constant 2 : i32\n%b = math.fpowi %a, %i : f32, i32"),
      {"math.fpowi", "runtime table"});
}

TEST(Refusal, scratch_in_a_loop) {
  expect_mentions(refusal("%c1 = arith.constant 1 : index\nscf.for %i = %begin to %end step %c1 {\n"
                          "%s = memref.alloca() : memref<8xf32>\n}"),
                  {"memref.alloca", "entry block"});
}

TEST(Refusal, strides_that_are_not_known) {
  expect_mentions(refusal("%c0 = arith.constant 0 : index\n%v = memref.load %y[%c0] : memref<8xf32, strided<[?]>>",
                          "%y: memref<8xf32, strided<[?]>>, "),
                  {"memref.load", "strides"});
}

TEST(Refusal, memory_of_single_bits) {
  expect_mentions(
      refusal("%c0 = arith.constant 0 : index\n%v = memref.load %y[%c0] : memref<8xi1>", "%y: memref<8xi1>, "),
      {"bool arrays hold i8"});
}

TEST(Refusal, odd_integer_widths) {
  expect_mentions(refusal("%a = arith.constant 1 : i17"), {"arith.constant", "i17"});
}

TEST(Refusal, a_kernel_without_the_range_arguments) {
  LoopsText text("func.func @kernel(%x: memref<8xf32>) {\nreturn\n}\n");
  EXPECT_THROW(tilewright::cpu::emit_llvm(text.function(), tilewright::cpu::host_target()), tilewright::Error);
}

} // namespace
