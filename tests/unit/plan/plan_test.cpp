#include "coordinator/plan/plan.hpp"

#include "common/cache_key.hpp"
#include "common/defaults.hpp"
#include "coordinator/plan/message_size.hpp"

#include <limits>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Case make_case(std::string id, std::string content, double min_confidence = 0.5) {
  Case one;
  one.id = std::move(id);
  one.language = "python";
  one.content = std::move(content);
  one.must_contain = {{"tls/cert", one.id, false, "why"}};
  one.must_not_contain = {{"tls/cert", "not " + one.id, true, std::nullopt}};
  one.min_confidence = min_confidence;
  return one;
}

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    prompt.version = "1";
    prompt.system = "Read: {{ontology}}";
    prompt.user = "{{language}}: {{content}}";
    settings.provider.name = "local";
    settings.provider.cache_identity = "local";
    settings.model = "m";
    settings.temperature = 0.1;
    settings.max_tokens = 100;
    settings.seed = 7;
    settings.response_schema = share("{}");
    suite.cases = {make_case("a", "one"), make_case("b", "two"), make_case("c", "one", 0.9),
                   make_case("d", "three"), make_case("e", "two")};
  }

  Plan plan() const { return *Plan::make(suite, prompt, Ontology(), settings); }

  Suite suite;
  PromptTemplate prompt;
  RequestSettings settings;
};

TEST_F(PlanTest, EqualInputsShareOneUnit) {
  const auto made = plan();
  EXPECT_EQ(made.trial_count(), 5u);
  ASSERT_EQ(made.unit_count(), 3u);
  const auto trials = [&](UnitId unit) {
    const auto span = made.trials_of(unit);
    return std::vector<TrialId>(span.begin(), span.end());
  };
  EXPECT_EQ(trials(0), (std::vector<TrialId>{0, 2}));
  EXPECT_EQ(trials(1), (std::vector<TrialId>{1, 4}));
  EXPECT_EQ(trials(2), std::vector<TrialId>{3});
  for (UnitId unit = 0; unit < made.unit_count(); ++unit) {
    for (const auto trial : made.trials_of(unit)) EXPECT_EQ(made.unit_of(trial), unit);
  }
}

TEST_F(PlanTest, ARequestThatDiffersIsAUnitOfItsOwn) {
  suite.cases.held(2).language = "go";
  EXPECT_EQ(plan().unit_count(), 4u) << "the language stands in the prompt";
}

TEST_F(PlanTest, UnitsHaveIdsInTheOrderOfTheirFirstTrial) {
  const auto made = plan();
  for (UnitId unit = 1; unit < made.unit_count(); ++unit) {
    EXPECT_LT(made.trials_of(unit - 1).front(), made.trials_of(unit).front());
  }
}

TEST_F(PlanTest, RendersTheWholeUnit) {
  const auto made = plan();
  const auto unit = *made.render(0);
  EXPECT_EQ(unit.unit, 0u);
  EXPECT_EQ(unit.repeat, 0u);
  EXPECT_TRUE(is_zero(unit.pinned_answer));
  EXPECT_EQ(unit.request.provider, "local");
  EXPECT_EQ(unit.request.model, "m");
  EXPECT_EQ(unit.request.user, "python: one");
  ASSERT_TRUE(unit.request.system);
  EXPECT_EQ(*unit.request.system, render_system(prompt, Ontology()));
  EXPECT_EQ(unit.request.response_schema, settings.response_schema);
  EXPECT_EQ(unit.request.temperature, 0.1);
  EXPECT_EQ(unit.request.max_tokens, 100u);
  EXPECT_EQ(unit.request.seed, 7);
  EXPECT_EQ(unit.key, cache_key(settings.provider, unit.request, unit.repeat)) << "the key is the request's";
  EXPECT_EQ(unit.key, made.key(0));
  ASSERT_EQ(unit.tasks.size(), 2u);
  EXPECT_EQ(unit.tasks[0].trial, 0u);
  EXPECT_EQ(unit.tasks[0].must_contain, suite.cases.held(0).must_contain);
  EXPECT_EQ(unit.tasks[1].trial, 2u);
  EXPECT_EQ(unit.tasks[1].must_contain, suite.cases.held(2).must_contain);
  EXPECT_EQ(unit.tasks[1].must_not_contain, suite.cases.held(2).must_not_contain);
  EXPECT_EQ(unit.tasks[1].min_confidence, 0.9);
}

