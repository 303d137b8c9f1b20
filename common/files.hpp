#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace sluice {

/// The whole content of a regular file. file_unreadable if it cannot be opened, is no regular file (a pipe
/// would block), or holds more than `max_bytes`; the message names no path, so that callers can put it beside
/// one.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace sluice
