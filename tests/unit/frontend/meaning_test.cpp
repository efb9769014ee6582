// What recorded kernels compute, by the interpreter.
#include "interpreted.h"
#include "tracing.h"

#include "tilewright/registry.h"

#include <cmath>

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

// f of the elements of a vector, converted to `result`.
template <class F> std::vector<double> map(const std::vector<double>& x, tw::DType dtype, tw::DType result, F f) {
  auto kernel = tw::kernel("map", [f, result](tw::Tensor x) {
    auto out = tw::empty_like(x, result);
    for (auto tile : tw::tile(x.size(0))) out[tile] = f(x[tile]);
    return out;
  });
  return interpret(kernel.bind(tw::Array::from_vector(x).to(dtype)))[0].template to_vector<double>();
}

TEST(Meaning, of_integer_division) {
  std::vector<double> x{-7, -6, -1, 0, 1, 6, 7};
  EXPECT_EQ(map(x, tw::int32, tw::int32, [](Value v) { return v % 3; }), (std::vector<double>{2, 0, 2, 0, 1, 0, 1}));
  EXPECT_EQ(map(x, tw::int64, tw::int64, [](Value v) { return v % -3; }),
            (std::vector<double>{-1, 0, -1, 0, -2, 0, -2}));
  EXPECT_EQ(map(x, tw::int32, tw::int32, [](Value v) { return tw::fmod(v, 3); }),
            (std::vector<double>{-1, 0, -1, 0, 1, 0, 1}));
  EXPECT_EQ(map(x, tw::int32, tw::int32, [](Value v) { return tw::floor_divide(v, 3); }),
            (std::vector<double>{-3, -2, -1, 0, 0, 2, 2}));
  EXPECT_EQ(map(x, tw::int32, tw::float64, [](Value v) { return v / 2; }),
            (std::vector<double>{-3.5, -3, -0.5, 0, 0.5, 3, 3.5}));
  EXPECT_EQ(map(x, tw::int32, tw::int32, [](Value v) { return tw::pow(v, 3) - ~v; }),
            (std::vector<double>{-349, -221, -1, 1, 3, 223, 351}));
}

TEST(Meaning, of_floating_point_remainders) {
  std::vector<double> x{-5.5, -4, -0.5, 0, 0.5, 4, 5.5};
  EXPECT_EQ(map(x, tw::float32, tw::float32, [](Value v) { return tw::remainder(v, 2); }),
            (std::vector<double>{0.5, 0, 1.5, 0, 0.5, 0, 1.5}));
  EXPECT_EQ(map(x, tw::float32, tw::float32, [](Value v) { return tw::fmod(v, 2); }),
            (std::vector<double>{-1.5, -0.0, -0.5, 0, 0.5, 0, 1.5}));
}

TEST(Meaning, of_logic_and_choice) {
  std::vector<double> x{-2, -1, 0, 1, 2};
  EXPECT_EQ(map(x, tw::float32, tw::boolean, [](Value v) { return (v > -2) & !(v == 0) & ~(v > 1); }),
            (std::vector<double>{0, 1, 0, 1, 0}));
  EXPECT_EQ(map(x, tw::int32, tw::boolean, [](Value v) { return tw::logical_or(v, v < -5); }),
            (std::vector<double>{1, 1, 0, 1, 1}));
  EXPECT_EQ(map(x, tw::float32, tw::float32, [](Value v) { return tw::where(v < 0, -v, tw::clamp(v, 0.5, 1)); }),
            (std::vector<double>{2, 1, 0.5, 1, 1}));
  EXPECT_EQ(map(x, tw::float32, tw::boolean, [](Value v) { return tw::isfinite(1 / v) ^ tw::isinf(v); }),
            (std::vector<double>{1, 1, 0, 1, 1}));
  EXPECT_EQ(map(x, tw::float32, tw::int64, [](Value v) { return v.to(tw::boolean) + v.to(tw::int32); }),
            (std::vector<double>{-1, 0, 0, 2, 3}));
}

