// The expected texts are PyTorch's for the same tensors, but for the names.
#include "tilewright/array.h"

#include <cmath>
#include <gtest/gtest.h>
#include <sstream>

namespace tilewright {
namespace {

TEST(Print, floating_point) {
  EXPECT_EQ(Array::from_vector<float>({0.5f, -1.25f, 3}).to_string(), "array([ 0.5000, -1.2500,  3.0000])");
  EXPECT_EQ(Array::from_vector<float>({1, 2, 3}).to_string(), "array([1., 2., 3.])");
  EXPECT_EQ(Array::from_vector<double>({1, -20}).to_string(), "array([  1., -20.], dtype=float64)");
  EXPECT_EQ(Array::from_vector<float>({0.001f, 1000.5f}).to_string(), "array([1.0000e-03, 1.0005e+03])");
  EXPECT_EQ(Array::from_vector<float>({1e9f}).to_string(), "array([1.0000e+09])");
  EXPECT_EQ(Array::from_vector<float>({0.00001f}).to_string(), "array([1.0000e-05])");
  EXPECT_EQ(Array::zeros({2}).to_string(), "array([0., 0.])");
  EXPECT_EQ(Array::from_vector<float>({1.5f, INFINITY, -INFINITY, NAN}).to_string(),
            "array([1.5000,    inf,   -inf,    nan])");
}

TEST(Print, other_types) {
  EXPECT_EQ(Array::arange(3).to_string(), "array([0, 1, 2])");
  EXPECT_EQ(Array::from_vector<int32_t>({-1, 100}).to_string(), "array([ -1, 100], dtype=int32)");
  EXPECT_EQ(Array::from_vector<bool>({true, false}).to_string(), "array([ True, False])");
  EXPECT_EQ(Array::full({2}, 1.5, bfloat16).to_string(), "array([1.5000, 1.5000], dtype=bfloat16)");
  EXPECT_EQ(Array::full({1}, INT64_MIN, int64).to_string(), "array([-9223372036854775808])");
}

TEST(Print, ranks) {
  EXPECT_EQ(Array::full({}, 3.5).to_string(), "array(3.5000)");
  EXPECT_EQ(Array::arange(6).view({2, 3}).to_string(), "array([[0, 1, 2],\n"
                                                       "       [3, 4, 5]])");
  EXPECT_EQ(Array::arange(8).view({2, 2, 2}).to_string(), "array([[[0, 1],\n"
                                                          "        [2, 3]],\n"
                                                          "\n"
                                                          "       [[4, 5],\n"
                                                          "        [6, 7]]])");
  EXPECT_EQ(Array::empty({0}).to_string(), "array([])");
  EXPECT_EQ(Array::empty({0}, int64).to_string(), "array([], dtype=int64)");
  EXPECT_EQ(Array::empty({2, 0}).to_string(), "array([], size=(2, 0))");
}

TEST(Print, breaks_lines_at_eighty_columns) {
  EXPECT_EQ(Array::arange(30).to_string(),
            "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "       18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
}

TEST(Print, shows_the_edges_of_a_large_array) {
  EXPECT_EQ(Array::arange(1001).to_string(), "array([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(Array::arange(0, 2000, 1).view({200, 10}).to_string(),
            "array([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 7.0000e+00, 8.0000e+00,\n"
            "        9.0000e+00],\n"
            "       [1.0000e+01, 1.1000e+01, 1.2000e+01,  ..., 1.7000e+01, 1.8000e+01,\n"
            "        1.9000e+01],\n"
            "       [2.0000e+01, 2.1000e+01, 2.2000e+01,  ..., 2.7000e+01, 2.8000e+01,\n"
            "        2.9000e+01],\n"
            "       ...,\n"
            "       [1.9700e+03, 1.9710e+03, 1.9720e+03,  ..., 1.9770e+03, 1.9780e+03,\n"
            "        1.9790e+03],\n"
            "       [1.9800e+03, 1.9810e+03, 1.9820e+03,  ..., 1.9870e+03, 1.9880e+03,\n"
            "        1.9890e+03],\n"
            "       [1.9900e+03, 1.9910e+03, 1.9920e+03,  ..., 1.9970e+03, 1.9980e+03,\n"
            "        1.9990e+03]])");
}

TEST(Print, goes_to_streams) {
  std::ostringstream stream;
  stream << Array::arange(2) << '.';
  EXPECT_EQ(stream.str(), "array([0, 1]).");
}

} // namespace
} // namespace tilewright
