#pragma once

#include <sys/resource.h>

namespace sluice {

/// Lets this process have as many files open as the system allows it, instead of as many as it begins with:
/// the usual 1,024 stand for select(), which nothing here calls, and each connection is a file. Where that
/// fails the process goes on with what it has. Thread-safe.
inline void raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace sluice
