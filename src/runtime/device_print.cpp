#include "runtime/device_print.h"

#include <bit>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>

namespace tilewright {

void print_from_device(const char* text, int64_t program, const int64_t* index, int64_t rank, PrintedKind kind,
                       int64_t bits) {
  std::string line = fmt::format("{} (program {})", text, program);
  if (rank > 0) line += fmt::format(" [{}]", fmt::join(std::span(index, static_cast<size_t>(rank)), ", "));
  switch (kind) {
  case PrintedKind::nothing: break;
  case PrintedKind::real: line += fmt::format(" = {}", std::bit_cast<double>(bits)); break;
  case PrintedKind::integer: line += fmt::format(" = {}", bits); break;
  case PrintedKind::boolean: line += bits ? " = true" : " = false"; break;
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout); // locks the stream
  // A stdout that is a pipe or a file is buffered until the process ends, by which time nobody knows what printed it.
  std::fflush(stdout);
}

} // namespace tilewright
