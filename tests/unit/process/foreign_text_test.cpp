// What comes from the wire, from answers and from suites gives no orders to whoever reads stderr.
#include "common/process/logging.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace sluice {
namespace {

/// A worker's name or reason that would forge lines, colours, commands of build servers and directions.
const std::string forged =
    "w\n::error::forged\r\n12:00:00 info: PASS\x1b[2K\x1b[1;32m\u0007\u009b31m ##[error]no ##vso[x] "
    "\u202egnp\u2066"
    "\u2028\xff end";

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

void check_is_clean(const std::string& written) {
  EXPECT_EQ(lines_in(written), 1u) << written;
  EXPECT_TRUE(written.ends_with(" end\n")) << written;
  EXPECT_EQ(written.find('\x1b'), std::string::npos) << written;
  EXPECT_EQ(written.find('\r'), std::string::npos) << written;
  EXPECT_EQ(written.find('\a'), std::string::npos) << written;
  EXPECT_EQ(written.find("\u009b"), std::string::npos) << written;
  EXPECT_EQ(written.find("##"), std::string::npos) << written;
  EXPECT_FALSE(has_direction_controls(written)) << written;
  EXPECT_FALSE(written.starts_with("::")) << written;
}

TEST(ForeignText, ForgesNoLineOfTheLog) {
  set_up_logging("info", false);
  ::testing::internal::CaptureStderr();
  spdlog::info("{}", forged);
  spdlog::default_logger()->flush();
  check_is_clean(::testing::internal::GetCapturedStderr());
  // Also when it is the format itself.
  ::testing::internal::CaptureStderr();
  spdlog::error(forged);
  check_is_clean(::testing::internal::GetCapturedStderr());
}

TEST(ForeignText, OverALiveLineOnlyTheWipeIsAnEscapeSequence) {
  set_up_logging("info", true);
  ::testing::internal::CaptureStderr();
  spdlog::info("{}", forged);
  const std::string written = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(written.starts_with("\r\x1b[2K")) << written;
  check_is_clean(written.substr(5));
}

TEST(ForeignText, ForgesNoOtherLineOfStderr) {
  ::testing::internal::CaptureStderr();
  write_stderr_line("sluice: " + forged);
  check_is_clean(::testing::internal::GetCapturedStderr());
}

TEST(StderrLine, TakesThePlaceOfTheProgressLine) {
  ::testing::internal::CaptureStderr();
  write_stderr_line("sluice: a\x1b[2Kb", true);
  write_stderr_line("sluice: c");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "\r\x1b[2K" + log_text("sluice: a\x1b[2Kb") + "\nsluice: c\n");
}

TEST(ForeignText, OrdinaryTextStaysAsItIs) {
  EXPECT_EQ(log_text("worker \"é証🙂\" lost: 3 units # 7"), "worker \"é証🙂\" lost: 3 units # 7");
  EXPECT_EQ(log_text("####"), "# # # #");
  EXPECT_EQ(without_direction_controls("a\u202eb\nc"), "a\uFFFDb\nc");
  EXPECT_FALSE(has_direction_controls("“quoted” – ½ ظ"));
}

/// Who writes to stderr past these two would have to clean by himself.
TEST(ForeignText, NothingElseWritesToStderr) {
  namespace fs = std::filesystem;
  const std::set<std::string> knowing = {
      "common/text/stderr_line.cpp",            // The one place.
      "common/process/logging.cpp",             // The other.
      "common/process/signals.cpp",             // The program's own words; also in a process that hangs.
      "coordinator/actors/progress_actor.cpp",  // Draws a line of its own; nothing foreign is in it.
      "coordinator/cli/cli.cpp",                // Help and version, by CLI11.
  };
  std::size_t files = 0;
  for (const char* side : {"common", "coordinator", "worker"}) {
    for (const auto& entry : fs::recursive_directory_iterator(support::source_path(side))) {
      const auto name = fs::relative(entry.path(), support::source_path("")).generic_string();
      if (!name.ends_with("pp") || knowing.contains(name)) continue;
      ++files;
      std::ifstream source(entry.path());
      for (std::string line; std::getline(source, line);) {
        for (const char* way :
             {"(stderr", ", stderr)", "std::cerr", "std::clog", "perror(", "write(STDERR_FILENO",
              "set_pattern", "set_default_logger", "_sink_mt", "_sink_st"}) {
          EXPECT_EQ(line.find(way), std::string::npos) << name << ": " << line;
        }
      }
    }
  }
  EXPECT_GT(files, 300u);
}

}  // namespace
}  // namespace sluice
