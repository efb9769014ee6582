#include "ir/validity.h"

#include "ir/context.h"
#include "ir/ir_text.h"
#include "support/error_of.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace tilewright {
namespace {

using Kind = LaneValidity::Kind;

// A kernel in whose body stand %t (a tile of b0), %x (loaded, [b0, r0]) and %f0; the last value before the end of the
// body is what is asked about.
std::string kernel(const std::string& body) {
  return with(R"(
tile.kernel @k(%array: !tile.array<f32, [s0, s1]>, %one: !tile.array<f32, [1, s1]>)
    attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %x = tile.load %array[%t, :] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)
    $body
  }
  tile.return
}
)",
              {{"body", body}});
}

// The kinds along each dimension of the last value of the loop's body, as letters: A, W, T.
std::string kinds(const std::string& body) {
  IrText ir(kernel(body));
  FailureOr<Validity> validity = failure();
  check_diagnostics(ir.context(), [&] {
    validity = Validity::of(ir.kernel());
    return success(succeeded(validity));
  });
  ForOp loop = *ir.kernel().block().getOps<ForOp>().begin();
  std::string letters;
  Value last = loop.yield()->getPrevNode()->getResult(0);
  for (const LaneValidity& lanes : validity->of(last)) {
    EXPECT_EQ(lanes.kind == Kind::Tiles, !lanes.tiles.empty());
    letters += "AWT"[static_cast<int>(lanes.kind)];
  }
  return letters;
}
std::string error(const std::string& body) {
  return error_of([&] { kinds(body); });
}

const char* const kWhole = "%w = tile.full %f0 at [] : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>\n";
const char* const kFull =
    "%w = tile.full %f0 tiles(%t : !tile.tile<b0>) at [0] : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>\n";
const char* const kSplat = "%s = tile.splat %f0 : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>\n";

TEST(Validity, of_what_is_made) {
  EXPECT_EQ(kinds(""), "TW"); // the load
  EXPECT_EQ(kinds(kSplat), "AA");
  EXPECT_EQ(kinds(kWhole), "WW");
  EXPECT_EQ(kinds(kFull), "TW");
  EXPECT_EQ(kinds("%i = tile.index %t : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>"), "T");
}

TEST(Validity, a_tile_that_broadcasts_an_element_does_not_limit_it) {
  EXPECT_EQ(kinds("%o = tile.load %one[%t, :] : !tile.array<f32, [1, s1]> -> tensor<1x?xf32, #tile.dims<[1, r0]>> "
                  "tiles(!tile.tile<b0>)"),
            "AW");
  EXPECT_EQ(kinds("%o = tile.load %one[%t, :] : !tile.array<f32, [1, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>> "
                  "tiles(!tile.tile<b0>)"),
            "TW");
}

TEST(Validity, follows_changes_of_shape) {
  EXPECT_EQ(kinds("%e = tile.expand_dims %x dim 1 : tensor<?x?xf32, #tile.dims<[b0, r0]>> "
                  "-> tensor<?x1x?xf32, #tile.dims<[b0, 1, r0]>>"),
            "TAW");
  EXPECT_EQ(kinds("%e = tile.transpose %x [1, 0] : tensor<?x?xf32, #tile.dims<[b0, r0]>> "
                  "-> tensor<?x?xf32, #tile.dims<[r0, b0]>>"),
            "WT");
  EXPECT_EQ(kinds("%r = tile.reduce add %x dims [0] : tensor<?x?xf32, #tile.dims<[b0, r0]>> "
                  "-> tensor<?xf32, #tile.dims<[r0]>>"),
            "W");
  EXPECT_EQ(kinds("%r = tile.reduce add %x dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> "
                  "-> tensor<?xf32, #tile.dims<[b0]>>"),
            "T");
  EXPECT_EQ(
      kinds("%r = tile.reduce add %x dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> "
            "-> tensor<?xf32, #tile.dims<[b0]>>\n"
            "%e = tile.expand_dims %r dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>\n"
            "%b = tile.broadcast %e : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>"),
      "TA");
}

