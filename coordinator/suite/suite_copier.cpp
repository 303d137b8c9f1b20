#include "coordinator/suite/suite_copier.hpp"

#include "coordinator/defaults.hpp"

#include <utility>

namespace sluice {

void SuiteCopier::begin(const std::filesystem::path& suite) {
  const std::lock_guard lock(mutex_);
  if (copy_ != nullptr) copy_->suite = suite.native();
}

void SuiteCopier::take_room(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > defaults::max_copied_suite_bytes) copy_ = nullptr;
}

void SuiteCopier::add(const std::filesystem::path& path, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (copy_ == nullptr) return;
  const auto [file, is_new] = copy_->files.try_emplace(path.native(), text);
  if (is_new) return take_room(path.native().size() + text.size());
  // It was changed meanwhile, or two names that links keep apart look alike.
  if (file->second != text) copy_ = nullptr;
}

void SuiteCopier::add_folder(const std::filesystem::path& path, const std::vector<CopiedEntry>& entries) {
  const std::lock_guard lock(mutex_);
  if (copy_ == nullptr || !copy_->folders.try_emplace(path.native(), entries).second) return;
  std::size_t bytes = path.native().size();
  for (const CopiedEntry& one : entries) bytes += sizeof one + one.name.size();
  take_room(bytes);
}

void SuiteCopier::add_settings(CopiedSettings settings) {
  const std::lock_guard lock(mutex_);
  if (copy_ != nullptr) copy_->settings = std::move(settings);
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