TEST_F(PlanTest, UnitsShareTheTextsThatAllHave) {
  const auto made = plan();
  EXPECT_EQ(made.render(0)->request.system, made.render(2)->request.system)
      << "one string, not two equal ones";
}

TEST_F(PlanTest, IsAPureFunctionOfItsInputs) {
  const auto one = plan();
  const auto other = plan();
  for (UnitId unit = 0; unit < one.unit_count(); ++unit) EXPECT_EQ(one.key(unit), other.key(unit));
  prompt.system += " again";
  EXPECT_NE(plan().key(0), one.key(0));
}

Case text_case(std::string id, std::string prompt) {
  Case one;
  one.id = std::move(id);
  one.kind = CaseKind::text;
  one.content = std::move(prompt);
  return one;
}

TEST_F(PlanTest, ATextCaseIsSentAsItStands) {
  auto asked = text_case("f", "What is the capital of {{content}}?");
  asked.system = "Be brief.";
  asked.context = "France is a country.";
  asked.expectations = {{{MetricId::must_contain, {"Paris"}}, {}, {}},
                        {{MetricId::exact_match, {"Paris", "Paris."}}, {}, {}}};
  suite.cases = {asked};
  const auto unit = *plan().render(0);
  EXPECT_EQ(unit.request.user, "France is a country.\n\nWhat is the capital of {{content}}?");
  ASSERT_TRUE(unit.request.system);
  EXPECT_EQ(*unit.request.system, "Be brief.");
  EXPECT_FALSE(unit.request.response_schema) << "any text is an answer";
  EXPECT_EQ(unit.key, cache_key(settings.provider, unit.request, 0));
  ASSERT_EQ(unit.tasks.size(), 1u);
  EXPECT_FALSE(unit.tasks[0].judges_claims);
  EXPECT_EQ(unit.tasks[0].texts, (std::vector{asked.expectations[0].what, asked.expectations[1].what}));
}

TEST_F(PlanTest, ATextCaseWithoutSystemPromptSendsNone) {
  suite.cases = {text_case("f", "one")};
  EXPECT_FALSE(plan().render(0)->request.system);
}

TEST_F(PlanTest, AClaimsMetricIsNoTextToJudgeBy) {
  auto claims = make_case("a", "one");
  claims.expectations = {{{MetricId::claims_f1, {}}, {}, 0.8}};
  suite.cases = {claims};
  const auto unit = *plan().render(0);
  EXPECT_TRUE(unit.tasks[0].judges_claims);
  EXPECT_TRUE(unit.tasks[0].texts.empty());
}

/// A file that can be read as often as `reads` says.
class VanishingFile final : public CaseFile {
 public:
  explicit VanishingFile(int reads) : reads_(reads) {}
  Result<Case> read(std::uint64_t offset, std::uint32_t, std::uint64_t) const override {
    if (reads_-- <= 0) return fail(Reason::file_unreadable, "cases.jsonl was changed during the run");
    return text_case("line-" + std::to_string(offset), "prompt " + std::to_string(offset));
  }

 private:
  mutable int reads_;
};

TEST_F(PlanTest, CasesStayInTheirFileUntilTheyAreWanted) {
  const auto file = std::make_shared<VanishingFile>(3);
  suite.cases = {};
  suite.cases.push_back(file, {10, 5, 0}, "line-10", "tests");
  suite.cases.push_back(file, {20, 5, 0}, "line-20", "tests");
  const auto made = plan();
  EXPECT_EQ(made.render(1)->request.user, "prompt 20");
  EXPECT_EQ(made.render(1).error().reason, Reason::file_unreadable) << "the fourth time it is gone";
  const auto planned = Plan::make(suite, prompt, Ontology(), settings);
  EXPECT_EQ(planned.error().reason, Reason::file_unreadable);
}

TEST_F(PlanTest, AnEmptySuiteIsAnEmptyPlan) {
  suite.cases = {};
  EXPECT_EQ(plan().trial_count(), 0u);
  EXPECT_EQ(plan().unit_count(), 0u);
}

