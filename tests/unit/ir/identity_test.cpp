#include "ir/identity.h"

#include "ir/ir_text.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

const char* const kNegate = R"(
tile.kernel @negate(%x: !tile.array<f32, [s0]> {tile.name = "x"}) -> !tile.array<f32, [s0]> {
  %zero = arith.constant 0 : index
  %n = tile.extent <s0>
  %out = tile.empty : !tile.array<f32, [s0]>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %a = tile.load %x[%t] : !tile.array<f32, [s0]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    %b = arith.$op %a : tensor<?xf32, #tile.dims<[b0]>>
    tile.store %b, %out[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [s0]> tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<f32, [s0]>
}
)";

std::string hash_of(const std::string& text) { return identity_hash(IrText(text).kernel()); }

TEST(Identity, does_not_depend_on_lines_and_names_of_values) {
  std::string text = with(kNegate, {{"op", "negf"}});
  EXPECT_EQ(hash_of(text), hash_of("\n\n\n" + text));
  std::string renamed = text;
  for (size_t at; (at = renamed.find("%zero")) != std::string::npos;) renamed.replace(at, 5, "%begin");
  EXPECT_EQ(hash_of(text), hash_of(renamed));
}

TEST(Identity, is_sixteen_hexadecimal_digits_of_the_text) {
  std::string hash = hash_of(with(kNegate, {{"op", "negf"}}));
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
  IrText ir(with(kNegate, {{"op", "negf"}}));
  EXPECT_EQ(canonical_text(ir.kernel()).find("loc("), std::string::npos);
}

TEST(Identity, tells_kernels_apart) {
  std::string text = with(kNegate, {{"op", "negf"}});
  std::string other = with(kNegate, {{"op", "negf"}});
  for (size_t at; (at = other.find("f32")) != std::string::npos;) other.replace(at, 3, "f64");
  EXPECT_NE(hash_of(text), hash_of(other));
  std::string pinned = with(kNegate, {{"op", "negf"}});
  for (size_t at; (at = pinned.find("[s0]")) != std::string::npos;) pinned.replace(at, 4, "[70], strides [1]");
  pinned.replace(pinned.find("<s0>"), 4, "<70>");
  EXPECT_NE(hash_of(text), hash_of(pinned));
}

} // namespace
} // namespace tilewright
