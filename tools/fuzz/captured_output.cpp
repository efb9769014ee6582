#include "fuzz/captured_output.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace tilewright::fuzz {

// glibc's stdout is a variable.
CapturedOutput::CapturedOutput() : before_(stdout), captured_(open_memstream(&text_, &size_)) {
  if (!captured_) throw std::runtime_error("no memory for what a kernel prints");
  std::fflush(before_);
  stdout = captured_;
}

CapturedOutput::~CapturedOutput() {
  stdout = before_;
  std::fclose(captured_);
  std::free(text_);
}

std::vector<std::string> CapturedOutput::lines() {
  std::fflush(captured_);
  std::vector<std::string> lines;
  std::string_view text(text_, size_);
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t begin = line.find(" (program ");
    if (begin != std::string::npos) line.erase(begin, line.find(')', begin) + 1 - begin);
    if (line.ends_with(" = -0")) line.erase(line.size() - 2, 1);
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

} // namespace tilewright::fuzz
