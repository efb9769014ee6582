// What the writers of cases share: a case's folder, as tests/triton reads it.
#pragma once

#include "driver/specialisation.h"
#include "driver/triton_options.h"
#include "tilewright/array.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::test {

// Triton's interpreter is slow: a function is called for each lane of a tile that is reduced.
inline BackendLimits small_limits() {
  BackendLimits limits = limits_of(triton::GpuTarget());
  limits.max_block_elements = 2048;
  limits.worker_count = 3;
  return limits;
}

inline void write_bytes(const std::filesystem::path& path, const void* data, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

/// Its elements in row-major order, its sizes and its strides.
inline nlohmann::json write_array(const std::filesystem::path& folder, const std::string& file, const Array& array) {
  Array dense = array.contiguous();
  write_bytes(folder / file, dense.data(), static_cast<size_t>(dense.numel()) * size_in_bytes(dense.dtype()));
  return {{"file", file},
          {"dtype", name(dense.dtype())},
          {"sizes", std::vector(array.sizes().begin(), array.sizes().end())},
          {"strides", std::vector(array.strides().begin(), array.strides().end())}};
}

/// A number among a call's arguments.
inline nlohmann::json number_of(const detail::Argument& argument) {
  auto value = [&](auto zero) {
    std::memcpy(&zero, argument.data, sizeof(zero));
    return zero;
  };
  nlohmann::json json{{"dtype", name(argument.dtype)}};
  switch (argument.dtype) {
  case float64: json["value"] = value(double()); break;
  case float32: json["value"] = value(float()); break;
  case int64: json["value"] = value(int64_t()); break;
  case int32: json["value"] = value(int32_t()); break;
  case boolean: json["value"] = value(bool()); break;
  default: throw std::runtime_error("a number of a type that no kernel here has");
  }
  return json;
}

/// Of a call before it is made; `results` is still empty.
inline nlohmann::json case_of(const Specialisation& specialisation, const detail::Call& call, const Config& config,
                              const std::filesystem::path& folder) {
  nlohmann::json json{{"kernel", specialisation.kernel},
                      {"description", specialisation.description},
                      {"config", nlohmann::json::parse(config.to_json())},
                      {"arguments", nlohmann::json::array()},
                      {"results", nlohmann::json::array()}};
  for (const Specialisation::Parameter& parameter : specialisation.parameters) {
    std::string file = fmt::format("argument{}.bin", json["arguments"].size());
    nlohmann::json one = parameter.is_array ? write_array(folder, file, specialisation.array_of(parameter, call))
                                            : number_of(call.arguments[parameter.argument]);
    one["written"] = parameter.is_written;
    json["arguments"].push_back(one);
  }
  return json;
}

} // namespace tilewright::test
