#include "worker/cache/directory_id.hpp"

#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <system_error>

namespace sluice {

namespace {

constexpr std::size_t id_bytes = 16;

std::string random_id() {
  std::random_device source;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  for (std::size_t i = 0; i < 2 * id_bytes; ++i) id += digits[source() % digits.size()];
  return id;
}

}  // namespace

Result<std::string> directory_id(const std::filesystem::path& dir, bool read_only) {
  const auto path = dir / "ID";
  std::ifstream file(path, std::ios::binary);
  std::string id{std::istreambuf_iterator<char>(file), {}};
  if (id.size() == 2 * id_bytes && id.find_first_not_of("0123456789abcdef") == std::string::npos) return id;
  if (read_only) return fail(Reason::cache_failed, path.string() + " does not hold the id of a cache");
  // Absent, or cut off when its writer died: written beside and renamed, so that it is whole or not there.
  id = random_id();
  const auto draft = dir / "ID.new";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out << id << std::flush;
  std::error_code error;
  if (out) std::filesystem::rename(draft, path, error);
  if (!out || error) return fail(Reason::cache_failed, "cannot write " + path.string());
  return id;
}

}  // namespace sluice
