// What kernels print, kept for comparing.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace tilewright::fuzz {

/// While it lives, what is written to the C library's standard output is kept here, and goes nowhere else.
class CapturedOutput {
public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;

  /// The lines so far, sorted. Those of tw::print() without the program's number, which says where a config runs what,
  /// and with one zero.
  std::vector<std::string> lines();

private:
  std::FILE* before_;
  std::FILE* captured_;
  char* text_ = nullptr;
  size_t size_ = 0;
};

} // namespace tilewright::fuzz