TEST(Validity, combining_takes_on_what_the_others_have) {
  const std::string add = "%r = arith.addf %x, $other : tensor<?x?xf32, #tile.dims<[b0, r0]>>";
  EXPECT_EQ(kinds(kSplat + with(add, {{"other", "%s"}})), "TW");
  EXPECT_EQ(kinds(kFull + with(add, {{"other", "%w"}})), "TW");
  EXPECT_EQ(kinds(with(add, {{"other", "%x"}})), "TW");
  EXPECT_EQ(kinds(std::string(kSplat) + "%r = arith.addf %s, %s : tensor<?x?xf32, #tile.dims<[b0, r0]>>"), "AA");
}

TEST(Validity, a_whole_block_beside_a_partial_tile_is_refused) {
  EXPECT_EQ(
      error(std::string(kWhole) + "%r = arith.divf %x, %w : tensor<?x?xf32, #tile.dims<[b0, r0]>>"),
      "dimension 0 is whole in one operand and ends early in another; use where() to say what the missing lanes are");
}

TEST(Validity, a_dot_has_the_lanes_of_its_rows_and_columns) {
  const std::string dot = R"(
    %tr = tile.transpose %x [1, 0] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?x?xf32, #tile.dims<[r0, b0]>>
    %acc = tile.splat %f0 : f32 -> tensor<?x?xf32, #tile.dims<[$acc]>>
    %r = tile.dot $a, $b, %acc : tensor<?x?xf32, #tile.dims<[$as]>>, tensor<?x?xf32, #tile.dims<[$bs]>>,
        tensor<?x?xf32, #tile.dims<[$acc]>>)";
  EXPECT_EQ(kinds(with(dot, {{"acc", "b0, b0"}, {"as", "b0, r0"}, {"bs", "r0, b0"}, {"a", "%x"}, {"b", "%tr"}})), "TT");
  EXPECT_EQ(kinds(with(dot, {{"acc", "r0, r0"}, {"as", "r0, b0"}, {"bs", "b0, r0"}, {"a", "%tr"}, {"b", "%x"}})), "WW");
}

TEST(Validity, what_a_loop_carries_is_as_short_as_what_any_iteration_hands_on) {
  const std::string loop = R"(
    %r = tile.for (%k: b1) = (%zero) to (%n) carry(%acc = $init) : tensor<?x?xf32, #tile.dims<[b0, r0]>> {
      %next = arith.addf %acc, %x : tensor<?x?xf32, #tile.dims<[b0, r0]>>
      tile.yield %next : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    })";
  EXPECT_EQ(kinds(kSplat + with(loop, {{"init", "%s"}})), "TW");
  EXPECT_EQ(kinds(kFull + with(loop, {{"init", "%w"}})), "TW");
  // A whole value to which partial ones are added stays whole; one that they divide has no meaning.
  EXPECT_EQ(kinds(kWhole + with(loop, {{"init", "%w"}})), "WW");
  std::string divided = with(loop, {{"init", "%w"}});
  divided.replace(divided.find("arith.addf"), 10, "arith.divf");
  EXPECT_NE(error(kWhole + divided).find("use where()"), std::string::npos);
  // Two carried values, of which one reaches the other a round later.
  EXPECT_EQ(kinds(std::string(kSplat) + R"(
    %q, %r = tile.for (%k: b1) = (%zero) to (%n) carry(%p = %s, %acc = %s)
        : tensor<?x?xf32, #tile.dims<[b0, r0]>>, tensor<?x?xf32, #tile.dims<[b0, r0]>> {
      tile.yield %acc, %x : tensor<?x?xf32, #tile.dims<[b0, r0]>>, tensor<?x?xf32, #tile.dims<[b0, r0]>>
    })"),
            "TW");
}

} // namespace
} // namespace tilewright
