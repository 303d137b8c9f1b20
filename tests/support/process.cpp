#include "tests/support/process.hpp"

#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

namespace sluice::support {

namespace {

void check(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// Where the child's streams and working folder come from; throws as Process does.
class FileActions {
 public:
  explicit FileActions(const Command& command) {
    check(::posix_spawn_file_actions_init(&actions_), "file actions");
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    check(::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0), "stdin");
    check(::posix_spawn_file_actions_addopen(&actions_, 1, command.output.c_str(), flags, 0600), "stdout");
    check(::posix_spawn_file_actions_addopen(&actions_, 2, command.errors.c_str(), flags, 0600), "stderr");
    check(::posix_spawn_file_actions_addchdir_np(&actions_, command.working_folder.c_str()),
          "working folder");
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Signals as in a fresh shell, whatever the test program has made of them.
class Attributes {
 public:
  Attributes() {
    check(::posix_spawnattr_init(&attributes_), "attributes");
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    check(::posix_spawnattr_setsigdefault(&attributes_, &all), "signals");
    check(::posix_spawnattr_setsigmask(&attributes_, &none), "signal mask");
    check(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK), "flags");
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Process::Process(Command command) : command_(std::move(command)) {
  const FileActions actions(command_);
  const Attributes attributes;
  auto arguments = command_.arguments;
  std::vector<std::string> variables;
  for (const auto& [name, value] : command_.environment) variables.push_back(name + "=" + value);
  check(::posix_spawn(&pid_, arguments.front().c_str(), actions.get(), attributes.get(),
                      pointers(arguments).data(), pointers(variables).data()),
        arguments.front());
}

Process::Process(Process&& other) noexcept
    : command_(std::move(other.command_)),
      pid_(std::exchange(other.pid_, -1)),
      exit_code_(std::exchange(other.exit_code_, std::nullopt)) {}

Process::~Process() {
  if (pid_ < 0 || exit_code_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
  if (!exit_code_) ::kill(pid_, number);
}

bool Process::stop() {
  signal(SIGSTOP);
  return eventually([this] {
    siginfo_t info{};
    const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT);
    return waited == 0 && info.si_pid == pid_;
  });
}

bool Process::running() {
  return !wait(std::chrono::milliseconds(0));
}

std::optional<ExitCode> Process::wait(std::chrono::milliseconds deadline) {
  eventually(
      [this] {
        int status = 0;
        if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
          exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return exit_code_.has_value();
      },
      deadline);
  return exit_code_;
}

std::string Process::output() const {
  return read_text(command_.output);
}
std::string Process::errors() const {
  return read_text(command_.errors);
}

}  // namespace sluice::support
