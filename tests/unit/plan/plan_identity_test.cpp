#include "coordinator/plan/plan_identity.hpp"

#include "tests/unit/plan/plan_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

class PlanIdentityTest : public PlanTest {
 protected:
  Digest identity() { return plan_identity(plan()); }
};

TEST_F(PlanIdentityTest, IsThatOfWhatIsAsked) {
  const Digest before = identity();
  EXPECT_EQ(identity(), before);
  suite.cases.held(0).name = "another name";
  suite.cases.held(0).must_contain.clear();
  EXPECT_EQ(identity(), before) << "what judges an answer is the fingerprint's";
}

TEST_F(PlanIdentityTest, ChangesWithEachRequest) {
  const Digest before = identity();
  suite.cases.held(3).content += " ";
  const Digest other_content = identity();
  EXPECT_NE(other_content, before);
  settings.model = "another";
  const Digest other_model = identity();
  EXPECT_NE(other_model, other_content);
  prompt.system += " again";
  EXPECT_NE(identity(), other_model);
}

TEST_F(PlanIdentityTest, ChangesWithTheNamesAndTheOrderOfTheCases) {
  const Digest before = identity();
  std::swap(suite.cases.held(1), suite.cases.held(3));
  const Digest swapped = identity();
  EXPECT_NE(swapped, before);
  suite.cases = {make_case("a", "one"), make_case("b", "two")};
  const Digest named = identity();
  suite.cases = {make_case("a", "one"), make_case("renamed", "two")};
  EXPECT_NE(identity(), named);
}

TEST_F(PlanIdentityTest, ChangesWithRepeatsAndPerturbations) {
  RunPerturbation bang;
  bang.name = "bang";
  bang.version = "1";
  bang.apply = [](std::string_view, std::string_view) -> PerturbedText { return {}; };
  const auto identity_of = [&](const TrialDesign& design) {
    return plan_identity(*Plan::make(suite, prompt, Ontology(), settings, design));
  };
  const Digest alone = identity_of({});
  const Digest twice = identity_of({{}, 2});
  const Digest perturbed = identity_of({{bang}, 1});
  bang.version = "2";
  const Digest other_version = identity_of({{bang}, 1});
  EXPECT_NE(twice, alone);
  EXPECT_NE(perturbed, alone) << "also one that changes nothing: it might have";
  EXPECT_NE(other_version, perturbed);
}

TEST_F(PlanIdentityTest, TheNumbersOfTrialsAreThoseOfTheCasesWhateverTheyAsk) {
  const Digest before = trial_identity(plan());
  suite.cases.held(3).content += " ";
  settings.model = "another";
  EXPECT_EQ(trial_identity(plan()), before);
  EXPECT_NE(trial_identity(*Plan::make(suite, prompt, Ontology(), settings, {{}, 2})), before);
  suite.cases = {make_case("a", "one"), make_case("b", "two")};
  const Digest in_order = trial_identity(plan());
  suite.cases = {make_case("b", "two"), make_case("a", "one")};
  EXPECT_NE(trial_identity(plan()), in_order);
}

}  // namespace
}  // namespace sluice
