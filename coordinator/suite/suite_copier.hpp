#pragma once

#include "coordinator/facts/suite_copy.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace sluice {

/// Copies what is read of a suite, up to defaults::max_copied_suite_bytes of it in all. Thread-safe.
class SuiteCopier {
 public:
  /// The file or folder that was named. Paths: as those of SuiteCopy, also below.
  void begin(const std::filesystem::path& suite);
  /// Of a file that is read again with another text there is no copy.
  void add(const std::filesystem::path& path, std::string_view text);
  void add_settings(CopiedSettings settings);
  void add_folder(const std::filesystem::path& path, const std::vector<CopiedEntry>& entries);
  /// Something of the suite is not to be had, so that there is no copy of it.
  void give_up();
  /// Once the suite is read; what is read from then on is not copied. Null where there is no copy.
  std::shared_ptr<const SuiteCopy> take();

 private:
  void take_room(std::size_t bytes);

  std::mutex mutex_;
  std::shared_ptr<SuiteCopy> copy_ = std::make_shared<SuiteCopy>();
  std::size_t bytes_ = 0;
};

}  // namespace sluice
