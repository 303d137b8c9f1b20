#include "coordinator/ledger/file_swap.hpp"

#include "common/disk.hpp"
#include "coordinator/facts/database_files.hpp"

#include <array>
#include <string>
#include <string_view>
#include <system_error>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// What must not be read with another file: its log of commits, and that of a commit that was cut off. The
/// index is no loss.
constexpr std::array logs{"-wal", "-journal"};

fs::path restored_beside(const fs::path& file) {
  return file.string() + ".restored";
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Error not_replaced(const fs::path& file, const std::string& why) {
  return {Reason::output_failed, "cannot put a restored file in the place of " + file.string() + ": " + why +
                                     "; check the space and the permissions of its folder"};
}

/// Under a second name, on the disk. Nothing happens if there is no such file.
std::error_code keep(const fs::path& file, const fs::path& as) {
  std::error_code error;
  if (!fs::exists(file, error)) return error;
  fs::create_hard_link(file, as, error);
  if (error) fs::copy_file(file, as, error);  // On another disk, or where there are no links.
  if (!error && !sync_to_disk(as)) error = std::make_error_code(std::errc::io_error);
  return error;
}

std::error_code keep_all(const fs::path& file, const fs::path& aside) {
  auto error = keep(file, aside);
  for (const char* log : logs) {
    if (!error) error = keep(file.string() + log, aside.string() + log);
  }
  if (!error && !sync_to_disk(folder_of(aside))) error = std::make_error_code(std::errc::io_error);
  return error;
}

/// Everything under its name again; where that fails too, the next repair goes on.
void put_back(const fs::path& file, const fs::path& aside) {
  std::error_code error;
  for (const char* log : logs) {
    if (!error && !fs::exists(file.string() + log)) error = keep(aside.string() + log, file.string() + log);
  }
  if (!error) fs::remove(restored_beside(file), error);
  sync_to_disk(folder_of(file));
}

}  // namespace

fs::path draft_beside(const fs::path& file) {
  return file.string() + ".draft";
}

void remove_draft(const fs::path& file) {
  std::error_code none;
  for (const std::string& one : database_files(draft_beside(file).string())) fs::remove(one, none);
}

bool is_half_replaced(const fs::path& file) {
  std::error_code none;
  return fs::exists(restored_beside(file), none);
}

bool is_pipe_or_device(const fs::path& file) {
  std::error_code none;
  return fs::is_other(file, none);
}

Result<void> check_may_open(const fs::path& file) {
  if (is_pipe_or_device(file))
    return fail(Reason::ledger_failed, file.string() + " is a pipe or a device: move it away");
  if (!is_half_replaced(file)) return {};
  return fail(Reason::ledger_failed,
              "a repair of " + file.string() + " was cut off: `sluice doctor --repair` goes on with it");
}

Result<void> replace_by_draft(const fs::path& file, const fs::path& aside) {
  if (!sync_to_disk(draft_beside(file))) return fail(not_replaced(file, "the disk does not take it"));
  std::error_code error;
  fs::rename(draft_beside(file), restored_beside(file), error);
  if (error) return fail(not_replaced(file, error.message()));
  if (sync_to_disk(folder_of(file))) return finish_replacing(file, aside);
  put_back(file, aside);
  return fail(not_replaced(file, "the disk does not take it"));
}

Result<void> finish_replacing(const fs::path& file, const fs::path& aside) {
  auto error = keep_all(file, aside);
  for (const std::string_view ending : database_endings) {
    if (!error) fs::remove(file.string().append(ending), error);
  }
  if (!error) fs::rename(restored_beside(file), file, error);
  if (error) {
    put_back(file, aside);
    return fail(not_replaced(file, error.message()));
  }
  if (!sync_to_disk(folder_of(file))) return fail(not_replaced(file, "the disk does not take it"));
  return {};
}

}  // namespace sluice
