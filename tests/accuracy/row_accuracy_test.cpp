// Reductions, scans and matrix products along rows of every kind and length, for every class of block sizes: off by at
// most twice as much as PyTorch, or 1 unit in the last place; of sums, in that of the sum of their terms' magnitudes.
// NaN and infinities are PyTorch's.
#include "row_results.h"

#include "tilewright/tilewright.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

namespace tilewright::accuracy {
namespace {

using Json = nlohmann::json;
using Apply = Value (*)(const Value& x, const Tensor& columns);

const std::map<std::string_view, Apply>& calls() {
  static const std::map<std::string_view, Apply> calls{
      {"sum", [](const Value& x, const Tensor&) { return sum(x, 1); }},
      {"mean", [](const Value& x, const Tensor&) { return mean(x, 1); }},
      {"amax", [](const Value& x, const Tensor&) { return amax(x, 1); }},
      {"logsumexp", [](const Value& x, const Tensor&) { return logsumexp(x, 1); }},
      {"softmax", [](const Value& x, const Tensor&) { return softmax(x, 1); }},
      {"log_softmax", [](const Value& x, const Tensor&) { return log_softmax(x, 1); }},
      {"cumsum", [](const Value& x, const Tensor&) { return cumsum(x, 1); }},
      {"var", [](const Value& x, const Tensor&) { return var(x, 1); }},
      {"std", [](const Value& x, const Tensor&) { return std(x, 1); }},
      {"norm", [](const Value& x, const Tensor&) { return norm(x, 2, 1); }},
      {"matmul", [](const Value& x, const Tensor& columns) { return matmul(x, columns[_, _]); }},
  };
  return calls;
}

const Json& pytorch() {
  static const Json json =
      Json::parse(std::ifstream(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/accuracy/pytorch_row_errors.json"));
  return json;
}

Array matrix_of(const std::vector<std::vector<uint64_t>>& rows, DType dtype) {
  Array x = Array::empty({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}, dtype);
  auto* bytes = static_cast<std::byte*>(x.data());
  for (const auto& row : rows)
    for (uint64_t bits : row)
      std::memcpy(std::exchange(bytes, bytes + size_in_bytes(dtype)), &bits, size_in_bytes(dtype));
  return x;
}

Array columns_of(DType dtype, int64_t length) {
  std::vector<double> values;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t column = 0; column < kColumns; ++column)
      values.push_back(static_cast<double>(column_element(i, column, dtype)));
  return Array::from_vector(values, {length, kColumns}).to(dtype);
}

class RowAccuracy : public testing::TestWithParam<size_t> {};

TEST_P(RowAccuracy, of_results_is_pytorchs) {
  const RowCase& test = row_cases()[GetParam()];
  ASSERT_TRUE(pytorch().contains(test.name)) << "measure_pytorch_rows.py has not been run for it";
  Apply apply = calls().at(test.name);
  const bool is_matrix = !test.reference, keeps_row = test.keeps_row;
  const bool may_be_rolled = !is_matrix && test.name != "cumsum";
  auto kernel = tilewright::kernel("rows", {"x", "columns"}, [=](Tensor x, Tensor columns) {
    auto [m, n] = x.sizes<2>();
    auto out = is_matrix || keeps_row ? empty({m, is_matrix ? columns.size(1) : n}, x.dtype()) : empty({m}, x.dtype());
    for (auto tile : tilewright::tile(m)) {
      Value result = apply(x[tile, _], columns);
      if (is_matrix || keeps_row)
        out[tile, _] = result;
      else
        out[tile] = result;
    }
    return out;
  });
  for (DType dtype : kRowDTypes) {
    const Json& expected = pytorch()[std::string(test.name)][std::string(name(dtype))];
    std::vector<double> largest(kKinds, 0.0);
    for (int64_t length : kRowLengths) {
      Array x = matrix_of(rows(dtype, length), dtype), columns = columns_of(dtype, length);
      const std::vector<ExactRow> exact = exact_rows(test, dtype, length);
      for (int64_t block : {1, 3, 64})
        for (const char* rolled : {"null", "16"}) {
          SCOPED_TRACE(std::string(name(dtype)) + ", length " + std::to_string(length) + ", block " +
                       std::to_string(block) + ", rolled " + rolled);
          std::string config = "{\"block_sizes\": [" + std::to_string(block) + "]";
          if (length > 16 && may_be_rolled && rolled != std::string("null"))
            config += ", \"reduction_loops\": [" + std::string(rolled) + "]";
          Array found = kernel.with(Config::from_json(config + "}"))(x, columns);
          std::span bytes(static_cast<const std::byte*>(found.data()), found.numel() * size_in_bytes(dtype));
          int wrong = 0;
          std::vector<WorstError> worst = worst_errors(exact, bytes, dtype, [&](size_t row, size_t element, char is) {
            std::string at = std::to_string(length) + ":" + std::to_string(row) + ":" + std::to_string(element);
            // Where PyTorch differs from the exact result, in overflow say, either is right.
            if (expected.contains("differs") && expected["differs"].contains(at)) return;
            if (++wrong <= 3)
              ADD_FAILURE() << test.name << " of row " << row << ", element " << element << " is " << is;
          });
          for (size_t kind = 0; kind < kKinds; ++kind) {
            const WorstError& here = worst[kind];
            size_t same = 0;
            // Equal terms in float64 are rounded the same way each time. PyTorch adds in pairs, and sees less of it
            // than the sums here, which add a few vectors side by side.
            const double factor = kind_of_row(here.row, same) == "equal" && dtype == float64 ? 6 : 2;
            const double allowed = std::max(factor * expected["errors"][kind].get<double>(), 1.0);
            EXPECT_LE(here.ulps, allowed) << test.name << " of " << kind_of_row(here.row, same) << " row " << here.row
                                          << ", element " << here.element << ": " << static_cast<double>(here.result)
                                          << ", exactly " << static_cast<double>(here.exact);
            largest[kind] = std::max(largest[kind], here.ulps);
          }
          if (HasFailure()) break;
        }
    }
    for (size_t row = 0, kind = 0; row < 18 + 6; row += row < 18 ? 3 : 1) {
      std::string property = std::string(name(dtype)) + " " + std::string(kind_of_row(row, kind));
      RecordProperty(property, std::to_string(largest[kind]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RowAccuracy, testing::Range<size_t>(0, row_cases().size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           return std::string(row_cases()[info.param].name);
                         });

} // namespace
} // namespace tilewright::accuracy
