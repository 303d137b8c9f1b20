#include "common/defaults.hpp"
#include "common/model/cache_key.hpp"
#include "coordinator/defaults.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Appends to what holds "one", leaves the rest as it is, and cannot do Go.
RunPerturbation appending(std::string name, std::string what) {
  RunPerturbation one;
  one.name = std::move(name);
  one.version = "1";
  one.apply = [what](std::string_view text, std::string_view language) -> PerturbedText {
    if (language == "go") return {PerturbedText::Kind::skipped, {}, "no Go here"};
    if (text.find("one") == std::string_view::npos) return {};
    return {PerturbedText::Kind::changed, std::string(text) + what, {}};
  };
  return one;
}

TEST_F(PlanTest, APerturbationHasTrialsOnlyWhereItChangesSomething) {
  suite.cases.held(3).language = "go";
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{appending("bang", "!")}, 2});
  // a and c hold "one": two forms of two repeats each, the same for both.
  EXPECT_EQ(made.trial_count(), 2u * (2 + 1 + 2 + 1 + 1));
  EXPECT_EQ(made.unit_count(), 2u * 4);
  EXPECT_EQ(made.render(made.unit_of(0))->request.user, "python: one");
  const auto perturbed = *made.render(made.unit_of(2));
  EXPECT_EQ(perturbed.request.user, "python: one!");
  EXPECT_EQ(perturbed.key, cache_key(settings.provider, perturbed.request, 0));
  ASSERT_EQ(perturbed.tasks.size(), 2u) << "a and c";
  EXPECT_EQ(perturbed.tasks[0].must_contain, suite.cases.held(0).must_contain);
  EXPECT_EQ(made.trials().place(3), (TrialPlace{0, 1, 1}));
  EXPECT_EQ(made.trial_name(3), "a (bang, repeat 2)");
  ASSERT_EQ(made.perturbations().size(), 1u);
  const PerturbationFacts& facts = made.perturbations()[0];
  EXPECT_EQ(facts.name, "bang");
  EXPECT_EQ(facts.version, "1");
  EXPECT_EQ(facts.changed, 2u);
  EXPECT_EQ(facts.unchanged, 2u);
  ASSERT_EQ(facts.skipped.size(), 1u);
  EXPECT_EQ(facts.skipped.begin()->first, std::pair(std::string("go"), std::string("no Go here")));
  EXPECT_EQ(facts.skipped_cases(), 1u);
}

TEST_F(PlanTest, PerturbationsOfTheSameTextAreOneUnit) {
  suite.cases = {make_case("a", "one")};
  const auto made =
      *Plan::make(suite, prompt, Ontology(), settings, {{appending("x", "!"), appending("y", "!")}, 1});
  EXPECT_EQ(made.trial_count(), 3u);
  EXPECT_EQ(made.unit_count(), 2u);
  EXPECT_EQ(made.unit_of(1), made.unit_of(2));
}

TEST_F(PlanTest, ATextThatComesBackAsItWasIsUnchanged) {
  suite.cases = {make_case("a", "one")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{appending("nothing", "")}, 1});
  EXPECT_EQ(made.trial_count(), 1u);
  EXPECT_EQ(made.perturbations()[0].unchanged, 1u);
}

TEST_F(PlanTest, ACommandRunsOnceAndItsTextIsHeld) {
  suite.cases = {make_case("a", "one")};
  auto command = appending("count", "");
  const auto asked = std::make_shared<int>(0);
  command.apply_once = true;
  command.apply = [asked](std::string_view text, std::string_view) -> PerturbedText {
    return {PerturbedText::Kind::changed, std::string(text) + std::to_string(++*asked), {}};
  };
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{command}, 2});
  EXPECT_EQ(made.render(made.unit_of(2))->request.user, "python: one1");
  EXPECT_EQ(made.render(made.unit_of(3))->request.user, "python: one1");
  EXPECT_EQ(*asked, 1);
}

TEST_F(PlanTest, ACommandRunsOnceForEachText) {
  suite.cases = {make_case("a", "one"), make_case("b", "two"), make_case("c", "one")};
  suite.cases.held(2).language = "go";
  auto command = appending("count", "");
  const auto asked = std::make_shared<int>(0);
  command.apply_once = true;
  command.apply = [asked](std::string_view text, std::string_view) -> PerturbedText {
    if (text == "two") return {PerturbedText::Kind::failed, {}, "no two: " + std::to_string(++*asked)};
    return {PerturbedText::Kind::changed, std::string(text) + std::to_string(++*asked), {}};
  };
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{command}, 1});
  EXPECT_EQ(*asked, 2);
  EXPECT_EQ(made.render(made.unit_of(1))->request.user, "python: one1");
  EXPECT_EQ(made.render(made.unit_of(4))->request.user, "go: one1");
  const PerturbationFacts& facts = made.perturbations()[0];
  EXPECT_EQ(facts.changed, 2u);
  EXPECT_EQ(facts.failed, 1u);
  EXPECT_EQ(facts.first_failure, "no two: 2");
  EXPECT_FALSE(facts.given_up);
  EXPECT_TRUE(facts.skipped.empty());
}

