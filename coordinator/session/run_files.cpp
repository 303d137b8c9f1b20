#include "coordinator/session/run_files.hpp"

#include "common/files.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <filesystem>

namespace sluice {

const std::string* RunFiles::copied(const std::string& file) const {
  if (copy_ == nullptr) return nullptr;
  const std::filesystem::path folder = copy_->settings ? copy_->settings->folder : std::string();
  const auto found = copy_->files.find(whole_path(folder / file).native());
  return found != copy_->files.end() ? &found->second : nullptr;
}

Result<std::string> RunFiles::read(const std::string& file, std::size_t max_bytes) const {
  if (const std::string* text = copied(file)) return *text;
  auto text = read_file(file, max_bytes);
  if (text && copier_ != nullptr) copier_->add(whole_path(file), *text);
  return text;
}

void RunFiles::read_along(const std::string& file, std::size_t max_bytes) const {
  if (copier_ == nullptr) return;
  if (const auto text = read_file(file, max_bytes)) copier_->add(whole_path(file), *text);
}

}  // namespace sluice
