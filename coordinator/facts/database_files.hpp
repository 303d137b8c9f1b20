#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// What SQLite keeps beside a database: its log of commits, that of a commit that was cut off, and an index
/// of the former.
inline constexpr std::array<std::string_view, 3> database_endings{"-wal", "-journal", "-shm"};

/// The database and what SQLite keeps beside it, whether or not it is there.
inline std::array<std::string, 4> database_files(const std::string& database) {
  std::array<std::string, 4> files;
  files.fill(database);
  for (std::size_t i = 0; i < database_endings.size(); ++i) files[i + 1] += database_endings[i];
  return files;
}

}  // namespace sluice
