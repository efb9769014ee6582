// Addresses, alignment, scratch buffers, masked and gathered accesses, streaming stores.
#include "cpu/loops_kernel.h"

#include "backends/cpu/jit.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace tilewright::cpu;

namespace {

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(EmitMemory, strided_and_transposed_layouts) {
  LoopsKernel kernel(loops_function("%x: memref<3x4xf32, strided<[1, 5]>>, %y: memref<3x4xf32, strided<[8, 2]>>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %v = memref.load %x[%i, %j] : memref<3x4xf32, strided<[1, 5]>>
        memref.store %v, %y[%i, %j] : memref<3x4xf32, strided<[8, 2]>>
      }
    })"));
  std::vector<float> x = counted(20), y(24, -1);
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(y[i * 8 + j], j % 2 ? -1 : i + 5 * (j / 2));
}

TEST(EmitMemory, indices_that_are_sums_differences_and_multiples) {
  LoopsKernel kernel(loops_function("%x: memref<10x10xi64>, %y: memref<5xi64>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    scf.for %i = %c0 to %c5 step %c1 {
      %twice = arith.muli %c2, %i : index
      %row = arith.addi %twice, %c1 : index
      %left = arith.subi %c9, %i : index
      %sum = arith.addi %left, %i : index
      %column = arith.subi %sum, %twice : index
      %v = memref.load %x[%row, %column] : memref<10x10xi64>
      memref.store %v, %y[%i] : memref<5xi64>
    })"));
  std::vector<int64_t> x(100), y(5);
  std::iota(x.begin(), x.end(), 0);
  kernel.run({x.data(), y.data()});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(y[i], 10 * (2 * i + 1) + 9 - 2 * i);
}

