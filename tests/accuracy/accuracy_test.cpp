// Every pointwise operation, dtype and class of block sizes: compiled for the CPU, over inputs of all kinds. Results
// are PyTorch's: their dtype, what is refused, NaN and infinities, integers and bools to the bit. Floating-point
// results are off by at most twice as much as PyTorch's, or 1 unit in the last place.
#include "operands.h"

#include "tilewright/tilewright.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <map>

namespace tilewright::accuracy {
namespace {

using Json = nlohmann::json;
using Apply = Value (*)(const Value* operands, const double* numbers);

// How each line is called, by its name.
const std::map<std::string_view, Apply>& calls() {
  static const std::map<std::string_view, Apply> calls{
#define TILEWRIGHT_UNARY(name, ...) {#name, [](const Value* x, const double*) { return tilewright::name(x[0]); }},
#define TILEWRIGHT_UNARY_1(name, ...)                                                                                  \
  {#name, [](const Value* x, const double* n) { return tilewright::name(x[0], n[0]); }},
#define TILEWRIGHT_UNARY_2(name, ...)                                                                                  \
  {#name, [](const Value* x, const double* n) { return tilewright::name(x[0], n[0], n[1]); }},
#define TILEWRIGHT_BINARY(name, ...)                                                                                   \
  {#name, [](const Value* x, const double*) { return tilewright::name(x[0], x[1]); }},
#define TILEWRIGHT_TERNARY(name, ...)                                                                                  \
  {#name, [](const Value* x, const double*) { return tilewright::name(x[0], x[1], x[2]); }},
#define TILEWRIGHT_TERNARY_1(name, ...)                                                                                \
  {#name, [](const Value* x, const double* n) { return tilewright::name(x[0], x[1], x[2], n[0]); }},
#define TILEWRIGHT_VARIANT(name, spelling, operands, ...)                                                              \
  {#name, [](const Value* x, const double*) {                                                                          \
     const Value &a = x[0], &b = x[operands - 1];                                                                      \
     (void)b;                                                                                                          \
     return tilewright::spelling;                                                                                      \
   }},
#include "tilewright/operations.inc"
  };
  return calls;
}

const Json& pytorch() {
  static const Json json =
      Json::parse(std::ifstream(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/accuracy/pytorch_errors.json"));
  return json;
}

// The operands as the rows of one array.
Array array_of(const Inputs& inputs, DType dtype) {
  Array x = Array::empty({static_cast<int64_t>(inputs.rows.size()), static_cast<int64_t>(inputs.size())}, dtype);
  auto* bytes = static_cast<std::byte*>(x.data());
  size_t size = size_in_bytes(dtype);
  for (const auto& row : inputs.rows)
    for (uint64_t bits : row) std::memcpy(std::exchange(bytes, bytes + size), &bits, size);
  return x;
}

class Accuracy : public testing::TestWithParam<size_t> {
protected:
  const Case& test() const { return cases()[GetParam()]; }

  Array run(const Array& x, DType result_dtype, int64_t block) const {
    Apply apply = calls().at(test().name);
    const double* numbers = test().numbers.data();
    int operands = test().operands;
    auto kernel = tilewright::kernel("pointwise", [=](Tensor x) {
      auto out = empty({x.size(1)}, result_dtype);
      for (auto tile : tilewright::tile(x.size(1))) {
        Value rows[3];
        for (int i = 0; i < operands; ++i) rows[i] = Value(x[i, tile]);
        Value result = apply(rows, numbers);
        EXPECT_EQ(name(result.dtype()), name(result_dtype));
        out[tile] = result;
      }
      return out;
    });
    return kernel.with(Config{{"block_sizes", {block}}})(x);
  }

  void compare(const Json& expected, DType dtype, const Inputs& inputs, const Array& found) const {
    DType result_dtype = found.dtype();
    size_t size = size_in_bytes(result_dtype);
    const auto* bytes = static_cast<const std::byte*>(found.data());
    if (expected.contains("hash")) {
      EXPECT_EQ(hash_of({bytes, inputs.size() * size}), expected["hash"].get<std::string>());
      return;
    }
    double errors[2] = {};
    size_t worst[2] = {}, wrong = 0;
    auto describe = [&](size_t i) {
      std::string text = test().key + "(";
      for (const auto& row : inputs.rows)
        text += (&row == &inputs.rows[0] ? "" : ", ") + text_of(number(row[i], dtype));
      Real result = result_at(bytes, i, result_dtype);
      return text + ") is " + text_of(result) + ", exactly " + text_of(reference_at(test(), inputs, i, dtype));
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      Real result = result_at(bytes, i, result_dtype), reference = reference_at(test(), inputs, i, dtype);
      std::string index = std::to_string(i);
      bool pytorch_differs = expected.contains("differs") && expected["differs"].contains(index);
      std::string pytorch_is = pytorch_differs ? expected["differs"][index].get<std::string>() : "";
      if (!is_floating_point(result_dtype)) {
        std::string wanted = pytorch_differs ? pytorch_is : reference != 0 ? "1" : "0";
        if ((result != 0 ? "1" : "0") != wanted && ++wrong <= 3)
          ADD_FAILURE() << describe(i) << ", in PyTorch " << wanted;
        continue;
      }
      char is = kind_of(result, result_dtype), exact = kind_of(reference, result_dtype);
      // Where PyTorch differs from the exact result, in overflow say, either is right.
      if (pytorch_differs && pytorch_is[0] == is) continue;
      if (is == 'n' || exact == 'n') {
        if (is != exact && ++wrong <= 3)
          ADD_FAILURE() << describe(i) << (pytorch_differs ? ", in PyTorch " + pytorch_is : "");
        continue;
      }
      bool extreme = i >= inputs.ordinary;
      double error = error_in_ulps(result, reference, result_dtype);
      if (error > errors[extreme]) errors[extreme] = error, worst[extreme] = i;
    }
    if (!is_floating_point(result_dtype)) return;
    for (bool extreme : {false, true}) {
      const char* group = extreme ? "extreme" : "ordinary";
      if (!expected.contains(group)) continue;
      double allowed = std::max(2 * expected[group].get<double>(), 1.0);
      RecordProperty(std::string(name(dtype)) + "_" + group, std::to_string(errors[extreme]));
      EXPECT_LE(errors[extreme], allowed) << group << ": " << describe(worst[extreme]);
    }
  }

private:
  static Real result_at(const std::byte* bytes, size_t i, DType dtype) {
    uint64_t bits = 0;
    size_t size = size_in_bytes(dtype);
    std::memcpy(&bits, bytes + i * size, size);
    return number(bits, dtype);
  }
  static std::string text_of(Real value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.21Lg", value);
    return text;
  }
};

TEST_P(Accuracy, of_results_is_pytorchs) {
  ASSERT_TRUE(pytorch().contains(test().key)) << "measure_pytorch.py has not been run for it";
  for (DType dtype : kTestedDTypes) {
    SCOPED_TRACE(name(dtype));
    const Json& expected = pytorch()[test().key][std::string(name(dtype))];
    Inputs operands = inputs(dtype, test().operands, divides(test()));
    Array x = array_of(operands, dtype);
    if (expected.contains("refused")) {
      EXPECT_THROW(run(x, dtype, 1), Error) << "PyTorch refuses it";
      continue;
    }
    DType result_dtype = *dtype_from_name(expected["result"].get<std::string>());
    int64_t size = static_cast<int64_t>(operands.size());
    // Single elements, blocks that no vector divides, and one that all of it fits into.
    std::vector<int64_t> blocks{size + 3};
    if (dtype == float32 || dtype == float64) blocks.insert(blocks.end(), {1, 37});
    for (int64_t block : blocks) {
      SCOPED_TRACE("block size " + std::to_string(block));
      try {
        compare(expected, dtype, operands, run(x, result_dtype, block));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      if (HasFailure()) break;
    }
  }
}

std::string case_name(const testing::TestParamInfo<size_t>& info) {
  std::string name;
  for (char c : cases()[info.param].key) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Pointwise, Accuracy, testing::Range<size_t>(0, cases().size()), case_name);

} // namespace
} // namespace tilewright::accuracy
