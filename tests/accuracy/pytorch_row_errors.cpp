// The half of measure_pytorch_rows.py that knows the inputs and the exact results.
//
//   pytorch_row_errors inputs FOLDER                 writes the rows and columns, and manifest.json
//   pytorch_row_errors compare FOLDER OUTPUT ABOUT   reads what PyTorch made of them, and writes OUTPUT: for each case
//                                                    (reductions.h) and dtype the largest error for each kind of rows,
//                                                    and where PyTorch has an infinity or NaN and the exact result
//                                                    rounds to something else, or the other way round: by length, row
//                                                    and element, what it has
#include "measuring_tool.h"
#include "row_results.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace tilewright::accuracy {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void write_inputs(const fs::path& folder) {
  Json manifest;
  for (const RowCase& test : row_cases()) manifest["cases"].push_back(test.name);
  for (int64_t length : kRowLengths) manifest["lengths"].push_back(length);
  for (DType dtype : kRowDTypes) {
    manifest["dtypes"].push_back(name(dtype));
    for (int64_t length : kRowLengths) {
      std::string bytes;
      for (const auto& row : rows(dtype, length))
        for (uint64_t bits : row) bytes.append(reinterpret_cast<const char*>(&bits), size_in_bytes(dtype));
      write(folder / fmt::format("rows.{}.{}", name(dtype), length), bytes);
      std::string columns; // exact in float64
      for (int64_t i = 0; i < length; ++i)
        for (int64_t column = 0; column < kColumns; ++column) {
          auto value = static_cast<double>(column_element(i, column, dtype));
          columns.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
      write(folder / fmt::format("columns.{}.{}", name(dtype), length), columns);
    }
  }
  manifest["columns"] = kColumns;
  write(folder / "manifest.json", manifest.dump());
}

void compare(const fs::path& folder, const fs::path& output, const std::string& about) {
  std::string text = "{\n\"about\": " + Json(about).dump();
  for (const RowCase& test : row_cases()) {
    Json line;
    for (DType dtype : kRowDTypes) {
      Json& found = line[std::string(name(dtype))];
      std::vector<double> largest(kKinds, 0.0);
      for (int64_t length : kRowLengths) {
        std::string bytes = read(folder / fmt::format("{}.{}.{}.out", test.name, name(dtype), length));
        auto differs = [&](size_t row, size_t element, char is) {
          found["differs"][fmt::format("{}:{}:{}", length, row, element)] = std::string(1, is);
        };
        auto exact = exact_rows(test, dtype, length);
        std::vector<WorstError> worst = worst_errors(exact, std::as_bytes(std::span(bytes)), dtype, differs);
        for (size_t kind = 0; kind < kKinds; ++kind) largest[kind] = std::max(largest[kind], worst[kind].ulps);
      }
      for (double error : largest) found["errors"].push_back(std::ceil(error * 1000) / 1000);
    }
    text += ",\n" + Json(test.name).dump() + ": " + line.dump();
  }
  write(output, text + "\n}\n");
}

} // namespace
} // namespace tilewright::accuracy

int main(int count, char** arguments) {
  using namespace tilewright::accuracy;
  return run_tool(count, arguments, write_inputs, compare);
}
