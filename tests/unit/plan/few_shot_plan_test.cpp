#include "common/model/cache_key.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice::few_shot_plan_test {

class FewShotPlan : public PlanTest {
 protected:
  FewShotPlan() {
    Case text = text_case("f", "four?");
    text.context = "About four.";
    suite.cases.push_back(text);
  }
  Plan with(const std::vector<SharedText>& few_shots) const {
    TrialDesign design;
    design.few_shots = few_shots;
    design.perturbations.push_back(
        {"shout", "1", [](std::string_view text, std::string_view) {
           return PerturbedText{PerturbedText::Kind::changed, std::string(text) + "!", {}};
         }});
    return *Plan::make(suite, prompt, Ontology(), settings, design);
  }
  std::string user_of(const Plan& made, TrialId trial) const {
    return made.render(made.unit_of(trial))->request.user;
  }
};

TEST_F(FewShotPlan, WhatWasFoundStandsInFrontOfTheRequestInEveryForm) {
  const SharedText example = share("Such as this:");
  const Plan made = with({example, nullptr, nullptr, nullptr, nullptr, example});
  EXPECT_EQ(user_of(made, 0), "Such as this:\n\npython: one");
  EXPECT_EQ(user_of(made, 1), "Such as this:\n\npython: one!") << "the perturbed form has the case's own";
  EXPECT_EQ(user_of(made, 2), "python: two");
  EXPECT_EQ(user_of(made, 10), "Such as this:\n\nAbout four.\n\nfour?");
}

TEST_F(FewShotPlan, KeysAreThoseOfWhatIsSent) {
  const SharedText example = share("Such as this:");
  const Plan made = with({example, nullptr, nullptr, nullptr, nullptr, example});
  const Plan without = with({});
  EXPECT_NE(made.unit_of(0), made.unit_of(4)) << "a and c ask the same, and only a is shown an example";
  EXPECT_EQ(without.unit_of(0), without.unit_of(4));
  EXPECT_EQ(made.key(made.unit_of(2)), without.key(without.unit_of(2))) << "nothing was found for it";
  for (UnitId unit = 0; unit < made.unit_count(); ++unit) {
    const auto work = *made.render(unit);
    EXPECT_EQ(work.key, cache_key(settings.provider, work.request, work.repeat)) << unit;
  }
}

}  // namespace sluice::few_shot_plan_test
