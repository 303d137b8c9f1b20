#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

/// What the settings of a run were read from beside its flags and its suite.
struct CopiedSettings {
  std::string folder;                            ///< The current one: what paths in settings are relative to.
  std::string file;                              ///< As it was named.
  std::optional<std::string> text;               ///< Nothing: there was no file.
  std::map<std::string, std::string> variables;  ///< Those of settings, by name.
  friend bool operator==(const CopiedSettings&, const CopiedSettings&) = default;
};

/// What a suite was read from, as it was then, and the settings of its run: by it a past run is shown
/// whatever became of the files. Paths are absolute and without dots, as they were written: whatever links
/// say.
struct SuiteCopy {
  std::string suite;                                        ///< The file or folder that was named.
  std::map<std::string, std::string> files;                 ///< What each holds.
  std::map<std::string, std::vector<CopiedEntry>> folders;  ///< Those that were listed.
  std::optional<CopiedSettings> settings{};                 ///< Nothing: they may hold a secret.
  friend bool operator==(const SuiteCopy&, const SuiteCopy&) = default;
};

}  // namespace sluice
