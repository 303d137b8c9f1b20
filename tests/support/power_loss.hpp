#pragma once

#include "tests/support/temporary_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace sluice::support {

/// What a loss of power leaves of a folder whose programs ran with `variables()`: the shim
/// (tests/power_loss/synced_files.cpp) keeps what they synced. None of them may be at work when it is looked
/// at.
class PowerLoss {
 public:
  /// What is below `root`, an absolute path without links, can be lost.
  explicit PowerLoss(std::filesystem::path root);

  /// For the environment of the programs.
  std::map<std::string, std::string> variables() const;
  /// How many files were synced at least once.
  std::size_t synced_files() const;

  /// Makes `copy` of what was synced and of nothing else: a file is what it was at its last sync, and has a
  /// name where its folder was synced after it got that.
  void leave_what_was_synced(const std::filesystem::path& copy) const;
  /// The same, but all names have got to the disk.
  void leave_all_names(const std::filesystem::path& copy) const;
  /// The same, and so have pages that `seed` draws of what was not synced: disks write what they like, and in
  /// any order.
  void leave_a_mixture(const std::filesystem::path& copy, std::uint32_t seed) const;

 private:
  /// Every file that is there, with what `content` makes of what was synced of it and of what it holds.
  template <class Content>
  void leave_each_file(const std::filesystem::path& copy, Content content) const;

  std::filesystem::path root_;
  TemporaryFolder disk_;
};

}  // namespace sluice::support
