#include "worker/cache/directory_id.hpp"

#include "common/files.hpp"

#include <fstream>
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
  const auto there = read_file(path, 2 * id_bytes);
  if (there && there->size() == 2 * id_bytes &&
      there->find_first_not_of("0123456789abcdef") == std::string::npos)
    return there;
  if (read_only) return fail(Reason::cache_failed, path.string() + " does not hold the id of a cache");
  std::error_code error;
  const bool is_absent =
      std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
  // The ledger knows by it what the cache holds: only one that is none is replaced.
  if (!there && there.error().reason == Reason::file_unreadable && !is_absent)
    return fail(Reason::cache_failed,
                path.string() + " " + there.error().message + "; check its permissions");
  // Absent, or cut off when its writer died: written beside and renamed, so that it is whole or not there.
  const std::string id = random_id();
  const auto draft = dir / "ID.new";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out << id << std::flush;
  error.clear();
  if (out) std::filesystem::rename(draft, path, error);
  if (!out || error) return fail(Reason::cache_failed, "cannot write " + path.string());
  return id;
}

}  // namespace sluice
