#include "coordinator/suite/suite_copier.hpp"

#include "coordinator/defaults.hpp"

#include <utility>

namespace sluice {

void SuiteCopier::add(const std::filesystem::path& path, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (copy_ == nullptr) return;
  const auto [file, is_new] = copy_->files.try_emplace(path.native(), text);
  if (!is_new) return;
  bytes_ += path.native().size() + text.size();
  if (bytes_ > defaults::max_copied_suite_bytes) copy_ = nullptr;
}

void SuiteCopier::give_up() {
  const std::lock_guard lock(mutex_);
  copy_ = nullptr;
}

std::shared_ptr<const SuiteCopy> SuiteCopier::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(copy_, nullptr);
}

}  // namespace sluice
