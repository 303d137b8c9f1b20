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
                            "gpt-41-mini",
                            "gpt-16k",
                            "ft:gpt-4o-mini:org::id",
                            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                            "anthropic.claude-3-5-haiku-20241022-v1:0",
                            "openai.gpt-oss-120b-1:0",
                            "o",
                            "olmo-2",
                            "o200k",
                            "llama3.2",
                            "",
                            "/",
                            "claude-",
                            "gpt-"})
    EXPECT_TRUE(takes_temperature(model)) << model;
  for (const char* model : {"gpt-5",
                            "gpt-5-mini",
                            "gpt-5.1",
                            "openai/gpt-5-mini",
                            "gpt-6.1-sol",
                            "o1",
                            "o3-mini-2025-01-31",
                            "o4-mini",
                            "claude-opus-4-7",
                            "claude-opus-4-8-20260501",
                            "anthropic/claude-opus-4.7",
                            "claude-sonnet-5",
                            "us.anthropic.claude-opus-4-7",
                            "databricks-claude-opus-4-7",
                            "ft:gpt-5-mini:org::id",
                            "ft:o4-mini-2025-04-16:org::id",
                            "openai/o3:online",
                            "gpt-4o-search-preview",
                            "gpt-5.1-chat-latest",
                            "claude-fable-5-20260601",
                            "claude-opus-10"})
    EXPECT_FALSE(takes_temperature(model)) << model;
}

}  // namespace
}  // namespace sluice
