#include "coordinator/cli/watch_run.hpp"

#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/watched_files.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Signals that come while it is there are read from it, in place of ending the process.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigemptyset(&all);
    for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&all, number);
    ::sigprocmask(SIG_BLOCK, &all, &before_);
    descriptor_ = ::signalfd(-1, &all, SFD_CLOEXEC);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  int descriptor() const { return descriptor_; }
  const sigset_t& before() const { return before_; }
  /// Blocks until one has come: its number.
  int next() const {
    signalfd_siginfo info{};
    while (::read(descriptor_, &info, sizeof info) < 0 && errno == EINTR) {
    }
    return static_cast<int>(info.ssi_signo);
  }

 private:
  int descriptor_ = -1;
  sigset_t before_{};
};

std::optional<pid_t> start(const std::vector<std::string>& arguments, const BlockedSignals& signals) {
  std::vector<char*> words;
  for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&how, &signals.before());
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, "/proc/self/exe", nullptr, &how, words.data(), environ);
  ::posix_spawnattr_destroy(&how);
  if (failed == 0) return child;
  report_error("cannot start the run: " + std::generic_category().message(failed));
  return std::nullopt;
}

struct EndedRun {
  int exit_code = exit_error;
  bool is_last = false;  ///< Somebody has asked for the end.
};

EndedRun run_once(const std::vector<std::string>& arguments, const BlockedSignals& signals) {
  const auto child = start(arguments, signals);
  if (!child) return {exit_error, true};
  EndedRun ended;
  for (;;) {
    const int signal = signals.next();
    if (signal != SIGCHLD) {
      // A terminal's SIGINT has reached it already: it takes both for one.
      ::kill(*child, signal);
      ended.is_last = true;
      continue;
    }
    int status = 0;
    if (::waitpid(*child, &status, WNOHANG) != *child) continue;
    if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
    return ended;
  }
}

/// True if an input has changed; false if a signal has come.
Result<bool> await_change(WatchedFiles& files, const BlockedSignals& signals) {
  Result<std::optional<std::filesystem::path>> changed;
  do {
    changed = files.wait(signals.descriptor(), defaults::watch_settled);
    if (!changed) return fail(changed.error());
    // What is not read would end this process as soon as signals may again.
    if (!*changed && signals.next() != SIGCHLD) return false;
  } while (!*changed);
  std::error_code none;
  const auto shown = std::filesystem::proximate(**changed, none);
  write_stderr_line("sluice: " + printable((none ? **changed : shown).string()) + " changed");
  return true;
}

}  // namespace

std::vector<std::string> arguments_without_watch() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  std::erase(arguments, "--watch");
  return arguments;
}

int watch_run(const WatchedRun& watched) {
  if (watched.arguments.empty()) return report_error("--watch cannot read the arguments of this process");
  auto files = WatchedFiles::open();
  if (!files) return report_error(files.error());
  for (const auto& path : watched.outputs) files->ignore(path);
  for (const auto& path : watched.inputs) {
    if (const auto added = files->add(path); !added) return report_error(added.error());
  }
  const BlockedSignals signals;
  for (;;) {
    const auto run = run_once(watched.arguments, signals);
    if (run.is_last) return run.exit_code;
    write_stderr_line("sluice: waiting for a change of " + printable(watched.inputs.front().string()) +
                      "; Ctrl-C ends");
    const auto changed = await_change(*files, signals);
    if (!changed) return report_error(changed.error());
    if (!*changed) return run.exit_code;
  }
}

}  // namespace sluice
