#include "ir/dim.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

const Dim b0 = Symbol::block(0), b1 = Symbol::block(1), r0 = Symbol::whole(0), s0 = Symbol::size(0),
          s1 = Symbol::size(1);

TEST(Dim, sums_and_products_have_one_normal_form) {
  EXPECT_EQ(b0 + s1, s1 + b0);
  EXPECT_EQ(b0 * s1 * b0, s1 * b0 * b0);
  EXPECT_EQ((b0 + Dim(1)) * (b0 - Dim(1)), b0 * b0 - Dim(1));
  EXPECT_EQ((b0 + b1) * (s0 + s1), b1 * s1 + b0 * s0 + b1 * s0 + b0 * s1);
  EXPECT_NE(b0, b1);
  EXPECT_NE(b0, s0);
  EXPECT_NE(b0, b0 * b0);
}

TEST(Dim, what_cancels_is_gone) {
  EXPECT_EQ(b0 - b0, Dim());
  EXPECT_EQ(b0 * Dim(0), Dim(0));
  EXPECT_EQ(Dim(2) * b0 + Dim(3) - b0 - b0, Dim(3));
  EXPECT_TRUE((b0 - b0).monomials().empty());
}

TEST(Dim, tells_constants_and_single_symbols) {
  EXPECT_EQ(Dim(64).constant(), 64);
  EXPECT_EQ(Dim().constant(), 0);
  EXPECT_EQ(b0.constant(), std::nullopt);
  EXPECT_EQ((b0 + Dim(1)).constant(), std::nullopt);
  EXPECT_TRUE(Dim(1).is_one());
  EXPECT_FALSE(b0.is_one());
  EXPECT_EQ(b0.symbol(), Symbol::block(0));
  EXPECT_EQ((Dim(2) * b0).symbol(), std::nullopt);
  EXPECT_EQ((b0 * b1).symbol(), std::nullopt);
  EXPECT_EQ((b0 + Dim(1)).symbol(), std::nullopt);
  EXPECT_EQ(Dim(1).symbol(), std::nullopt);
  EXPECT_TRUE((b0 * s1 + Dim(2)).mentions(Symbol::size(1)));
  EXPECT_FALSE((b0 * s1 + Dim(2)).mentions(Symbol::size(0)));
}

TEST(Dim, substitution_evaluates_products_and_leaves_other_symbols) {
  Dim dim = Dim(2) * b0 * s1 + r0 + Dim(64);
  auto block = [](Symbol symbol) -> std::optional<Dim> {
    if (symbol == Symbol::block(0)) return Dim(16);
    return std::nullopt;
  };
  EXPECT_EQ(dim.substitute(block), Dim(32) * s1 + r0 + Dim(64));
  auto polynomial = [](Symbol symbol) -> std::optional<Dim> {
    if (symbol == Symbol::block(0)) return Dim(Symbol::size(1)) - Dim(1);
    return std::nullopt;
  };
  EXPECT_EQ(dim.substitute(polynomial), Dim(2) * s1 * s1 - Dim(2) * s1 + r0 + Dim(64));
}

TEST(Dim, prints_higher_degrees_first_and_the_constant_last) {
  EXPECT_EQ((Dim(64) + r0 + Dim(2) * s1 * b0).str(), "2 * b0 * s1 + r0 + 64");
  EXPECT_EQ((b0 * b0 + b0).str(), "b0 * b0 + b0");
  EXPECT_EQ((s0 + r0 + b0).str(), "b0 + r0 + s0");
  EXPECT_EQ((Dim(-1) * b0 - Dim(3)).str(), "-1 * b0 + -3");
  EXPECT_EQ(Dim().str(), "0");
}

TEST(Dim, is_decoded_as_it_was_encoded) {
  for (const Dim& dim : {Dim(), Dim(7), b0, Dim(-2) * b0 * s1 * s1 + r0 - Dim(64), Dim(Symbol::size(4000000000u))})
    EXPECT_EQ(Dim::decode(dim.encode()), dim) << dim.str();
}

} // namespace
} // namespace tilewright
