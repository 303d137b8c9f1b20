#include "common/command/guarded_group.hpp"

#include <array>
#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::guarded_group_test {

/// As kernels before 5.9 and old profiles of containers do. For good.
bool refuse_close_range() {
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum Outcome { closed, kept_open, not_started, not_refused };

/// Whether a group's leader lets go of a pipe that was open when it began.
Outcome outcome_where_close_range_is_refused() {
  if (!refuse_close_range()) return not_refused;
  std::array<int, 2> ends{};
  GuardedGroup group;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || group.start() != 0) return not_started;
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  return ::poll(&end, 1, 10'000) == 1 && (end.revents & POLLHUP) != 0 ? closed : kept_open;
}

// Guards kept a run's files open there, its locks among them.
TEST(GuardedGroup, HoldsNoFileOpenWhereCloseRangeIsRefused) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(outcome_where_close_range_is_refused());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == not_refused) GTEST_SKIP() << "no filter can be set here";
  EXPECT_EQ(WEXITSTATUS(status), closed);
}

}  // namespace sluice::guarded_group_test
