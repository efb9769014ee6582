#include "backends/cpu/target.h"
#include "tilewright/error.h"

#include <gtest/gtest.h>

using namespace tilewright::cpu;

namespace {

TEST(Target, host_is_described) {
  const CpuTarget& host = host_target();
  EXPECT_FALSE(host.triple.empty());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_TRUE(host.vector_bits == 128 || host.vector_bits == 256 || host.vector_bits == 512);
  EXPECT_GE(host.l1_bytes, 16 << 10);
  EXPECT_GE(host.l2_bytes, host.l1_bytes);
  EXPECT_EQ(host.lanes(32), host.vector_bits / 32);
}

TEST(Target, levels_have_the_vectors_that_they_are_named_for) {
  CpuTarget avx2 = target_for_level("x86-64-v3"), avx512 = target_for_level("x86-64-v4");
  EXPECT_EQ(avx2.vector_bits, 256);
  EXPECT_EQ(avx2.vector_registers, 16);
  EXPECT_TRUE(avx2.has_fma);
  EXPECT_TRUE(avx2.has_float16_conversion);
  EXPECT_EQ(avx512.vector_bits, 512);
  EXPECT_EQ(avx512.vector_registers, 32);
  EXPECT_TRUE(avx512.has_masked_access);
  EXPECT_NE(avx2.identity(), avx512.identity());
}

TEST(Target, a_dots_register_tile_fits_the_registers) {
  for (const CpuTarget& target : {target_for_level("x86-64-v3"), target_for_level("x86-64-v4"), host_target()}) {
    RegisterTile tile = target.dot_tile();
    EXPECT_LE(tile.rows * tile.vectors + tile.vectors + 1, target.vector_registers);
    EXPECT_GE(tile.rows * tile.vectors, 8);
  }
}

TEST(Target, unknown_levels_are_refused_by_name) {
  try {
    target_for_level("pentium");
    FAIL();
  } catch (const tilewright::Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"pentium\""), std::string::npos);
  }
}

} // namespace
