// What comes from the wire, from answers and from suites gives no orders to whoever reads stderr.
#include "common/process/logging.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
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

TEST(ForeignText, IsBrokenBehindTheLevelOnceItIsClean) {
  const auto breaker = [](std::string_view text, std::size_t column) {
    return std::to_string(column) + "<" + std::string(text) + ">";
  };
  const auto written = [&] {
    set_up_logging("info", false, breaker);
    ::testing::internal::CaptureStderr();
    spdlog::warn("a\nb");
    return ::testing::internal::GetCapturedStderr();
  };
  const std::string line = written();
  EXPECT_TRUE(line.ends_with("warning: 18<a b>\n")) << line;
  EXPECT_EQ(line.find("18<"), 18u) << line;
  set_log_format(LogFormat::json);
  EXPECT_NE(written().find(R"("message":"a b"})"), std::string::npos);
  set_log_format(LogFormat::text);
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
  EXPECT_EQ(log_text("a##b###"), "a# #b# # #");
  EXPECT_EQ(without_direction_controls("a\u202eb\nc"), "a\uFFFDb\nc");
  EXPECT_FALSE(has_direction_controls("“quoted” – ½ ظ"));
}

// Each of them once moved all that stood behind it: hours.
TEST(ForeignText, MegabytesOfSignsAreNoWork) {
  constexpr std::size_t signs = 8u << 20;
  const std::string shown = log_text(std::string(signs, '#'));
  EXPECT_EQ(shown.size(), 2 * signs - 1);
  EXPECT_TRUE(shown.starts_with("# # #"));
}

/// Puts the process' lines back as they were.
struct JsonLines {
  JsonLines() { set_log_format(LogFormat::json); }
  ~JsonLines() {
    set_log_format(LogFormat::text);
    set_log_context({});
  }
};

TEST(JsonLog, ALineIsOneObjectWithWhatIsKnown) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(1'770'301'800'042)};
  EXPECT_EQ(json_log_line(time, "info", "two \"words\"", {}),
            R"({"time":"2026-02-05T14:30:00.042Z","level":"info","message":"two \"words\""})");
  EXPECT_EQ(json_log_line(time, "error", "m", {"run-1", "w", "tls/001", "openai"}),
            R"({"time":"2026-02-05T14:30:00.042Z","level":"error","message":"m","run":"run-1","worker":"w",)"
            R"("case":"tls/001","provider":"openai"})");
}

TEST(JsonLog, ForeignTextForgesNothingInAnyField) {
  const JsonLines json;
  set_up_logging("info", true);
  set_log_context({.run = forged});
  const LogScope scope({.worker = forged, .case_id = forged, .provider = forged});
  ::testing::internal::CaptureStderr();
  spdlog::info("{}", forged);
  say(forged, Severity::error);
  write_stderr_line(forged, true);
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines_in(written), 3u) << written;
  std::istringstream lines(written);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line.find_first_of("\x1b\r\a"), std::string::npos) << line;
    EXPECT_EQ(line.find("##"), std::string::npos) << line;
    EXPECT_FALSE(has_direction_controls(line)) << line;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(object.is_object()) << line;
    EXPECT_EQ(object.size(), 7u) << line;
    for (const char* member : {"message", "run", "worker", "case", "provider"})
      EXPECT_EQ(object.at(member), log_text(forged));
  }
}

TEST(JsonLog, TheInnermostScopeSaysWhatItKnows) {
  const JsonLines json;
  const auto about = [] { return nlohmann::json::parse(json_log_line("info", "m")); };
  set_log_context({.run = "run-1", .worker = "own"});
  EXPECT_EQ(about().at("worker"), "own");
  {
    const LogScope outer({.worker = "outer", .provider = "openai"});
    const LogScope inner({.worker = "inner"});
    EXPECT_EQ(about().at("worker"), "inner");
    EXPECT_EQ(about().at("provider"), "openai");
    EXPECT_EQ(about().at("run"), "run-1");
  }
  EXPECT_EQ(about().at("worker"), "own");
  EXPECT_FALSE(about().contains("provider"));
}

TEST(JsonLog, IsAskedForBeforeSettingsAreLoaded) {
  const auto format_of = [](std::vector<const char*> words) {
    words.insert(words.begin(), "sluice");
    return early_log_format(static_cast<int>(words.size()), words.data());
  };
  EXPECT_EQ(format_of({"run", "x", "--log-format", "json"}), LogFormat::json);
  EXPECT_EQ(format_of({"run", "--log-format=json"}), LogFormat::json);
  EXPECT_EQ(format_of({"run", "--log-format"}), LogFormat::text);
  EXPECT_EQ(format_of({"run", "--", "--log-format=json"}), LogFormat::text);
  EXPECT_EQ(format_of({"run", "--log-formats=json"}), LogFormat::text);
  ::setenv("SLUICE_LOG_FORMAT", "json", 1);
  EXPECT_EQ(format_of({"run"}), LogFormat::json);
  EXPECT_EQ(format_of({"run", "--log-format", "text"}), LogFormat::text);
  ::unsetenv("SLUICE_LOG_FORMAT");
}

TEST(StderrLine, SayNamesTheProgramAndWhatIsWrong) {
  ::testing::internal::CaptureStderr();
  say("a");
  set_speaker("sluice-worker");
  say("b", Severity::warning);
  set_speaker("sluice");
  say("c", Severity::error);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "sluice: a\nsluice-worker: warning: b\nsluice: error: c\n");
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
