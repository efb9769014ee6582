#include "support/log.h"

#include "support/error.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace tilewright {

static constexpr std::pair<std::string_view, spdlog::level::level_enum> kLevels[] = {
    {"trace", spdlog::level::trace},  {"debug", spdlog::level::debug}, {"info", spdlog::level::info},
    {"warning", spdlog::level::warn}, {"error", spdlog::level::err},   {"off", spdlog::level::off},
};

static LogLevel level_from_environment() {
  const char* text = std::getenv("TILEWRIGHT_LOG");
  if (!text || !*text) return LogLevel::info;
  for (size_t i = 0; i < std::size(kLevels); ++i)
    if (text == kLevels[i].first) return LogLevel(i);
  fail("TILEWRIGHT_LOG is \"{}\"; expected trace, debug, info, warning, error or off", text);
}

static spdlog::level::level_enum spdlog_level(LogLevel level) { return kLevels[size_t(level)].second; }

// Never destroyed, so that destructors of static objects may still log.
static spdlog::logger& logger() {
  static spdlog::logger& instance = [&]() -> spdlog::logger& {
    LogLevel level = level_from_environment();
    auto* created = new spdlog::logger("tilewright", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%v");
    created->set_level(spdlog_level(level));
    created->flush_on(spdlog::level::trace);
    return *created;
  }();
  return instance;
}

LogLevel log_level() {
  auto level = logger().level();
  for (size_t i = 0; i < std::size(kLevels); ++i)
    if (level == kLevels[i].second) return LogLevel(i);
  return LogLevel::off;
}

void set_log_level(LogLevel level) { logger().set_level(spdlog_level(level)); }

void write_log_line(LogLevel level, std::string_view line) {
  logger().log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

} // namespace tilewright
