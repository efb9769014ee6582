// Compiling: the life of code, texts, threads.
#include "cpu/loops_kernel.h"

#include "backends/cpu/jit.h"

#include <gtest/gtest.h>

#include <thread>

using namespace tilewright;
using namespace tilewright::cpu;

namespace {

// Adds `number` to every element.
std::string add_kernel(double number) {
  return loops_function("%x: memref<64xf32>, ", "%c0 = arith.constant 0 : index\n%n = arith.constant 64 : index\n"
                                                "%s = arith.constant 16 : index\n%a = arith.constant dense<" +
                                                    std::to_string(number) +
                                                    "> : vector<16xf32>\nscf.for %i = %c0 to %n step %s {\n"
                                                    "%v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>\n"
                                                    "%r = arith.addf %v, %a : vector<16xf32>\n"
                                                    "vector.store %r, %x[%i] : memref<64xf32>, vector<16xf32>\n}");
}

void expect_adds(const CompiledCode& code, float number) {
  std::vector<float> x(64, 1);
  void* arguments[] = {x.data()};
  code.function()(arguments, 0, 1, 1, nullptr, &runtime_table());
  EXPECT_EQ(x, std::vector<float>(64, 1 + number));
}

TEST(Jit, code_outlives_the_ir_it_came_from_and_other_code_of_its_name) {
  std::shared_ptr<const CompiledCode> first, second;
  {
    LoopsText text(add_kernel(1)), other(add_kernel(2));
    first = compile(text.emit(), host_target());
    second = compile(other.emit(), host_target());
  }
  expect_adds(*first, 1);
  expect_adds(*second, 2);
  first.reset();
  expect_adds(*second, 2);
}

TEST(Jit, code_knows_its_sizes) {
  LoopsText text(add_kernel(1));
  auto code = compile(text.emit(), host_target());
  EXPECT_GT(code->code_bytes(), 0u);
  EXPECT_GT(code->instruction_count(), 5u);
  EXPECT_LT(code->instruction_count(), 50u);
  EXPECT_EQ(code->scratch_bytes(), 0);
}

TEST(Jit, threads_compile_at_the_same_time) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 20; ++i) {
        LoopsText text(add_kernel(t * 100 + i));
        expect_adds(*compile(text.emit(), host_target()), static_cast<float>(t * 100 + i));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Jit, targets_take_turns_on_one_thread) {
  for (int i = 0; i < 3; ++i)
    for (const CpuTarget& target : runnable_targets()) {
      LoopsText text(add_kernel(i));
      expect_adds(*compile(text.emit(target), target), static_cast<float>(i));
    }
}

TEST(Jit, texts_show_the_kernel) {
  LoopsText text(add_kernel(1));
  std::string llvm = llvm_text(text.emit(), host_target());
  EXPECT_NE(llvm.find("define void @kernel("), std::string::npos);
  EXPECT_NE(llvm.find("fadd contract <16 x float>"), std::string::npos);
  std::string assembly = assembly_text(text.emit(), host_target());
  EXPECT_NE(assembly.find("kernel:"), std::string::npos);
}

TEST(Jit, texts_name_source_lines_where_they_are_kept) {
  LoopsText text(loops_function("%x: memref<4xf32>, ", R"(
    %c0 = arith.constant 0 : index
    %a = memref.load %x[%c0] : memref<4xf32> loc("model.cpp":5:3)
    %b = arith.mulf %a, %a : f32 loc("model.cpp":6:8)
    %c = arith.addf %b, %a : f32 loc(fused["callsite", "other.h":7:1])
    memref.store %c, %x[%c0] : memref<4xf32> loc("model.cpp":8:3))"));
  for (auto to_text : {llvm_text, assembly_text}) {
    std::string shown = to_text(emit_llvm(text.function(), host_target(), SourceLines::Keep), host_target());
    for (const char* place : {" model.cpp:5\n", " other.h:7\n", " model.cpp:8\n"})
      EXPECT_NE(shown.find(place), std::string::npos) << place << "in\n" << shown;
    EXPECT_EQ(shown.find("!dbg"), std::string::npos);
    EXPECT_EQ(shown.find(".debug_"), std::string::npos);
    std::string bare = to_text(emit_llvm(text.function(), host_target()), host_target());
    EXPECT_EQ(bare.find("model.cpp"), std::string::npos);
  }
}

TEST(Jit, assembly_uses_the_targets_own_vectors) {
  for (const CpuTarget& target : runnable_targets()) {
    LoopsText text(add_kernel(1));
    std::string assembly = assembly_text(text.emit(target), target);
    EXPECT_EQ(assembly.find("zmm") != std::string::npos, target.vector_bits == 512) << target.cpu;
  }
}

} // namespace
