#include "common/command/guarded_group.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {

namespace {

/// The leader: nothing but a signal that cannot be blocked ends it sooner. It has forked from a process with
/// threads, so it calls nothing but the system, and holds none of that process's files open.
[[noreturn]] void guard(int lifeline, int other_end) {
  ::setpgid(0, 0);
  ::close(other_end);
  ::dup2(lifeline, STDIN_FILENO);
  ::closefrom(STDIN_FILENO + 1);  // Also where the system refuses close_range.
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

int GuardedGroup::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t forked = ::fork();
  if (forked == 0) guard(ends[0], ends[1]);
  const int code = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (forked < 0) {
    ::close(ends[1]);
    return code;
  }
  ::setpgid(forked, forked);  // Whichever of the two comes first.
  leader_ = forked;
  lifeline_ = ends[1];
  return 0;
}

void GuardedGroup::kill() {
  if (leader_ < 0) return;
  // The leader is not waited for yet, so that the number is still the group's.
  ::kill(-leader_, SIGKILL);
  while (::waitpid(leader_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::close(lifeline_);
  leader_ = -1;
}

}  // namespace sluice
