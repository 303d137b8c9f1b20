// The three providers' formats carry the same questions and answers: the claims come to the same scores.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

class Providers : public Workbench {
 protected:
  // What the answers came to, without what formats may differ in: tokens, cost, and the answers' own bytes.
  static json scores_of(const std::string& text) {
    auto report = parse_report(text);
    if (!report.is_object()) return {};
    for (const auto* member : {"total_tokens", "input_tokens", "output_tokens", "estimated_cost"}) {
      report["metrics"].erase(member);
    }
    for (auto& result : report["fixture_results"]) {
      for (const auto* member : {"input_tokens", "output_tokens", "answer"}) result.erase(member);
    }
    return {{"metrics", report["metrics"]}, {"fixture_results", report["fixture_results"]}};
  }

  void expect_like_openai(const std::string& provider, const std::string& key_variable) {
    const auto simulator = start_simulator({"--require-key", "key-of-" + provider});
    set_variable(key_variable, "key-of-" + provider);
    const auto finished =
        run_sluice(with(with(live(simulator), "--provider", provider), "--base-url", simulator.url()));
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    const auto report = parse_report(finished.output);
    ASSERT_TRUE(report.is_object());
    EXPECT_EQ(schema_findings(report), "");
    EXPECT_EQ(report["provider"], provider);
    EXPECT_GT(report["metrics"]["total_tokens"], 0);
    EXPECT_EQ(scores_of(finished.output), scores_of(openai_report()));
  }

  std::string openai_report() {
    const auto simulator = start_simulator();
    return run_sluice(live(simulator) + Flags{"--no-cache"}).output;
  }
};

TEST_F(Providers, AnthropicScoresLikeOpenai) {
  expect_like_openai("anthropic", "ANTHROPIC_API_KEY");
}

TEST_F(Providers, GeminiScoresLikeOpenai) {
  expect_like_openai("gemini", "GEMINI_API_KEY");
}

}  // namespace
}  // namespace sluice
