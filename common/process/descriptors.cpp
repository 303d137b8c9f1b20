#include "common/process/descriptors.hpp"

#include "common/open_files.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {

namespace {

/// A run of one process has about 40 open, and a library that gets none more aborts.
constexpr rlim_t fewest_open_files = 64;

void take_closed_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened the wrong way round: whoever reads or writes is told so still, as of a closed one. It gets this
    // number, since all below are open.
    [[maybe_unused]] const int taken = ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

Result<void> prepare_descriptors() {
  take_closed_standard_descriptors();
  raise_open_files_limit();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= fewest_open_files) return {};
  return fail(Reason::settings_invalid, "this process may open " + std::to_string(limit.rlim_cur) +
                                            " files, and needs at least " +
                                            std::to_string(fewest_open_files) + ": raise `ulimit -n`");
}

}  // namespace sluice
