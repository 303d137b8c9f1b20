#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// An entry of a folder, as it was when the folder was listed.
struct CopiedEntry {
  enum class Kind : std::uint8_t { folder, linked_folder, file, other };
  std::string name;
  Kind kind = Kind::other;  ///< A link to a file is a file.
  friend bool operator==(const CopiedEntry&, const CopiedEntry&) = default;
};

/// What a suite was read from, as it was then: by it a past run is shown whatever became of the files. Paths
/// are absolute and without dots, as they were written: whatever links say.
struct SuiteCopy {
  std::string suite;                                        ///< The file or folder that was named.
  std::map<std::string, std::string> files;                 ///< What each holds.
  std::map<std::string, std::vector<CopiedEntry>> folders;  ///< Those that were listed.
  friend bool operator==(const SuiteCopy&, const SuiteCopy&) = default;
};

}  // namespace sluice
