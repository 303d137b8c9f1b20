#include "coordinator/session/run_plan.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Digest digest(std::uint8_t first) {
  Digest digest{};
  digest[0] = first;
  return digest;
}

RunController::Config config_of(Mode mode, std::size_t units) {
  RunController::Config config;
  config.settings.mode = mode;
  config.affinities = affinities_of(std::vector<Digest>(units));
  return config;
}

TEST(RunPlan, RendezvousHashingGoesByTheKey) {
  const std::vector<Digest> keys{digest(1), digest(2), digest(1)};
  const auto affinities = affinities_of(keys);
  ASSERT_EQ(affinities.size(), 3u);
  EXPECT_EQ(affinities[0].holder, 0u) << "no holder is known yet";
  EXPECT_EQ(affinities[0].key_hash, affinities[2].key_hash);
  EXPECT_NE(affinities[0].key_hash, affinities[1].key_hash);
}

TEST(RunPlan, HoldersAreNumberedFromOneInTheOrderOfTheUnits) {
  auto config = config_of(Mode::live, 4);
  const std::vector<std::optional<Pin>> pins{Pin{digest(1), "south"}, std::nullopt, Pin{digest(2), "north"},
                                             Pin{digest(3), "south"}};
  add_pins(pins, config);
  EXPECT_EQ(config.holders, (std::vector<std::string>{"south", "north"}));
  EXPECT_EQ(config.affinities[0].holder, 1u);
  EXPECT_EQ(config.affinities[1].holder, 0u);
  EXPECT_EQ(config.affinities[2].holder, 2u);
  EXPECT_EQ(config.affinities[3].holder, 1u);
  EXPECT_EQ(config.pinned_answers, (std::vector{digest(1), Digest{}, digest(2), digest(3)}));
}

TEST(RunPlan, ALiveRunWithoutPinsNamesNoAnswersAndACachedOneNamesNone) {
  const std::vector<std::optional<Pin>> nothing(3);
  auto live = config_of(Mode::live, 3);
  add_pins(nothing, live);
  EXPECT_TRUE(live.pinned_answers.empty()) << "nobody's answers need no room in a million units";
  auto cached = config_of(Mode::cached, 3);
  add_pins(nothing, cached);
  EXPECT_EQ(cached.pinned_answers, std::vector<Digest>(3));
}

struct Budgeted {
  RunOptions options;
  RunInputs inputs;
  RunController::Config config;
};

Budgeted budgeted(Mode mode) {
  Budgeted run;
  run.config.settings.mode = mode;
  run.options.settings.max_run_cost.value = 2.5;
  run.options.settings.max_run_cost.where = "--max-cost";
  run.options.settings.max_run_tokens.value = 1000;
  run.options.provider.model = "known-model";
  const auto prices = PriceTable::parse(R"(
version = "1"
as_of = "2026-01-01"
[[model]]
provider = "openai"
model = "known-model"
input = 1.0
output = 2.0
[[model]]
provider = "anthropic"
model = "known-judge"
input = 3.0
output = 5.0
)",
                                        "prices");
  EXPECT_TRUE(prices) << join_findings(prices.error());
  if (prices) run.inputs.prices = *prices;
  return run;
}

TEST(RunPlan, OnlyALiveRunHasABudget) {
  auto live = budgeted(Mode::live);
  ASSERT_TRUE(add_budgets(live.options, live.inputs, live.config));
  EXPECT_EQ(live.config.budget.tokens, 1000u);
  EXPECT_EQ(live.config.budget.cost, 2.5);
  EXPECT_DOUBLE_EQ(live.config.price(PaidTokens{1'000'000, 1'000'000, 0}).value_or(0), 3.0);
  auto cached = budgeted(Mode::cached);
  ASSERT_TRUE(add_budgets(cached.options, cached.inputs, cached.config));
  EXPECT_FALSE(cached.config.budget.tokens);
  EXPECT_FALSE(cached.config.budget.cost);
}

TEST(RunPlan, ABudgetOfCostNeedsThePriceOfTheModel) {
  auto run = budgeted(Mode::live);
  run.options.provider.model = "unheard-of";
  const auto added = add_budgets(run.options, run.inputs, run.config);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().reason, Reason::usage_invalid);
  EXPECT_NE(added.error().message.find("--max-cost needs the price of the model \"unheard-of\""),
            std::string::npos)
      << added.error().message;
}

void judged_by(Budgeted& run, Judge judge, const std::string& model) {
  run.inputs.judge.judge.judge = judge;
  run.inputs.judge.judge.model = model;
  run.inputs.judge.provider.emplace().name = "gateway";
  run.inputs.judge.provider->kind = ProviderKind::anthropic;
  run.config.settings.judge = run.inputs.judge.judge;
}

TEST(RunPlan, VotesCostWhatTheirOwnModelCosts) {
  auto run = budgeted(Mode::live);
  judged_by(run, Judge::model, "known-judge");
  ASSERT_TRUE(add_budgets(run.options, run.inputs, run.config));
  EXPECT_DOUBLE_EQ(run.config.price(PaidTokens{1'000'000, 1'000'000}).value_or(0), 3.0);
  EXPECT_DOUBLE_EQ(run.config.price(PaidTokens{1'000'000, 1'000'000, 0, 0, 1'000'000, 2'000'000}).value_or(0),
                   16.0);
}

TEST(RunPlan, ABudgetOfCostNeedsThePriceOfTheJudgeThatIsCalled) {
  auto run = budgeted(Mode::live);
  judged_by(run, Judge::model, "unheard-of");
  const auto added = add_budgets(run.options, run.inputs, run.config);
  ASSERT_FALSE(added);
  EXPECT_NE(
      added.error().message.find("needs the price of the model \"unheard-of\" (gateway, of kind anthropic)"),
      std::string::npos)
      << added.error().message;
  judged_by(run, Judge::fake, "unheard-of");
  EXPECT_TRUE(add_budgets(run.options, run.inputs, run.config));
}

}  // namespace
}  // namespace sluice
