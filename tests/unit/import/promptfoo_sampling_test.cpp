// What models are asked with where a configuration says nothing: what promptfoo asks them with.
#include "coordinator/import/foreign_sampling.hpp"
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_sampling_test {

const std::string rest = "prompts: [a]\ntests: [{assert: [{type: contains, value: x}]}]\n";

// They were asked with sluice's own defaults, and no line said so.
TEST_F(Promptfoo, AsksWithItsDefaultsOnceForAll) {
  const std::string made = suite(rest +
                                 "providers: ['openai:gpt-4o', {id: 'anthropic:messages:claude-haiku-4-5', "
                                 "config: {temperature: 0.5}}]\n");
  EXPECT_TRUE(made.starts_with("settings:\n  temperature: 0\n  max_output_tokens: 1024\nprompts:")) << made;
  EXPECT_TRUE(has(made,
                  "providers:\n  - \"openai:gpt-4o\"\n  - name: claude-haiku-4-5\n"
                  "    provider: anthropic\n    model: claude-haiku-4-5\n    temperature: 0.5\ntests:"))
      << made;
}

TEST_F(Promptfoo, AsksEachWithItsOwnDefaultsWhereTheyDiffer) {
  const std::string made = suite(rest + R"yaml(providers:
  - openai:gpt-4o
  - openai:gpt-5
  - google:gemini-2.5-flash
  - anthropic:messages:claude-opus-4-7
  - {id: 'openai:gpt-4.1', config: {omitDefaults: true}}
)yaml");
  EXPECT_TRUE(has(made, R"yaml(providers:
  - name: gpt-4o
    provider: openai
    model: gpt-4o
    temperature: 0
    max_output_tokens: 1024
  - name: gpt-5
    provider: openai
    model: gpt-5
    params:
      max_output_tokens: null
  - name: gemini-2.5-flash
    provider: gemini
    model: gemini-2.5-flash
    params:
      temperature: null
      max_output_tokens: null
  - name: claude-opus-4-7
    provider: anthropic
    model: claude-opus-4-7
    max_output_tokens: 1024
  - name: gpt-4.1
    provider: openai
    model: gpt-4.1
    params:
      temperature: null
      max_output_tokens: null
)yaml"))
      << made;
  EXPECT_FALSE(has(made, "settings:")) << made;
}

TEST_F(Promptfoo, BoundsNoModelThatIsAskedWithoutABound) {
  const std::string made = suite(rest + "providers: ['openai:gpt-5', 'openai:o3']\n");
  EXPECT_TRUE(made.starts_with("settings:\n  params:\n    max_output_tokens: null\nprompts:")) << made;
  // A null for all would win over the bound of the one.
  const std::string bounded =
      suite(rest + "providers: ['openai:gpt-5', {id: 'openai:o3', config: {max_completion_tokens: 9}}]\n");
  EXPECT_FALSE(has(bounded, "settings:")) << bounded;
  EXPECT_TRUE(has(bounded, "    max_output_tokens: 9\n")) << bounded;
  const std::string other =
      suite(rest + "providers: [{id: 'openai:gpt-4o', config: {max_completion_tokens: 9}}]\n");
  EXPECT_TRUE(has(other, "  max_output_tokens: 1024\n")) << "which is sent to no such model there: " << other;
}

TEST_F(Promptfoo, SendsNothingThatIsSentToNoSuchModelThere) {
  const std::string made =
      suite(rest + "providers: [{id: 'openai:gpt-5', config: {temperature: 0.3, max_tokens: 50}}]\n");
  EXPECT_FALSE(has(made, "0.3")) << made;
  EXPECT_FALSE(has(made, "50")) << made;
  EXPECT_TRUE(has(made,
                  "# 3: \"temperature\" in config of a provider is sent to no model like \"gpt-5\" "
                  "there: left out"))
      << made;
  const std::string beside = suite(
      rest +
      "providers: [{id: 'anthropic:messages:claude-haiku-4-5', config: {temperature: 0.3, top_p: 0.9}}]\n");
  EXPECT_TRUE(has(beside, "temperature: null")) << beside;
  EXPECT_FALSE(has(beside, "0.3")) << beside;
}

TEST(ForeignSampling, IsThatOfTheModel) {
  const auto of = [](SamplingFamily family, const char* model) { return foreign_sampling(family, model); };
  EXPECT_EQ(of(SamplingFamily::openai, "openai/gpt-5-mini").max_output_tokens, std::nullopt);
  EXPECT_EQ(of(SamplingFamily::openai, "meta/llama-o1x").max_output_tokens, 1024);
  EXPECT_EQ(of(SamplingFamily::groq, "openai/gpt-oss-120b").temperature, 0);
  EXPECT_EQ(of(SamplingFamily::groq, "openai/gpt-oss-120b").max_output_tokens, std::nullopt);
  EXPECT_EQ(of(SamplingFamily::xai, "grok-4-fast-non-reasoning").max_output_tokens, 1024);
  EXPECT_EQ(of(SamplingFamily::anthropic, "claude-opus-5").max_output_tokens, 2048);
  EXPECT_EQ(of(SamplingFamily::mistral, "open-mistral-nemo").temperature, std::nullopt);
  EXPECT_EQ(of(SamplingFamily::localai, "m").temperature, 0.7);
}

}  // namespace sluice::promptfoo_sampling_test
