// Reading and writing whole files, and where Tilewright keeps its own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tilewright {

// The folder for what Tilewright may lose and make again: $XDG_CACHE_HOME/tilewright, else ~/.cache/tilewright. It need
// not exist. A relative XDG_CACHE_HOME is ignored, as the XDG base directory specification asks. Throws Error where the
// user has no home directory.
std::filesystem::path user_cache_directory();

// The file's bytes. Throws Error, naming the file and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Makes `path` hold exactly `bytes`; its folder is created. A reader, and whoever looks after a crash, sees the old
// file or the whole new one. Throws Error, naming the file and the system's reason, and then leaves the old file.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

} // namespace tilewright
