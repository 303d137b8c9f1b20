#include "coordinator/cli/config_text.hpp"

#include "coordinator/display/display.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::config_text_test {

const std::vector<SettingLine> lines{
    {"eval.fixtures_dir", "\"tests/llm_fixtures\"", "default"},
    {"eval.rate_limit_initial_delay_ms", "500", "default"},
    {"home", "\"/h\"", "SLUICE_HOME"},
    {"providers.gemini.base_url", "\"https://generativelanguage.googleapis.com\"", "default"},
    {"providers.gemini.output_tokens_per_minute", "(none)", "default"},
    {"providers.openai-responses.output_tokens_per_minute", "(none)", "default"},
    {"providers.openai-responses.base_url", "\"https://api.openai.com/v1\"", "default"},
};

TEST(ConfigText, IsALineEachInAPipeAndInATerminalThatIsWideEnough) {
  const std::string whole =
      R"(eval.fixtures_dir                                   = "tests/llm_fixtures"                         # default
eval.rate_limit_initial_delay_ms                    = 500                                          # default
home                                                = "/h"                                         # SLUICE_HOME
providers.gemini.base_url                           = "https://generativelanguage.googleapis.com"  # default
providers.gemini.output_tokens_per_minute           = (none)                                       # default
providers.openai-responses.output_tokens_per_minute = (none)                                       # default
providers.openai-responses.base_url                 = "https://api.openai.com/v1"                  # default
)";
  EXPECT_EQ(config_text(lines, std::nullopt), whole);
  EXPECT_EQ(config_text(lines, 120), whole);
}

// Each line was 108 columns long.
TEST(ConfigText, FitsATerminal) {
  EXPECT_EQ(config_text(lines, 80),
            R"(eval.fixtures_dir                = "tests/llm_fixtures"  # default
eval.rate_limit_initial_delay_ms = 500                   # default
home                             = "/h"                  # SLUICE_HOME
providers.gemini.base_url =
    "https://generativelanguage.googleapis.com"  # default
providers.gemini.output_tokens_per_minute = (none)                     # default
providers.openai-responses.output_tokens_per_minute = (none)           # default
providers.openai-responses.base_url = "https://api.openai.com/v1"  # default
)");
  std::istringstream narrow(config_text(lines, 60));
  for (std::string line; std::getline(narrow, line);) EXPECT_LE(display_width(line), 60u) << line;
  EXPECT_NE(config_text(lines, 1), "") << "as in the narrowest that is of use";
}

}  // namespace sluice::config_text_test
