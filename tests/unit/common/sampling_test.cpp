#include "common/model/sampling.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Sampling, KnowsWhichModelsTakeATemperature) {
  for (const char* model : {"gpt-4o-mini",
                            "gpt-4.1",
                            "gpt-35-turbo",
                            "gpt-3.5-turbo",
                            "gpt-5-chat-latest",
                            "gpt-oss-20b",
                            "claude-opus-4-1",
                            "claude-opus-4-20250514",
                            "claude-opus-4",
                            "claude-sonnet-4-6",
                            "claude-3-5-haiku-20241022",
                            "claude-haiku-4-5",
                            "gemini-2.5-flash",
                            "o",
                            "olmo-2",
                            "o200k",
                            "llama3.2",
                            "",
                            "/",
                            "claude-",
                            "gpt-"})
    EXPECT_TRUE(takes_temperature(model)) << model;
  for (const char* model :
       {"gpt-5", "gpt-5-mini", "gpt-5.1", "openai/gpt-5-mini", "gpt-6.1-sol", "o1", "o3-mini-2025-01-31",
        "o4-mini", "claude-opus-4-7", "claude-opus-4-8-20260501", "anthropic/claude-opus-4.7",
        "claude-sonnet-5", "claude-fable-5-20260601", "claude-opus-10"})
    EXPECT_FALSE(takes_temperature(model)) << model;
}

}  // namespace
}  // namespace sluice
