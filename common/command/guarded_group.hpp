#pragma once

#include <sys/types.h>

namespace sluice {

/// A process group for programs that must not outlive this process, however it ends: it is led by a process
/// that waits for that and then kills the group. Leaves no process behind. Not thread-safe; several may be
/// used at a time.
class GuardedGroup {
 public:
  GuardedGroup() = default;
  GuardedGroup(const GuardedGroup&) = delete;
  GuardedGroup& operator=(const GuardedGroup&) = delete;
  ~GuardedGroup() { kill(); }

  /// 0, or the errno of what failed. REQUIRES: not started.
  int start();
  /// What a process joins (setpgid). REQUIRES: started.
  pid_t id() const { return leader_; }
  /// Kills all that is in it; nothing if it is not started. Children in it are still to be waited for.
  void kill();

 private:
  pid_t leader_ = -1;
  int lifeline_ = -1;  ///< Closed by this process's end, if by nothing else.
};

}  // namespace sluice