TEST(Meaning, of_functions) {
  auto of = [](const std::vector<double>& x, auto f) { return map(x, tw::float64, tw::float64, f); };
  EXPECT_EQ(of({0.25, 0.5, 1.5, 2.5}, [](Value v) { return tw::round(v) + tw::trunc(v) * 10 + tw::ceil(v) * 100; }),
            (std::vector<double>{100, 100, 212, 322}));
  EXPECT_EQ(of({0.25, 0.5, 2, 4}, [](Value v) { return tw::reciprocal(v).square() + tw::relu(v - 1); }),
            (std::vector<double>{16, 4, 1.25, 3.0625}));
  for (double half : of({0.25, 1, 4}, [](Value v) { return tw::gelu(v) / v - tw::erf(v * M_SQRT1_2) / 2; }))
    EXPECT_NEAR(half, 0.5, 1e-12);
}

// Numbers are not rounded to bfloat16 before they are used.
TEST(Meaning, of_numbers_beside_16_bit_floats) {
  double product = map({3}, tw::bfloat16, tw::float64, [](Value v) { return v * 0.1; })[0];
  EXPECT_EQ(product, float(tw::BFloat16(3 * 0.1f)));
}

TEST(Meaning, of_products_of_int8) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    auto out = tw::empty({x.size(0), y.size(1)}, tw::int32);
    for (auto [m, n] : tw::tile({x.size(0), y.size(1)})) {
      auto acc = tw::zeros({m, n}, tw::int32);
      for (auto k : tw::tile(x.size(1))) acc = tw::dot(x[m, k], y[k, n], acc);
      out[m, n] = acc + tw::dot(x[m, tw::_], y[tw::_, n]);
    }
    return out;
  });
  tw::Array x = tw::Array::full({3, 9}, 100, tw::int8), y = tw::Array::full({9, 2}, -128, tw::int8);
  EXPECT_EQ(interpret(kernel.bind(x, y))[0].to_vector<double>(), std::vector<double>(6, -2 * 9 * 12800));
}

TEST(Meaning, of_a_tensor_that_is_left_out) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, std::optional<tw::Tensor> bias) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) {
      Value v = x[tile] * 2;
      if (bias) v = v + (*bias)[tile];
      out[tile] = v;
    }
    return out;
  });
  tw::Array x = tw::Array::full({3}, 2), bias = tw::Array::full({3}, 1);
  EXPECT_EQ(interpret(kernel.bind(x, std::nullopt))[0].to_vector<double>(), std::vector<double>(3, 4));
  EXPECT_EQ(interpret(kernel.bind(x, bias))[0].to_vector<double>(), std::vector<double>(3, 5));
}

TEST(Meaning, of_carried_values) {
  auto fibonacci = tw::kernel("fibonacci", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto a = tw::zeros({tile}, tw::int64), b = tw::ones({tile}, tw::int64);
      for (auto i : tw::grid(10)) {
        Value next = a + b;
        a = b;
        b = next;
      }
      x[tile] = a;
    }
    return x;
  });
  EXPECT_EQ(interpret(fibonacci.bind(tw::Array::zeros({3}, tw::int64)))[0].to_vector<int64_t>(),
            (std::vector<int64_t>{55, 55, 55}));
  auto nested = tw::kernel("nested", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      Value last = tw::zeros({tile}), total = last;
      for (auto i : tw::grid(3)) {
        for (auto j : tw::grid(2, 4)) total += last + j;
        last = total;
      }
      x[tile] = total;
    }
    return x;
  });
  double last = 0, total = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 2; j < 4; ++j) total += last + j;
    last = total;
  }
  EXPECT_EQ(interpret(nested.bind(tw::Array::zeros({5})))[0].to_vector<double>(), std::vector<double>(5, total));
}

TEST(Meaning, of_loads_and_stores_in_their_order) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto before = x[tile];
      x[tile] = 10;
      x[tile] += tile.index();
      auto after = x[tile];
      x[tile] = after + before * 100;
    }
    return x;
  });
  EXPECT_EQ(interpret(kernel.bind(tw::Array::arange(6)))[0].to_vector<int64_t>(),
            (std::vector<int64_t>{10, 111, 212, 313, 414, 515}));
}

