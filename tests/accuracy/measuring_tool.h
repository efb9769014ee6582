// What the tools have in common that compare PyTorch's results with exact ones: one half is a Python script, which asks
// for the inputs and hands over what PyTorch made of them.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tilewright::accuracy {

inline void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The exit status of `TOOL inputs FOLDER` and `TOOL compare FOLDER OUTPUT ABOUT`.
int run_tool(int count, char** arguments, auto&& write_inputs, auto&& compare) {
  std::string_view command = count > 1 ? arguments[1] : "";
  if (command == "inputs" && count == 3)
    write_inputs(arguments[2]);
  else if (command == "compare" && count == 5)
    compare(arguments[2], arguments[3], arguments[4]);
  else
    return std::fprintf(stderr, "usage: %s inputs FOLDER | compare FOLDER OUTPUT ABOUT\n", arguments[0]), 2;
  return 0;
}

} // namespace tilewright::accuracy
