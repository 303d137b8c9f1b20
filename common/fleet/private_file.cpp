#include "common/fleet/private_file.hpp"

#include "common/files.hpp"

#include <cerrno>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t max_bytes = 1024 * 1024;

bool is_too_open(const struct stat& facts, Privacy privacy) {
  if (privacy == Privacy::nobody_else_writes) return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  constexpr mode_t others = S_IRWXO | S_IWGRP;
  return (facts.st_mode & others) != 0 || ((facts.st_mode & S_IRGRP) != 0 && facts.st_uid != 0);
}

/// A home comes into being with its folder of keys.
std::error_code make_folder_of_keys(const std::filesystem::path& folder) {
  const auto problem = make_private_folder(folder.parent_path());
  return problem ? problem : make_private_folder(folder);
}

}  // namespace

Result<std::string> read_private_file(const std::filesystem::path& path, Privacy privacy) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.number(), &facts) != 0) {
    const Error error = unreadable_file(errno);
    return fail(error.reason, path.string() + " " + error.message);
  }
  if (is_too_open(facts, privacy)) {
    const bool reads = privacy == Privacy::nobody_else_reads;
    return fail(Reason::settings_invalid, path.string() + " is a key file that others can " +
                                              (reads ? "read" : "write") + ": run `chmod " +
                                              (reads ? "600 " : "go-w ") + path.string() +
                                              "`, and make a new key if they may have done so");
  }
  auto text = read_file(file, max_bytes);
  if (!text) return fail(text.error().reason, path.string() + " " + text.error().message);
  return text;
}

Result<FileDescriptor> lock_folder(const std::filesystem::path& folder) {
  const std::filesystem::path here = folder.empty() ? "." : folder;
  if (const auto problem = make_folder_of_keys(here))
    return fail(Reason::output_failed, here.string() + " cannot be made: " + problem.message());
  FileDescriptor lock(::open(here.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.is_open() && ::flock(lock.number(), LOCK_EX) == 0) return lock;
  const int error = errno;
  return fail(Reason::output_failed,
              here.string() + " cannot be locked: " + std::generic_category().message(error));
}

Result<void> create_private_file(const std::filesystem::path& path, const std::string& content) {
  const auto failed = [&](const std::string& what) {
    return fail(Reason::output_failed, path.string() + " cannot be written: " + what);
  };
  if (const auto problem = make_folder_of_keys(path.parent_path())) return failed(problem.message());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return failed(std::generic_category().message(errno));
  const auto written = ::write(file, content.data(), content.size());
  // What is cut off names no error: it is the disk that is full.
  int error = written < 0 ? errno : std::cmp_equal(written, content.size()) ? 0 : ENOSPC;
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return failed(std::generic_category().message(error));
}

Digest new_secret() {
  std::random_device entropy;
  Digest secret{};
  for (auto& byte : secret) byte = static_cast<std::uint8_t>(entropy());
  return secret;
}

Result<Digest> shared_secret(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) {
    // Under its name it is whole from the first, also for one who looks at the same moment.
    const std::string content = to_hex(new_secret()) + "\n";
    const std::filesystem::path draft = file.string() + "." + to_hex(new_secret()).substr(0, 16);
    if (auto created = create_private_file(draft, content); !created) return fail(created.error());
    const bool is_linked = ::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST;
    ::unlink(draft.c_str());
    // Some file systems have no links.
    if (!is_linked) {
      const auto created = create_private_file(file, content);
      if (!created && !std::filesystem::exists(file, unknown)) return fail(created.error());
    }
  }
  const auto text = read_private_file(file, Privacy::nobody_else_reads);
  if (!text) return fail(text.error());
  const auto secret = digest_from_hex(std::string_view(*text).substr(0, text->find('\n')));
  if (!secret)
    return fail(Reason::settings_invalid,
                file.string() +
                    " does not hold a secret of sluice: remove it, and the next run makes "
                    "another");
  return *secret;
}

}  // namespace sluice
