#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace sluice {

/// An open file, closed with this. Nothing is open below 0.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// The whole content of a regular file. file_unreadable if it cannot be opened or is no regular file (a pipe
/// would block), file_too_large if it holds more than `max_bytes`; the message names no path, so that callers
/// can put it beside one.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);
/// Of a file that was just opened.
Result<std::string> read_file(const FileDescriptor& file, std::size_t max_bytes);
/// Of one that was also checked: `facts` are those of check_regular.
Result<std::string> read_file(const FileDescriptor& file, const struct stat& facts, std::size_t max_bytes);

/// What the system says of an open file; file_unreadable unless it is a regular one.
Result<struct stat> check_regular(const FileDescriptor& file);

/// Whether the folder is there, and nothing can be written in it: by its permissions, or since its file
/// system is read-only.
bool is_read_only_folder(const std::filesystem::path& folder);

/// Makes a folder, such as a home, that nobody but its owner can enter; folders above it are made as the
/// umask says. One that is there keeps its permissions. Says what keeps it from being made.
std::error_code make_private_folder(std::filesystem::path folder);

/// What stands in the folder, sorted; nothing of one that cannot be read.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder);

/// file_unreadable with what the system says of its error number: "cannot be read: ...".
Error unreadable_file(int error_number);

}  // namespace sluice
