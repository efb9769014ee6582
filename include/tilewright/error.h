// Errors, and the place in the user's source that they speak of.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace tilewright {

// A place in a source file. `file` must outlive the location: a string literal, or one that is never freed. A default
// one is unknown. Functions that can fail take one as a last, defaulted parameter, so that their errors name the
// caller's line.
struct SourceLocation {
  const char* file = nullptr;
  uint32_t line = 0;
  uint32_t column = 0;

  constexpr SourceLocation() = default;
  constexpr SourceLocation(const char* file, uint32_t line, uint32_t column = 0)
      : file(file), line(line), column(column) {}
  constexpr SourceLocation(const std::source_location& location)
      : file(location.file_name()), line(location.line()), column(location.column()) {}

  constexpr bool known() const { return file != nullptr; }
};

// Everything Tilewright throws. what() is "file:line: message" where the location is known, else the message alone.
class Error : public std::runtime_error {
public:
  Error(const SourceLocation& location, const std::string& message);
  ~Error() override;

  const SourceLocation& location() const noexcept { return location_; }

private:
  SourceLocation location_;
};

} // namespace tilewright
