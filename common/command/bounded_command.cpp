#include "common/command/bounded_command.hpp"

#include "common/command/guarded_group.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

void close(FileDescriptor& file) {
  file = FileDescriptor();
}

/// The ends of one pipe between the two processes.
struct Channel {
  FileDescriptor ours;
  FileDescriptor theirs;
};

/// Only our own end does not block.
std::optional<Channel> make_channel(bool we_write) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Channel channel{FileDescriptor(ends[we_write ? 1 : 0]), FileDescriptor(ends[we_write ? 0 : 1])};
  if (::fcntl(channel.ours.number(), F_SETFL, O_NONBLOCK) != 0) return std::nullopt;
  return channel;
}

/// Keeps SIGPIPE from this thread: a program may end without reading all of its input.
class BrokenPipesIgnored {
 public:
  BrokenPipesIgnored() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  BrokenPipesIgnored(const BrokenPipesIgnored&) = delete;
  BrokenPipesIgnored& operator=(const BrokenPipesIgnored&) = delete;
  ~BrokenPipesIgnored() {
    constexpr timespec at_once{};
    while (::sigismember(&before_, SIGPIPE) == 0 && ::sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

/// What the program writes: read to its end, kept up to a limit, of errors the last of it.
struct OutputStream {
  FileDescriptor from;
  std::size_t limit = 0;
  std::string text;
  bool exceeded = false;
  bool keeps_end = false;

  void read() {
    std::array<char, defaults::command_read_bytes> buffer{};
    const auto count = ::read(from.number(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return close(from);
    const auto size = static_cast<std::size_t>(count);
    exceeded = exceeded || size > limit - text.size();
    if (keeps_end) {
      text.append(buffer.data(), size);
      if (text.size() > limit) text.erase(0, text.size() - limit);
      return;
    }
    text.append(buffer.data(), std::min(size, limit - text.size()));
  }
};

std::vector<std::string> environment_without(const std::vector<std::string>& hidden,
                                             const std::string& kept_one) {
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view assignment(*variable);
    const auto name = assignment.substr(0, assignment.find('='));
    const bool secret = name.ends_with("_API_KEY") || std::ranges::find(hidden, name) != hidden.end();
    if (!secret || name == kept_one) kept.emplace_back(assignment);
  }
  return kept;
}

std::string shown_time(std::chrono::milliseconds time) {
  const auto count = time.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void run_in(const std::string& folder) {
    ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  void connect(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// In the group, with no signal blocked, and SIGPIPE and the like as usual.
class Attributes {
 public:
  explicit Attributes(const GuardedGroup& group) {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setpgroup(&attributes_, group.id());
    sigset_t none;
    sigset_t reset;
    ::sigemptyset(&none);
    ::sigemptyset(&reset);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&reset, signal);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &reset);
    constexpr auto flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

using Kind = CommandEnd::Kind;

/// The error is an end that is not `done`.
template <class T>
using Outcome = tl::expected<T, CommandEnd>;

/// What is kept of a program's errors. The word that was cut may be half of a secret, which nothing finds;
/// none is longer than what is dropped of a text without blanks.
std::string whole_words(const OutputStream& errors) {
  std::string text = to_valid_utf8(errors.text);
  if (errors.exceeded)
    text.erase(0, std::min(text.find_first_of(" \t\n"), defaults::max_command_error_bytes / 4));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// The running program: its input is written and its output read, and in the end it is killed and reaped with
/// its group.
class Run {
 public:
  Run(const BoundedCommand& command, std::string_view text, const CommandStop* stop)
      : command_(command),
        stop_(stop != nullptr ? stop->descriptor() : -1),
        input_left_(text),
        has_input_(!text.empty()),
        deadline_(Clock::now() + command.time_limit) {
    output_.limit = command.max_output_bytes;
    errors_.limit = defaults::max_command_error_bytes;
    errors_.keeps_end = true;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { reap(); }

  Outcome<std::string> result() {
    const BrokenPipesIgnored ignored;
    if (auto started = start(); !started) return tl::unexpected(std::move(started.error()));
    if (auto exchanged = exchange_streams(); !exchanged) return tl::unexpected(std::move(exchanged.error()));
    if (auto ended = wait_for_end(); !ended) return tl::unexpected(std::move(ended.error()));
    const int status = reap();
    if (WIFSIGNALED(status))
      return failure(Kind::failed, "was ended by signal " + std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
      return failure(Kind::failed, "ended with exit code " + std::to_string(WEXITSTATUS(status)));
    if (output_.text.empty() && has_input_) return failure(Kind::failed, "wrote nothing");
    return std::move(output_.text);
  }

 private:
  tl::unexpected<CommandEnd> failure(Kind kind, const std::string& what, int error_number = 0) const {
    const auto& name = command_.shown.empty() ? command_.arguments.front() : command_.shown;
    return tl::unexpected(CommandEnd{
        kind, "", "the " + command_.kind + " \"" + excerpt(name, defaults::quoted_bytes) + "\" " + what,
        whole_words(errors_), error_number});
  }

  static std::string and_what_allows_more(const std::string& advice) {
    return advice.empty() ? "" : "; " + advice;
  }

  tl::unexpected<CommandEnd> system_failure(const std::string& what, int code) const {
    return failure(Kind::not_started, what + ": " + std::generic_category().message(code), code);
  }

  Outcome<void> start() {
    auto input = make_channel(true);
    auto output = make_channel(false);
    auto errors = make_channel(false);
    if (!input || !output || !errors) return system_failure("cannot be connected to", errno);
    FileActions actions;
    if (!command_.folder.empty()) actions.run_in(command_.folder);
    actions.connect(input->theirs.number(), STDIN_FILENO);
    actions.connect(output->theirs.number(), STDOUT_FILENO);
    actions.connect(errors->theirs.number(), STDERR_FILENO);
    auto arguments = command_.arguments;
    auto environment = environment_without(command_.hidden_variables, command_.kept_variable);
    if (const int code = group_.start(); code != 0) return system_failure("cannot be started", code);
    pid_t started = -1;
    const int code =
        ::posix_spawnp(&started, arguments.front().c_str(), actions.get(), Attributes(group_).get(),
                       pointers_to(arguments).data(), pointers_to(environment).data());
    if (code != 0) return system_failure("cannot be started", code);
    pid_ = started;
    input_ = std::move(input->ours);
    output_.from = std::move(output->ours);
    errors_.from = std::move(errors->ours);
    if (input_left_.empty()) close(input_);
    return {};
  }

  /// Until the program has closed both of its outputs.
  Outcome<void> exchange_streams() {
    while (output_.from.is_open() || errors_.from.is_open()) {
      if (milliseconds_left() == 0) return time_is_over();
      std::array<pollfd, 4> set{pollfd{input_.number(), POLLOUT, 0}, pollfd{output_.from.number(), POLLIN, 0},
                                pollfd{errors_.from.number(), POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
      if (::poll(set.data(), set.size(), milliseconds_left()) < 0 && errno != EINTR) {
        return system_failure("cannot be waited for", errno);
      }
      if (set[3].revents != 0) return is_cancelled();
      if (set[0].revents != 0) write_input();
      if (set[1].revents != 0) output_.read();
      if (set[2].revents != 0) errors_.read();
      if (output_.exceeded) {
        return failure(Kind::too_much, "wrote more than " + std::to_string(output_.limit) + " bytes" +
                                           and_what_allows_more(command_.for_more_output));
      }
    }
    return {};
  }

  void write_input() {
    const auto written = ::write(input_.number(), input_left_.data(), input_left_.size());
    if (written > 0) input_left_.remove_prefix(static_cast<std::size_t>(written));
    const bool broken = written < 0 && errno != EAGAIN && errno != EINTR;
    if (input_left_.empty() || broken) close(input_);
  }

  tl::unexpected<CommandEnd> is_cancelled() const { return failure(Kind::cancelled, "was cancelled"); }

  tl::unexpected<CommandEnd> time_is_over() const {
    return failure(Kind::too_slow, "took longer than " + shown_time(command_.time_limit) +
                                       and_what_allows_more(command_.for_more_time));
  }

  int milliseconds_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, 60'000));
  }

  /// A program may go on after it has closed its outputs. It is left for reap().
  Outcome<void> wait_for_end() {
    close(input_);
    for (siginfo_t ended{};;) {
      if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return system_failure("cannot be waited for", errno);
      }
      if (ended.si_pid == pid_) return {};
      if (milliseconds_left() == 0) return time_is_over();
      pollfd stop{stop_, POLLIN, 0};
      if (::poll(&stop, 1, 1) > 0) return is_cancelled();
    }
  }

  /// Its status; its group is killed before, and one of its own, if it made that (as timeout and setsid do).
  int reap() {
    if (pid_ < 0) return 0;
    int status = 0;
    group_.kill();
    // It is not waited for yet, so that the number is still its own.
    ::kill(pid_, SIGKILL);
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  const BoundedCommand& command_;
  int stop_;  ///< Of CommandStop; -1, which poll passes over: there is none.
  std::string_view input_left_;
  bool has_input_;
  Clock::time_point deadline_;
  GuardedGroup group_;
  pid_t pid_ = -1;
  FileDescriptor input_;
  OutputStream output_;
  OutputStream errors_;
};

}  // namespace

CommandStop::CommandStop() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void CommandStop::request() {
  // Full already: it is requested.
  if (event_.is_open()) (void)::eventfd_write(event_.number(), 1);
}

void CommandStop::clear() {
  eventfd_t requests = 0;
  if (event_.is_open()) (void)::eventfd_read(event_.number(), &requests);
}

CommandEnd run_to_its_end(const BoundedCommand& command, std::string_view text, const CommandStop* stop) {
  if (command.arguments.empty() || command.arguments.front().empty())
    return {Kind::not_started, "", "the " + command.kind + " is empty; name a program"};
  auto ended = Run(command, text, stop).result();
  if (ended) return {Kind::done, std::move(*ended)};
  return std::move(ended.error());
}

std::string with_errors(std::string message, std::string_view errors, std::size_t most) {
  if (errors.empty()) return message;
  message += "; its standard error says: ";
  if (errors.size() <= most) return message.append(errors);
  std::size_t begin = errors.size() - most;
  while (begin < errors.size() && continues_utf8(errors[begin])) ++begin;
  return message.append("...").append(errors.substr(begin));
}

Result<std::string> run_bounded(const BoundedCommand& command, std::string_view text) {
  auto end = run_to_its_end(command, text);
  if (end.kind != Kind::done) {
    return fail(Reason::usage_invalid,
                with_errors(std::move(end.message), end.errors, defaults::quoted_command_error_bytes));
  }
  return std::move(end.output);
}

}  // namespace sluice
