#include "tests/unit/plan/plan_fixture.hpp"

#include <set>
#include <vector>

namespace sluice {
namespace {

std::vector<Arm> two_arms() {
  Arm one;
  one.name = "old";
  Arm other;
  other.name = "new";
  other.prompt = 1;
  return {one, other};
}

class ArmsPlan : public PlanTest {
 protected:
  ArmsPlan() {
    Case templated = text_case("q", "short question");
    templated.prompts = {{"", "short question"}, {"Be kind.", "a longer question"}};
    suite.cases.push_back(std::move(templated));
    suite.cases = suite.cases.under(two_arms());
    other = settings;
    other.model = "n";
    other.provider.name = "remote";
    other.provider.cache_identity = "remote";
    other.temperature = std::nullopt;
    other.max_tokens = 50;
  }

  Plan plan() const { return *Plan::make(suite, prompt, Ontology(), std::vector{settings, other}); }
  ModelRequest request_of(const std::string& id) const {
    const Plan planned = plan();
    for (TrialId trial = 0; trial < planned.trial_count(); ++trial) {
      if (planned.case_id(trial) == id) return planned.render(planned.unit_of(trial))->request;
    }
    ADD_FAILURE() << id;
    return {};
  }

  RequestSettings other;
};

TEST_F(ArmsPlan, EachCaseRunsOnceUnderEachArm) {
  std::vector<std::string> ids;
  std::set<std::uint32_t> tests;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto one = *suite.cases.read(i);
    EXPECT_EQ(one->id, suite.cases.id(i));
    EXPECT_EQ(one->arm, suite.cases.arm(i));
    EXPECT_EQ(one->id.ends_with(one->arm == 0 ? "@old" : "@new"), true) << one->id;
    ids.push_back(one->id);
    tests.insert(one->test);
  }
  EXPECT_EQ(ids.size(), 12u);
  EXPECT_EQ(tests.size(), 6u) << "the same number under both arms";
  EXPECT_TRUE(std::ranges::is_sorted(ids)) << "readers of baselines and reports count on it";
}

TEST_F(ArmsPlan, AnArmHasItsOwnModelPromptAndParameters) {
  const ModelRequest plain = request_of("q@old");
  EXPECT_EQ(plain.provider, "local");
  EXPECT_EQ(plain.model, "m");
  EXPECT_EQ(plain.user, "short question");
  EXPECT_EQ(plain.system, nullptr);
  EXPECT_EQ(plain.max_tokens, 100u);
  const ModelRequest second = request_of("q@new");
  EXPECT_EQ(second.provider, "remote");
  EXPECT_EQ(second.model, "n");
  EXPECT_EQ(second.user, "a longer question");
  ASSERT_NE(second.system, nullptr);
  EXPECT_EQ(*second.system, "Be kind.");
  EXPECT_EQ(second.max_tokens, 50u);
  EXPECT_EQ(second.temperature, std::nullopt);
}

TEST_F(ArmsPlan, ClaimsOfAnArmAreKeyedByItsModel) {
  const Plan planned = plan();
  // Of five fixtures two pairs share their code; under each arm, and never across arms.
  EXPECT_EQ(planned.unit_count(), 2u * 3 + 2);
  for (UnitId unit = 0; unit < planned.unit_count(); ++unit) {
    std::set<std::uint32_t> arms;
    for (const TrialId trial : planned.trials_of(unit)) arms.insert(suite.cases.arm(planned.case_of(trial)));
    EXPECT_EQ(arms.size(), 1u);
    EXPECT_EQ(planned.arm_of(unit), *arms.begin());
    EXPECT_EQ(planned.key(unit), planned.render(unit)->key);
  }
}

TEST_F(ArmsPlan, ArmsThatAskTheSameShareTheAnswer) {
  other = settings;
  const Plan planned = plan();
  EXPECT_EQ(planned.unit_count(), 3u + 2) << "but for the prompt that only one has";
}

TEST_F(ArmsPlan, APerturbedCaseKeepsItsArm) {
  TrialDesign design;
  design.perturbations.push_back(
      {"shout", "1", [](std::string_view text, std::string_view) {
         return PerturbedText{PerturbedText::Kind::changed, std::string(text) + "!", ""};
       }});
  const auto planned = Plan::make(suite, prompt, Ontology(), std::vector{settings, other}, design);
  ASSERT_TRUE(planned);
  for (TrialId trial = 0; trial < planned->trial_count(); ++trial) {
    const auto work = planned->render(planned->unit_of(trial));
    const bool is_new = planned->case_id(trial).ends_with("@new");
    EXPECT_EQ(work->request.model, is_new ? "n" : "m") << planned->trial_name(trial);
  }
}

}  // namespace
}  // namespace sluice