TEST_F(PlanTest, EveryRepeatIsARequestWithAKeyAndASeedOfItsOwn) {
  suite.cases = {make_case("a", "one"), make_case("b", "two")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{}, 3});
  ASSERT_EQ(made.trial_count(), 6u);
  ASSERT_EQ(made.unit_count(), 6u);
  for (TrialId trial = 0; trial < 6; ++trial) {
    const auto unit = *made.render(made.unit_of(trial));
    EXPECT_EQ(unit.repeat, trial % 3);
    EXPECT_EQ(unit.request.seed, 7 + trial % 3);
    EXPECT_EQ(unit.key, cache_key(settings.provider, unit.request, unit.repeat));
    EXPECT_EQ(unit.tasks.at(0).trial, trial);
    EXPECT_EQ(made.case_id(trial), trial < 3 ? "a" : "b");
  }
  EXPECT_EQ(made.key(0), plan().key(0)) << "the first repeat is the run without repeats: its answers serve";
  EXPECT_EQ(made.trial_name(4), "b (repeat 2)");
}

TEST_F(PlanTest, WithoutASeedTheRepeatIndexAloneTellsKeysApart) {
  settings.seed.reset();
  suite.cases = {text_case("f", "one")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{}, 2});
  ASSERT_EQ(made.unit_count(), 2u);
  EXPECT_FALSE(made.render(1)->request.seed);
}

TEST_F(PlanTest, TheLastSeedIsFollowedByTheFirst) {
  settings.seed = std::numeric_limits<std::int64_t>::max();
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{}, 2});
  EXPECT_EQ(made.render(1)->request.seed, std::numeric_limits<std::int64_t>::min());
}

/// Appends to what holds "one", leaves the rest as it is, and cannot do Go.
Variation appending(std::string name, std::string what) {
  Variation one;
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

TEST_F(PlanTest, ACommandIsAskedOnceAndItsTextHeld) {
  suite.cases = {make_case("a", "one")};
  auto command = appending("count", "");
  const auto asked = std::make_shared<int>(0);
  command.ask_once = true;
  command.apply = [asked](std::string_view text, std::string_view) -> PerturbedText {
    return {PerturbedText::Kind::changed, std::string(text) + std::to_string(++*asked), {}};
  };
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{command}, 2});
  EXPECT_EQ(made.render(made.unit_of(2))->request.user, "python: one1");
  EXPECT_EQ(made.render(made.unit_of(3))->request.user, "python: one1");
  EXPECT_EQ(*asked, 1);
}

TEST_F(PlanTest, ContextIsWhatIsPerturbedOfATextThatHasSome) {
  auto with_context = text_case("f", "one?");
  with_context.context = "one is a number";
  suite.cases = {with_context, text_case("g", "one?")};
  const auto made = *Plan::make(suite, prompt, Ontology(), settings, {{appending("bang", "!")}, 1});
  EXPECT_EQ(made.render(made.unit_of(1))->request.user, "one is a number!\n\none?");
  EXPECT_EQ(made.render(made.unit_of(3))->request.user, "one?!");
}

TEST_F(PlanTest, MoreTrialsThanNumbersAreRefused) {
  suite.cases = {make_case("a", "one"), make_case("b", "one")};
  TrialTable table(1u << 31);
  EXPECT_TRUE(table.add_case());
  EXPECT_FALSE(table.add_case());
  EXPECT_EQ(table.case_count(), 1u);
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

TEST_F(PlanTest, CasesOfOneRequestThatNoMessageHoldsAreRefused) {
  suite = {};
  for (std::size_t i = 0; i <= defaults::max_items; ++i) {
    Case one;
    one.id = "case-" + std::to_string(i);
    one.kind = CaseKind::text;
    one.content = "the same for all";
    one.expectations = {{{MetricId::must_contain, {"x"}}, {}, {}}};
    suite.cases.push_back(one);
  }
  const auto made = Plan::make(suite, prompt, Ontology(), settings);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::fixture_invalid);
  EXPECT_EQ(
      made.error().message,
      "65537 cases with the same request (case-0, ...) expect more than one message to a worker can hold; "
      "spread them over several suites, or shorten what they expect");
}

TEST_F(PlanTest, AListThatNoMessageHoldsIsRefused) {
  Case one;
  one.must_contain.resize(defaults::max_items);
  UnitLoad load;
  load.add(one);
  EXPECT_TRUE(load.fits_a_message());
  one.must_contain.emplace_back();
  load.add(one);
  EXPECT_FALSE(load.fits_a_message());
}

TEST_F(PlanTest, ACaseThatNoMessageHoldsIsRefused) {
  suite.cases.held(3).must_contain[0].rationale = std::string(defaults::max_frame_bytes / 2, 'x');
  const auto made = Plan::make(suite, prompt, Ontology(), settings);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "the case d expects more than one message to a worker can hold; shorten what it expects");
}

}  // namespace
}  // namespace sluice
