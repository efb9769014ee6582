// Log lines for the person at the terminal: one logger, to stderr, each line as it is written, without a prefix.
// The environment variable TILEWRIGHT_LOG sets the level: trace, debug, info (the default), warning, error or off.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace tilewright {

enum class LogLevel : uint8_t { trace, debug, info, warning, error, off };

// Lines below the level are neither formatted nor written.
LogLevel log_level();
void set_log_level(LogLevel level);
void write_log_line(LogLevel level, std::string_view line);

template <class... Args> void log_line(LogLevel level, fmt::format_string<Args...> message, Args&&... args) {
  if (level >= log_level()) write_log_line(level, fmt::format(message, std::forward<Args>(args)...));
}

template <class... Args> void log_debug(fmt::format_string<Args...> message, Args&&... args) {
  log_line(LogLevel::debug, message, std::forward<Args>(args)...);
}

template <class... Args> void log_info(fmt::format_string<Args...> message, Args&&... args) {
  log_line(LogLevel::info, message, std::forward<Args>(args)...);
}

template <class... Args> void log_warning(fmt::format_string<Args...> message, Args&&... args) {
  log_line(LogLevel::warning, message, std::forward<Args>(args)...);
}

} // namespace tilewright
