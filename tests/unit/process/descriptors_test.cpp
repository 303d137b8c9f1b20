#include "common/process/descriptors.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

// A file of the home became descriptor 2, and log text was written into it.
TEST(Descriptors, AClosedStandardOneIsTaken) {
  const int kept = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ::close(STDIN_FILENO);
  ASSERT_TRUE(prepare_descriptors());
  struct stat facts {};
  EXPECT_EQ(::fstat(STDIN_FILENO, &facts), 0);
  EXPECT_TRUE(S_ISCHR(facts.st_mode)) << "it is /dev/null";
  char byte = 0;
  EXPECT_LT(::read(STDIN_FILENO, &byte, 1), 0) << "who reads is told so still";
  ::close(STDIN_FILENO);
  if (kept >= 0) {
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
  }
}

}  // namespace
}  // namespace sluice