// Causal attention of n queries over m keys: the kernel is one for all sizes, 1 among them.
TEST(Meaning, of_causal_attention_at_any_size) {
  auto causal = tw::kernel("causal", [](tw::Tensor q, tw::Tensor k, tw::Tensor v) {
    auto out = tw::empty_like(q);
    for (auto tile_q : tw::tile(q.size(0))) {
      auto largest = tw::full({tile_q}, -INFINITY);
      auto total = tw::zeros({tile_q});
      auto acc = tw::zeros({tile_q, v.size(1)});
      for (auto tile_k : tw::tile(0, tile_q.end())) {
        auto scores = tw::dot(q[tile_q, tw::_], k[tile_k, tw::_].t());
        scores = tw::where(tile_q.index()[tw::_, tw::none] >= tile_k.index(), scores, -INFINITY);
        auto next = tw::maximum(largest, tw::amax(scores, 1));
        auto weights = tw::exp(scores - next[tw::_, tw::none]);
        auto fade = tw::exp(largest - next);
        total = total * fade + tw::sum(weights, 1);
        acc = tw::addmm(acc * fade[tw::_, tw::none], weights, v[tile_k, tw::_]);
        largest = next;
      }
      out[tile_q, tw::_] = acc / total[tw::_, tw::none];
    }
    return out;
  });
  for (int64_t n : {1, 2, 7}) {
    for (int64_t d : {1, 3}) {
      tw::Array q = tw::Array::randn({n, d}, 1), k = tw::Array::randn({n, d}, 2), v = tw::Array::randn({n, d}, 3);
      tw::Array expected = tw::Array::zeros({n, d}, tw::float64);
      for (int64_t i = 0; i < n; ++i) {
        double total = 0;
        for (int64_t j = 0; j <= i; ++j) {
          double score = 0;
          for (int64_t c = 0; c < d; ++c) score += double(q.at<float>({i, c})) * k.at<float>({j, c});
          total += std::exp(score);
          for (int64_t c = 0; c < d; ++c) expected.at<double>({i, c}) += std::exp(score) * v.at<float>({j, c});
        }
        for (int64_t c = 0; c < d; ++c) expected.at<double>({i, c}) /= total;
      }
      EXPECT_LT(tw::max_relative_error(interpret(causal.bind(q, k, v))[0], expected), 1e-5) << n << " x " << d;
    }
  }
}

// The reference gets T and floating point as float64, contiguous.
std::vector<tw::Array> reference_of(const tw::RegisteredKernel& kernel, std::vector<tw::AnyArgument> arguments) {
  for (tw::AnyArgument& argument : arguments)
    if (argument.is_array()) argument = tw::AnyArgument(argument.array().to(tw::float64).contiguous());
  return kernel.reference(arguments);
}

// Of the examples that any sizes go with; tests/unit/examples has all.
TEST(Meaning, of_examples_is_their_reference) {
  for (const char* example : {"add", "attention", "layer_norm", "linear", "matmul", "softmax", "softmax_online",
                              "softmax_steps", "geglu", "rms_norm", "split_k", "split_k_atomic"}) {
    const tw::RegisteredKernel* kernel = tw::find_registered_kernel(example);
    ASSERT_TRUE(kernel) << example;
    for (tw::DType dtype : kernel->dtypes) {
      double tolerance = dtype == tw::bfloat16 ? 0.02 : dtype == tw::float16 ? 0.004 : 1e-5;
      tw::Instance instance = kernel->default_instance();
      instance.set_dtype(dtype);
      for (int64_t size : {1, 6}) {
        for (const auto& [name, value] : instance.sizes()) instance.set(name, size);
        for (const auto& [odd, value] : instance.sizes()) { // each size in turn is another
          instance.set(odd, 7);
          std::vector<tw::AnyArgument> arguments = kernel->make_arguments(instance);
          std::vector<tw::Array> results = interpret(kernel->bind(arguments));
          std::vector<tw::Array> expected = reference_of(*kernel, arguments);
          ASSERT_EQ(results.size(), expected.size());
          for (size_t i = 0; i < results.size(); ++i)
            EXPECT_LT(tw::max_relative_error(results[i], expected[i]), tolerance)
                << kernel->name << " " << tw::name(dtype) << ", " << odd << " = 7, else " << size;
          instance.set(odd, size);
        }
      }
    }
  }
}

} // namespace
