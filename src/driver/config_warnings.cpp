#include "driver/config_warnings.h"

#include "support/log.h"

#include <mutex>
#include <unordered_set>

namespace tilewright {

void warn_of_config(const std::string& kernel, std::span<const std::string> warnings) {
  static std::mutex mutex;
  static auto* said = new std::unordered_set<std::string>(); // never freed: other threads may outlive it
  for (const std::string& warning : warnings) {
    std::string line = "tilewright: " + kernel + ": " + warning;
    std::unique_lock lock(mutex);
    if (said->insert(line).second) log_warning("{}", line);
  }
}

} // namespace tilewright
