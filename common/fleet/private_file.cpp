#include "common/fleet/private_file.hpp"

#include "common/files.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace sluice {
namespace {

constexpr std::size_t max_bytes = 1024 * 1024;

bool is_too_open(const struct stat& facts, Privacy privacy) {
  if (privacy == Privacy::nobody_else_writes) return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  constexpr mode_t others = S_IRWXO | S_IWGRP;
  return (facts.st_mode & others) != 0 || ((facts.st_mode & S_IRGRP) != 0 && facts.st_uid != 0);
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

}  // namespace sluice
