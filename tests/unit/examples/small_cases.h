// The examples at sizes that divide nothing.
#pragma once

#include "tilewright/registry.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::test {

struct Case {
  std::string kernel;
  std::vector<std::pair<std::string, int64_t>> sizes;
};

inline void PrintTo(const Case& one, std::ostream* out) {
  *out << one.kernel;
  for (const auto& [name, size] : one.sizes) *out << " " << name << "=" << size;
}

inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"add", {{"n", 131}}},
      {"alibi_attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"causal_attention", {{"h", 3}, {"n", 45}, {"d", 19}}},
      {"causal_attention", {{"h", 1}, {"n", 1}, {"d", 1}}},
      {"cross_entropy", {{"m", 13}, {"n", 45}}},
      {"cross_entropy_backward", {{"m", 13}, {"n", 45}}},
      {"dropout", {{"m", 13}, {"n", 45}}},
      {"embedding", {{"n", 21}, {"rows", 33}, {"d", 19}}},
      {"geglu", {{"m", 13}, {"n", 45}}},
      {"grouped_matmul", {{"rows", 41}, {"k", 19}, {"groups", 5}, {"n", 23}, {"ends", 6}}},
      {"int4_matmul", {{"m", 7}, {"pairs", 19}, {"n", 21}}},
      {"int4_word_matmul", {{"m", 7}, {"words", 5}, {"n", 21}}},
      {"jagged_dense_add", {{"rows", 41}, {"d", 19}, {"ends", 8}, {"groups", 7}, {"length", 5}}},
      {"jagged_mean", {{"rows", 41}, {"d", 19}, {"ends", 8}}},
      {"jagged_tile_mean", {{"rows", 41}, {"d", 19}, {"ends", 8}}},
      {"jagged_softmax", {{"rows", 41}, {"d", 19}, {"ends", 8}}},
      {"js_divergence", {{"m", 13}, {"n", 45}}},
      {"kl_divergence", {{"m", 13}, {"n", 45}}},
      {"layer_norm", {{"m", 13}, {"n", 45}}},
      {"layer_norm_backward", {{"m", 13}, {"n", 45}}},
      {"linear", {{"m", 13}, {"n", 45}, {"k", 29}}},
      {"linear_attention", {{"h", 3}, {"t", 77}, {"dk", 11}, {"dv", 13}}},
      {"matmul", {{"m", 13}, {"n", 45}, {"k", 29}}},
      {"moe_matmul", {{"tokens", 41}, {"k", 19}, {"experts", 5}, {"n", 23}, {"ends", 6}}},
      {"rms_norm", {{"m", 13}, {"n", 45}}},
      {"rms_norm_backward", {{"m", 13}, {"n", 45}}},
      {"rope", {{"h", 3}, {"t", 13}, {"d", 22}, {"half", 11}}},
      {"segmented_sum", {{"rows", 77}, {"d", 13}, {"segments", 9}}},
      {"silu_and_multiply", {{"m", 13}, {"n2", 38}}},
      {"soft_cap_attention", {{"h", 3}, {"q", 13}, {"k", 37}, {"d", 19}}},
      {"softmax", {{"m", 13}, {"n", 45}}},
      {"split_k", {{"m", 13}, {"n", 21}, {"k", 45}}},
      {"split_k", {{"m", 13}, {"n", 21}, {"k", 3}}},
      {"split_k_atomic", {{"m", 13}, {"n", 21}, {"k", 45}}},
      {"welford_loop", {{"m", 13}, {"n", 45}}},
      {"welford_reduction", {{"m", 13}, {"n", 45}}},
  };
  return all;
}

inline Instance instance_of(const Case& one, DType dtype) {
  Instance instance = find_registered_kernel(one.kernel)->default_instance();
  for (const auto& [name, size] : one.sizes) instance.set(name, size);
  instance.set_dtype(dtype);
  return instance;
}

} // namespace tilewright::test
