#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

/// Files, and folders with all below them, that are looked at for changes: by what the file system says of
/// each file, which holds on network drives and for links too. Hidden names (with a dot in front), logs
/// (`.log`), copies that editors leave (`~` at the end), links to folders, what cannot be read and what is
/// ignored do not count. Not thread-safe.
class WatchedFiles {
 public:
  /// A file, or a folder; it need not be there yet.
  void add(const std::filesystem::path& path) { roots_.push_back(whole(path)); }
  /// This file, the drafts from which it is made, and all below it do not count.
  void ignore(const std::filesystem::path& path) { ignored_.push_back(whole(path)); }
  /// A file that is open here, wherever it lies, does not count: what is printed may go into it.
  void ignore_open(int descriptor);
  /// Whether what is ignored holds something that is to be watched: it would never count.
  bool ignores_a_root() const;

  /// Those that changed, came or went since the last call, by name. The first call finds none.
  std::vector<std::filesystem::path> take_changes();

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    friend auto operator<=>(const Stamp&, const Stamp&) = default;
  };
  using State = std::map<std::filesystem::path, Stamp>;

  static std::filesystem::path whole(const std::filesystem::path& path);
  bool counts(const std::filesystem::path& path) const;
  void look_at(const std::filesystem::path& file, State& state) const;
  State look() const;

  std::vector<std::filesystem::path> roots_;
  std::vector<std::filesystem::path> ignored_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ignored_open_;  ///< Device and number.
  std::optional<State> known_;
};

}  // namespace sluice
