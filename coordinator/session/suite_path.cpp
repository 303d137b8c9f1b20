#include "coordinator/session/suite_path.hpp"

#include "coordinator/gate/quoted.hpp"

#include <filesystem>
#include <system_error>

namespace sluice {

std::string suite_path_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  auto whole = fs::weakly_canonical(path, error);
  if (error || !whole.is_absolute()) whole = fs::absolute(path, error).lexically_normal();
  auto text = whole.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string how_to_list_tests(const std::string& path) {
  return "; `sluice list-fixtures " + shell_word(path) + "` lists its tests";
}

}  // namespace sluice
