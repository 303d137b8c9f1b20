#pragma once

#include "coordinator/facts/suite_copy.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

namespace sluice {

/// Copies what is read of a suite, up to defaults::max_copied_suite_bytes of it in all. Thread-safe.
class SuiteCopier {
 public:
  /// `path`: absolute and without dots. Of a file that is read again the first text stays.
  void add(const std::filesystem::path& path, std::string_view text);
  /// Something of the suite is not to be had, so that there is no copy of it.
  void give_up();
  /// Once the suite is read; what is read from then on is not copied. Null where there is no copy.
  std::shared_ptr<const SuiteCopy> take();

 private:
  std::mutex mutex_;
  std::shared_ptr<SuiteCopy> copy_ = std::make_shared<SuiteCopy>();
  std::size_t bytes_ = 0;
};

}  // namespace sluice
