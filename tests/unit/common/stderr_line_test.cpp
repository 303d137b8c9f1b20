#include "common/text/stderr_line.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(GatheredStderr, HasTheCleanedLinesOfItsThreadWhileItLives) {
  testing::internal::CaptureStderr();
  {
    const GatheredStderr gathered;
    write_stderr_line("sluice: error: a\x1b[2J");
    std::thread([] { write_stderr_line("of another thread"); }).join();
    ASSERT_EQ(gathered.lines().size(), 1u);
    EXPECT_TRUE(gathered.lines()[0].starts_with("sluice: error: a"));
    EXPECT_EQ(gathered.lines()[0].find('\x1b'), std::string::npos);
  }
  write_stderr_line("afterwards");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "of another thread\nafterwards\n");
}

}  // namespace
}  // namespace sluice