TEST(EmitMemory, element_types_and_rank_zero) {
  LoopsKernel kernel(loops_function("%a: memref<i8>, %b: memref<bf16>, %c: memref<f16>, %d: memref<2xindex>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = memref.load %a[] : memref<i8>
    %w = memref.load %b[] : memref<bf16>
    memref.store %w, %b[] : memref<bf16>
    %h = memref.load %c[] : memref<f16>
    memref.store %h, %c[] : memref<f16>
    %i = memref.load %d[%c0] : memref<2xindex>
    %n = arith.extsi %v : i8 to i64
    %m = arith.index_cast %n : i64 to index
    %s = arith.addi %i, %m : index
    memref.store %s, %d[%c1] : memref<2xindex>)"));
  int8_t a = -3;
  uint16_t b = 0x4049, c = 0x1234;
  int64_t d[2] = {10, 0};
  kernel.run({&a, &b, &c, d});
  EXPECT_EQ(b, 0x4049);
  EXPECT_EQ(c, 0x1234);
  EXPECT_EQ(d[1], 7);
}

TEST(EmitMemory, scratch_buffers_are_aligned_apart_and_counted) {
  LoopsText text(loops_function("%y: memref<4xf32>, ", R"(
    %a = memref.alloca() {alignment = 64} : memref<3xf32>
    %b = memref.alloca() {alignment = 64} : memref<5x7xf64>
    %c = memref.alloca() {alignment = 64} : memref<1xi8>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %two = arith.constant 2.0 : f32
    %byte = arith.constant 1 : i8
    %x = arith.constant 8.0 : f64
    memref.store %two, %a[%c0] : memref<3xf32>
    memref.store %x, %b[%c4, %c4] : memref<5x7xf64>
    memref.store %byte, %c[%c0] : memref<1xi8>
    %r = memref.load %a[%c0] : memref<3xf32>
    memref.store %r, %y[%c1] : memref<4xf32>)"));
  auto kernel = text.emit();
  EXPECT_EQ(kernel.scratch_bytes, 64 + 320 + 64);
}

TEST(EmitMemory, large_scratch_buffers_begin_at_different_places_of_a_page) {
  LoopsText text(loops_function("", R"(
    %a = memref.alloca() {alignment = 64} : memref<1024xf32>
    %b = memref.alloca() {alignment = 64} : memref<2048xf32>
    %c0 = arith.constant 0 : index
    %two = arith.constant 2.0 : f32
    memref.store %two, %a[%c0] : memref<1024xf32>
    memref.store %two, %b[%c0] : memref<2048xf32>)"));
  EXPECT_EQ(text.emit().scratch_bytes, 320 + 4096 + 320 + 8192);
}

TEST(EmitMemory, masked_accesses_touch_only_their_lanes) {
  for (const CpuTarget& target : runnable_targets())
    for (const char* element : {"f32", "f64", "i8", "i64", "bf16"}) {
      std::string type = element;
      std::string array = "memref<64x" + type + ">", vector = "vector<16x" + type + ">";
      std::string zero = type[0] == 'i' ? "0" : "0.0";
      LoopsKernel kernel(loops_function("%x: " + array + ", %y: " + array + ", %n: index, ",
                                        "%c0 = arith.constant 0 : index\n"
                                        "%zero = arith.constant dense<" +
                                            zero + "> : " + vector +
                                            "\n"
                                            "%mask = vector.create_mask %n : vector<16xi1>\n"
                                            "%v = vector.maskedload %x[%c0], %mask, %zero : " +
                                            array + ", vector<16xi1>, " + vector + " into " + vector +
                                            "\n"
                                            "vector.maskedstore %y[%c0], %mask, %v : " +
                                            array + ", vector<16xi1>, " + vector),
                         target);
      int width = type == "i8" ? 1 : type == "bf16" ? 2 : type == "f32" ? 4 : 8;
      for (int64_t n : {0, 1, 7, 16, 40, -3}) {
        int64_t lanes = std::clamp<int64_t>(n, 0, 16);
        // The last lane that may be touched is the last byte of x; y is watched all over.
        std::vector<uint8_t> x(16 * width), y(32 * width, 0xee);
        std::iota(x.begin(), x.end(), 1);
        kernel.run({x.data() + (16 - lanes) * width, y.data(), &n});
        for (int64_t i = 0; i < 32 * width; ++i)
          ASSERT_EQ(y[i], i < lanes * width ? x[(16 - lanes) * width + i] : 0xee) << type << " " << n << " " << i;
      }
    }
}

TEST(EmitMemory, masked_off_lanes_take_the_pass_through_value) {
  LoopsKernel kernel(loops_function("%x: memref<8xf32>, %y: memref<8xf32>, ", R"(
    %c0 = arith.constant 0 : index
    %seven = arith.constant dense<7.0> : vector<8xf32>
    %mask = arith.constant dense<[true, false, true, false, false, false, true, true]> : vector<8xi1>
    %v = vector.maskedload %x[%c0], %mask, %seven : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.store %v, %y[%c0] : memref<8xf32>, vector<8xf32>)"));
  std::vector<float> x = counted(8), y(8);
  kernel.run({x.data(), y.data()});
  EXPECT_EQ(y, (std::vector<float>{0, 7, 2, 7, 7, 7, 6, 7}));
}

TEST(EmitMemory, gather_and_scatter_count_elements_from_the_address) {
  for (const CpuTarget& target : runnable_targets()) {
    LoopsKernel kernel(loops_function("%x: memref<4x100xf32>, %index: memref<8xi32>, %y: memref<100xf32>, ", R"(
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %minus = arith.constant dense<-1.0> : vector<8xf32>
    %i = vector.load %index[%c0] : memref<8xi32>, vector<8xi32>
    %mask = vector.create_mask %c5 : vector<8xi1>
    %v = vector.gather %x[%c2, %c0][%i], %mask, %minus
       : memref<4x100xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %all = vector.constant_mask [8] : vector<8xi1>
    vector.scatter %y[%c0][%i], %all, %v : memref<100xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>)"),
                       target);
    std::vector<float> x = counted(400), y(100);
    std::vector<int32_t> index = {3, 99, 0, 50, 7, 8, 9, 10};
    kernel.run({x.data(), index.data(), y.data()});
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y[index[i]], i < 5 ? 200 + index[i] : -1);
  }
}

// LLVM IR of a store of a vector at %i, which steps by `step` from zero.
std::string store_text(const std::string& argument_attributes, const std::string& store_attributes, int step) {
  LoopsText text(loops_function("%y: memref<1024xf32> " + argument_attributes + ", ",
                                "%c0 = arith.constant 0 : index\n%n = arith.constant 512 : index\n"
                                "%s = arith.constant " +
                                    std::to_string(step) +
                                    " : index\n"
                                    "%v = arith.constant dense<1.0> : vector<16xf32>\n"
                                    "scf.for %i = %c0 to %n step %s {\nvector.store %v, %y[%i] " +
                                    store_attributes + " : memref<1024xf32>, vector<16xf32>\n}"));
  return llvm_text(text.emit(), host_target());
}

TEST(EmitMemory, streaming_stores_only_where_the_address_is_aligned_to_the_vector) {
  std::string aligned = "{tile.alignment = 64 : i64}", streaming = "{nontemporal = true}";
  EXPECT_NE(store_text(aligned, streaming, 16).find("!nontemporal"), std::string::npos);
  EXPECT_NE(store_text(aligned, streaming, 48).find("!nontemporal"), std::string::npos);
  EXPECT_EQ(store_text(aligned, streaming, 8).find("!nontemporal"), std::string::npos);
  EXPECT_EQ(store_text("{tile.alignment = 32 : i64}", streaming, 16).find("!nontemporal"), std::string::npos);
  EXPECT_EQ(store_text(aligned, "", 16).find("!nontemporal"), std::string::npos);
  EXPECT_NE(store_text("", "{nontemporal = true, tile.aligned}", 16).find("!nontemporal"), std::string::npos);
}

TEST(EmitMemory, a_kernel_with_streaming_stores_ends_with_a_fence) {
  std::string aligned = "{tile.alignment = 64 : i64}";
  EXPECT_NE(store_text(aligned, "{nontemporal = true}", 16).find("fence"), std::string::npos);
  EXPECT_EQ(store_text(aligned, "", 16).find("fence"), std::string::npos);
}

TEST(EmitMemory, alignment_follows_from_the_base_the_strides_and_the_steps) {
  std::string aligned = "{tile.alignment = 64 : i64}";
  EXPECT_NE(store_text(aligned, "", 16).find("align 64"), std::string::npos);
  EXPECT_NE(store_text(aligned, "", 4).find(", align 16"), std::string::npos);
  EXPECT_NE(store_text("", "", 16).find(", align 4"), std::string::npos);
}

TEST(EmitMemory, streaming_stores_write_what_ordinary_ones_do) {
  for (const CpuTarget& target : runnable_targets()) {
    LoopsKernel kernel(loops_function("%x: memref<1024xf32>, %y: memref<1024xf32> {tile.alignment = 64 : i64}, ", R"(
      %c0 = arith.constant 0 : index
      %n = arith.constant 1024 : index
      %s = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      scf.for %i = %c0 to %n step %s {
        %v = vector.load %x[%i] : memref<1024xf32>, vector<16xf32>
        %ahead = arith.addi %i, %c64 : index
        memref.prefetch %x[%ahead], read, locality<2>, data : memref<1024xf32>
        vector.store %v, %y[%i] {nontemporal = true} : memref<1024xf32>, vector<16xf32>
      })"),
                       target);
    std::vector<float> x = counted(1024);
    tilewright::AlignedMemory memory(4096);
    auto* y = static_cast<float*>(memory.data());
    kernel.run({x.data(), y});
    EXPECT_EQ(std::vector<float>(y, y + 1024), x);
  }
}

TEST(EmitMemory, arrays_and_scratch_are_known_not_to_overlap) {
  LoopsText text(loops_function("%x: memref<8xf32>, %y: memref<8xf32>, ", R"(
    %b = memref.alloca() {alignment = 64, tile.name = "acc"} : memref<8xf32>
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<8xf32>
    memref.store %v, %b[%c0] : memref<8xf32>
    memref.store %v, %y[%c0] : memref<8xf32>)"));
  auto kernel = text.emit();
  int noalias = 0;
  for (const llvm::Function& function : *kernel.module)
    for (const llvm::Argument& argument : function.args()) noalias += argument.hasNoAliasAttr();
  EXPECT_EQ(noalias, 3);
}

} // namespace
