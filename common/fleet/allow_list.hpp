#pragma once

#include "common/error.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The workers that a coordinator admits: a line each, `NAME PUBLIC_KEY`; lines that begin with `#` say
/// nothing. A name may have several keys, while one is being replaced.
class AllowList {
 public:
  struct Entry {
    std::string name;
    std::string public_key;
    std::uint32_t line = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// Errors: settings_invalid, naming each line that is wrong; two names of one key are wrong too.
  static Result<AllowList> parse(std::string_view text, const std::string& file);
  /// Errors: as parse, as read_file, and settings_invalid for a file that others than its owner can write.
  static Result<AllowList> read(const std::filesystem::path& file);

  /// The name that the key has; nothing for one that is not listed.
  std::optional<std::string> name_of(std::string_view public_key) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;  ///< By key.
};

/// The list as `file` says, read again when the file changes. One that cannot be used leaves the last one in
/// force. Not thread-safe.
class WatchedAllowList {
 public:
  /// Errors: those of AllowList::read.
  static Result<WatchedAllowList> open(const std::filesystem::path& file);

  const AllowList& list() const { return list_; }
  /// Reads the file again if it is another than the one that the list came from. True if the list is another
  /// now; the same error of the same state of the file is given once.
  Result<bool> refresh();

 private:
  struct State {
    std::int64_t written_ns = 0;
    std::int64_t changed_ns = 0;  ///< Its permissions or name too.
    std::uint32_t mode = 0;
    std::uint64_t size = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  explicit WatchedAllowList(std::filesystem::path file);
  std::optional<State> state() const;

  std::filesystem::path file_;
  struct Failure {
    std::optional<State> state;
    std::string message;
    friend bool operator==(const Failure&, const Failure&) = default;
  };
  std::optional<State> state_;      ///< Before the file was read that the list came from.
  std::optional<Failure> failure_;  ///< Of the last try to read it again.
  AllowList list_;
};

}  // namespace sluice
