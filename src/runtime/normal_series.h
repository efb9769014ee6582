// The series by which uniform numbers become normal ones (Box and Muller, 1958), on the host and in kernels: with the
// same coefficients, both give the same bits.
#pragma once

#include <array>

namespace tilewright {

// atanh(s) = s + s^3 / 3 + s^5 / 5 + ...: in s^2, what follows s.
inline constexpr auto kAtanhTail = [] {
  std::array<double, 11> coefficients = {};
  for (int i = 0; i < 11; ++i) coefficients[i] = 1.0 / (2 * i + 3);
  return coefficients;
}();

// Taylor's series of cos(x) and sin(x) / x in x^2. All factorials are exact.
constexpr std::array<double, 9> taylor_coefficients(int first_factorial) {
  std::array<double, 9> coefficients = {};
  double factorial = 1;
  for (int i = 0, n = first_factorial; i < 9; ++i, n += 2) {
    coefficients[i] = (i % 2 == 0 ? 1 : -1) / factorial;
    factorial *= double(n + 1) * (n + 2);
  }
  return coefficients;
}
inline constexpr auto kCosine = taylor_coefficients(0);
inline constexpr auto kSineOverX = taylor_coefficients(1);

} // namespace tilewright
