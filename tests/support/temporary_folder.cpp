#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <sys/stat.h>

namespace sluice::support {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const fs::path& in) {
  auto pattern = (in / "sluice-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::filesystem::perms left_to_others(const std::filesystem::path& path, const std::function<void()>& make) {
  const mode_t before = ::umask(022);
  make();
  ::umask(before);
  using std::filesystem::perms;
  return std::filesystem::status(path).permissions() & (perms::group_all | perms::others_all);
}

std::string read_text(const fs::path& file) {
  if (!fs::is_regular_file(file)) return {};  // A device may never end.
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error(file.string() + " cannot be written");
}

}  // namespace sluice::support
