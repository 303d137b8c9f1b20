#include "coordinator/cli/run/watch_run.hpp"

#include "common/process/signals.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/run/watched_files.hpp"
#include "coordinator/facts/database_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

/// Signals that come while it is there are read from it, in place of ending the process.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all = signals_that_end();
    sigaddset(&all, SIGCHLD);
    // Whoever ignores it hands that on, and the end of a run would never be seen.
    ::signal(SIGCHLD, SIG_DFL);
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

/// In the new process, whose run ends in an orderly way once the watcher is gone, however it ended: nobody is
/// there who could end it.
[[noreturn]] void become_run(char* const* words, pid_t watcher, const BlockedSignals& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != watcher) ::_exit(exit_error);
  ::sigprocmask(SIG_SETMASK, &signals.before(), nullptr);
  ::execv("/proc/self/exe", words);
  ::_exit(report_error("cannot start the run: " + std::generic_category().message(errno)));
}

std::optional<pid_t> start(const std::vector<std::string>& arguments, const BlockedSignals& signals) {
  std::vector<char*> words;
  for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);
  const pid_t watcher = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become_run(words.data(), watcher, signals);
  if (child > 0) return child;
  report_error("cannot start the run: " + std::generic_category().message(errno));
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

/// False: the time is over. True: a signal has come.
bool has_come_within(std::chrono::milliseconds time, const BlockedSignals& signals) {
  pollfd source{signals.descriptor(), POLLIN, 0};
  return ::poll(&source, 1, static_cast<int>(time.count())) > 0;
}

/// Files that change in each run are what it prints: `sluice run suite.yaml --watch | tee out.txt`.
class FilesOfRuns {
 public:
  explicit FilesOfRuns(const std::vector<std::filesystem::path>& inputs) : inputs_(inputs) {}

  /// These changed during a run: one of those that did not do so in all of the last runs, or that are inputs
  /// by name.
  std::optional<std::filesystem::path> take_change(const std::vector<std::filesystem::path>& changed) {
    std::map<std::filesystem::path, int> in_a_row;
    std::optional<std::filesystem::path> first;
    for (const auto& file : changed) {
      const auto before = in_a_row_.find(file);
      const int runs = 1 + (before == in_a_row_.end() ? 0 : before->second);
      in_a_row[file] = runs;
      std::error_code none;
      const bool is_input = std::ranges::any_of(inputs_, [&](const std::filesystem::path& input) {
        return std::filesystem::equivalent(file, input, none);
      });
      if (runs < defaults::runs_that_change_a_file || is_input) {
        if (!first) first = file;
      } else if (runs == defaults::runs_that_change_a_file) {
        say(printable(file.string()) + " changes with each run: what changes it meanwhile starts none");
      }
    }
    in_a_row_ = std::move(in_a_row);
    return first;
  }

 private:
  const std::vector<std::filesystem::path>& inputs_;
  std::map<std::filesystem::path, int> in_a_row_;  ///< In how many of the last runs.
};

/// Looks until something has changed, and then until nothing does. `changed`: what has already. True: run
/// again; false: a signal has come.
bool await_change(WatchedFiles& files, std::optional<std::filesystem::path> changed,
                  const BlockedSignals& signals) {
  for (auto pause = changed ? defaults::watch_settled : std::chrono::milliseconds(0);;) {
    // What is not read would end this process as soon as signals may again.
    if (has_come_within(pause, signals) && signals.next() != SIGCHLD) return false;
    const auto begun = std::chrono::steady_clock::now();
    const auto more = files.take_changes();
    const auto took = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    if (changed && more.empty()) break;
    if (!more.empty()) changed = more.front();
    pause = changed ? defaults::watch_settled
                    : std::max(defaults::watch_interval, took * defaults::watch_share_of_time);
  }
  std::error_code none;
  const auto shown = changed->lexically_proximate(std::filesystem::current_path(none));
  say(printable((none ? *changed : shown).string()) + " changed");
  return true;
}

/// Of this process; empty if they cannot be read.
std::vector<std::string> arguments_without_watch() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  std::erase_if(arguments,
                [](const std::string& one) { return one == "--watch" || one.starts_with("--watch="); });
  return arguments;
}

}  // namespace

std::optional<WatchedRun> watched_run(const RunFlags& flags, const std::string& config_file,
                                      const Settings& settings) {
  WatchedRun watched{arguments_without_watch(), {}, {settings.home.value}};
  // What a suite names lies below its folder, or in one that is allowed.
  const std::filesystem::path suite = flags.suite.value_or(settings.fixtures_dir.value);
  std::error_code none;
  if (!std::filesystem::exists(suite, none)) return std::nullopt;
  const bool is_folder = std::filesystem::is_directory(suite, none);
  watched.inputs.push_back(is_folder ? suite : std::filesystem::absolute(suite, none).parent_path());
  if (!is_folder) watched.inputs.push_back(suite);
  std::ranges::copy(flags.allowed_paths, std::back_inserter(watched.inputs));
  const auto add = [](std::vector<std::filesystem::path>& to, const std::optional<std::string>& file) {
    if (file && !file->empty()) to.emplace_back(*file);
  };
  for (const auto& file :
       {flags.answers, flags.baseline, std::optional(config_file), std::optional(settings.prompt_file.value),
        std::optional(settings.ontology_file.value), std::optional(settings.prices_file.value)}) {
    add(watched.inputs, file);
  }
  for (const auto& file : {flags.report.output, flags.export_baseline, flags.harvest, flags.call_log})
    add(watched.outputs, file);
  for (const std::string& report : flags.report.reports)
    add(watched.outputs, report.substr(report.find('=') + 1));
  for (const std::string& one : database_files(observations_file(settings)))
    watched.outputs.emplace_back(one);
  return watched;
}

int watch_run(const WatchedRun& watched) {
  if (watched.arguments.empty()) return report_error("--watch cannot read the arguments of this process");
  WatchedFiles files;
  for (const auto& path : watched.inputs) files.add(path);
  for (const auto& path : watched.outputs) files.ignore(path);
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) files.ignore_open(descriptor);
  if (files.ignores_a_root())
    return report_error(
        "--watch: the suite or the settings lie in the home folder, where each run writes; name another "
        "folder with --home");
  const BlockedSignals signals;
  if (signals.descriptor() < 0)
    return report_error("--watch cannot wait for signals: " + std::generic_category().message(errno));
  // What changes during a run counts after it.
  files.take_changes();
  FilesOfRuns of_runs(watched.inputs);
  for (;;) {
    const auto run = run_once(watched.arguments, signals);
    if (run.is_last) return run.exit_code;
    say("waiting for a change of " + printable(watched.inputs.front().string()) + "; Ctrl-C ends");
    // Whoever writes down what the run prints is through with it then.
    if (has_come_within(defaults::watch_settled, signals) && signals.next() != SIGCHLD) return run.exit_code;
    auto changed = of_runs.take_change(files.take_changes());
    if (!await_change(files, std::move(changed), signals)) return run.exit_code;
  }
}

}  // namespace sluice