/// Fails for whatever holds "x"; counts how often it is asked.
RunPerturbation failing(const std::shared_ptr<std::uint32_t>& asked) {
  RunPerturbation one;
  one.name = "broken";
  one.version = "1";
  one.apply_once = true;
  one.apply = [asked](std::string_view text, std::string_view) -> PerturbedText {
    ++*asked;
    if (text.find('x') == std::string_view::npos) return {};
    return {PerturbedText::Kind::failed, {}, "failed " + std::to_string(*asked)};
  };
  return one;
}

TEST_F(PlanTest, ACommandThatFailsForTheFirstTextsIsNotRunAnyMore) {
  suite.cases = {};
  for (int i = 0; i < 20; ++i)
    suite.cases.push_back(make_case("c" + std::to_string(i), "x" + std::to_string(i)));
  const auto asked = std::make_shared<std::uint32_t>(0);
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{failing(asked)}, 1});
  EXPECT_EQ(*asked, defaults::max_first_failures);
  const PerturbationFacts& facts = made.perturbations()[0];
  EXPECT_TRUE(facts.given_up);
  EXPECT_EQ(facts.failed, 20u);
  EXPECT_EQ(facts.first_failure, "failed 1");
}

TEST_F(PlanTest, ACommandThatHasOnceSucceededIsRunToTheEnd) {
  suite.cases = {};
  for (int i = 0; i < 20; ++i) {
    suite.cases.push_back(make_case("c" + std::to_string(i), (i == 4 ? "y" : "x") + std::to_string(i)));
  }
  const auto asked = std::make_shared<std::uint32_t>(0);
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{failing(asked)}, 1});
  EXPECT_EQ(*asked, 20u);
  EXPECT_FALSE(made.perturbations()[0].given_up);
  EXPECT_EQ(made.perturbations()[0].failed, 19u);
  EXPECT_EQ(made.perturbations()[0].unchanged, 1u);
}

TEST_F(PlanTest, ReportsItsProgress) {
  std::vector<std::pair<std::size_t, std::size_t>> seen;
  TrialDesign design;
  design.on_progress = [&](std::size_t done, std::size_t all) { seen.emplace_back(done, all); };
  ASSERT_TRUE(Plan::make(suite, prompt, Ontology(), settings, design));
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen.back(), std::pair(std::size_t{4}, std::size_t{5}));
}

TEST_F(PlanTest, APerturbedTextThatNoMessageHoldsIsSkipped) {
  suite.cases = {make_case("a", "one"), make_case("b", "two")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings,
                                {{appending("big", std::string(defaults::max_frame_bytes, 'x'))}, 1});
  EXPECT_EQ(made.trial_count(), 2u);
  const PerturbationFacts& facts = made.perturbations()[0];
  EXPECT_EQ(facts.changed, 0u);
  ASSERT_EQ(facts.skipped.size(), 1u);
  EXPECT_EQ(facts.skipped.begin()->first.second, "it is longer than a message to a worker can hold");
}

// The labels that go out with it did not count: the run ended instead.
TEST_F(PlanTest, APerturbedTextIsSkippedThatHasNoRoomBesideTheLabels) {
  Case one = text_case("a", "one");
  one.expectations.push_back({.what = {MetricId::label, {"x", ""}}, .thresholding = {}, .min_score = {}});
  suite.cases = {one};
  suite.labels[""] = {"x"};
  for (int i = 0; i < 500; ++i) suite.labels[""].push_back(std::to_string(i));
  const std::string nearly_all(defaults::max_bytes_of_unit - 5000, 'x');
  const auto made = Plan::make(suite, prompt, Ontology(), settings, {{appending("big", nearly_all)}, 1});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->perturbations()[0].skipped.size(), 1u);
}

TEST_F(PlanTest, ContextIsWhatIsPerturbedOfATextThatHasSome) {
  auto with_context = text_case("f", "one?");
  with_context.context = "one is a number";
  suite.cases = {with_context, text_case("g", "one?")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{appending("bang", "!")}, 1});
  EXPECT_EQ(made.render(made.unit_of(1))->request.user, "one is a number!\n\none?");
  EXPECT_EQ(made.render(made.unit_of(3))->request.user, "one?!");
}

TEST(PerturbedPart, IsInTheLanguageOfItsCaseOrFile) {
  Case one = make_case("a", "x");
  EXPECT_EQ(perturbed_part(one).language, "python");
  one.language.clear();
  one.content_file = "src/app.rs";
  EXPECT_EQ(perturbed_part(one).language, "rs");
  Case text = text_case("f", "x");
  text.language = "python";
  EXPECT_EQ(perturbed_part(text).language, "") << "a prompt is no Python, whatever it speaks of";
  text.content_file = "dir.d/Makefile";
  EXPECT_EQ(perturbed_part(text).language, "Makefile");
  EXPECT_EQ(perturbed_part(text).text, &Case::content);
}

}  // namespace
}  // namespace sluice
