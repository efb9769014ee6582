// The half of measure_pytorch.py that knows the operations and their references.
//
//   pytorch_errors inputs FOLDER                 writes the inputs, and manifest.json, which says what to compute from
//   them pytorch_errors compare FOLDER OUTPUT ABOUT   reads what PyTorch made of them, and writes OUTPUT
//
// OUTPUT holds, for each case (cases.h) and dtype of the operands:
//   refused             PyTorch does not take this dtype
//   result              the result's dtype
//   ordinary, extreme   for floating-point results, the largest error in ulps over the inputs of moderate size, and
//   over
//                       all others
//   differs             where PyTorch has an infinity or NaN and the exact result rounds to something else, or the
//   other
//                       way round: by element, what PyTorch has (n, +, - or 0 for a finite number); for bool results,
//                       where they differ: 0 or 1
//   hash                for other exact results: of their bytes
#include "cases.h"
#include "measuring_tool.h"
#include "operands.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>

namespace tilewright::accuracy {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void write_inputs(const fs::path& folder) {
  Json manifest = Json::array();
  for (const Case& test : cases()) {
    Json files;
    for (DType dtype : kTestedDTypes) {
      std::string file =
          std::to_string(test.operands) + "." + std::string(name(dtype)) + (divides(test) ? ".divides" : "") + ".in";
      files[std::string(name(dtype))] = file;
      std::string bytes;
      for (const auto& row : inputs(dtype, test.operands, divides(test)).rows)
        for (uint64_t bits : row) bytes.append(reinterpret_cast<const char*>(&bits), size_in_bytes(dtype));
      write(folder / file, bytes);
    }
    manifest.push_back(
        {{"name", test.name}, {"operands", test.operands}, {"numbers", test.numbers}, {"inputs", files}});
  }
  write(folder / "manifest.json", manifest.dump());
}

Json compared(const Case& test, DType dtype, DType result_dtype, const std::string& bytes) {
  Json found{{"result", name(result_dtype)}};
  Inputs operands = inputs(dtype, test.operands, divides(test));
  if (!is_floating_point(dtype) && !is_floating_point(result_dtype)) {
    found["hash"] = hash_of(std::as_bytes(std::span(bytes)));
    return found;
  }
  size_t size = size_in_bytes(result_dtype);
  Json differs;
  double errors[2] = {};
  for (size_t i = 0; i < operands.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    Real result = number(bits, result_dtype), reference = reference_at(test, operands, i, dtype);
    if (!is_floating_point(result_dtype)) {
      if ((reference != 0) != (result != 0)) differs[std::to_string(i)] = result != 0 ? "1" : "0";
      continue;
    }
    char is = kind_of(result, result_dtype), expected = kind_of(reference, result_dtype);
    if (is == 'n' || expected == 'n') {
      if (is != expected) differs[std::to_string(i)] = std::string(1, is);
      continue;
    }
    double error = error_in_ulps(result, reference, result_dtype);
    // An infinity for a number that is far from the largest, or the reverse.
    if (is != expected && error > 16) {
      differs[std::to_string(i)] = std::string(1, is);
      continue;
    }
    double& largest = errors[i >= operands.ordinary];
    largest = std::max(largest, error);
  }
  if (is_floating_point(result_dtype)) {
    found["ordinary"] = std::ceil(errors[0] * 1000) / 1000;
    if (is_floating_point(dtype)) found["extreme"] = std::ceil(errors[1] * 1000) / 1000;
  }
  if (!differs.is_null()) found["differs"] = differs;
  return found;
}

void compare(const fs::path& folder, const fs::path& output, const std::string& about) {
  Json results = Json::parse(read(folder / "results.json"));
  std::string text = "{\n\"about\": " + Json(about).dump();
  for (size_t i = 0; i < cases().size(); ++i) {
    const Case& test = cases()[i];
    Json line;
    for (DType dtype : kTestedDTypes) {
      std::string own(name(dtype));
      const Json& result = results[i][own];
      if (result.contains("refused")) {
        line[own] = {{"refused", true}};
        continue;
      }
      DType result_dtype = *dtype_from_name(result["result"].get<std::string>());
      line[own] = compared(test, dtype, result_dtype, read(folder / (std::to_string(i) + "." + own + ".out")));
    }
    text += ",\n" + Json(test.key).dump() + ": " + line.dump();
  }
  write(output, text + "\n}\n");
}

} // namespace
} // namespace tilewright::accuracy

int main(int count, char** arguments) {
  using namespace tilewright::accuracy;
  return run_tool(count, arguments, write_inputs, compare);
}
