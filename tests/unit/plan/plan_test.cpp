#include "common/defaults.hpp"
#include "common/model/cache_key.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/plan/message_size.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <limits>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {
namespace {

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
  EXPECT_EQ(unit.request.schema_name, claims_schema_name);
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
  EXPECT_EQ(unit.request.schema_name, "");
  EXPECT_EQ(unit.key, cache_key(settings.provider, unit.request, 0));
  ASSERT_EQ(unit.tasks.size(), 1u);
  EXPECT_FALSE(unit.tasks[0].assesses_claims);
  EXPECT_EQ(unit.tasks[0].texts, (std::vector{asked.expectations[0].what, asked.expectations[1].what}));
}

TEST_F(PlanTest, ATextCaseWithoutSystemPromptSendsNone) {
  suite.cases = {text_case("f", "one")};
  EXPECT_FALSE(plan().render(0)->request.system);
}

TEST_F(PlanTest, AClaimsMetricIsNoTextToAssessBy) {
  auto claims = make_case("a", "one");
  claims.expectations = {{{MetricId::claims_f1, {}}, {}, 0.8}};
  suite.cases = {claims};
  const auto unit = *plan().render(0);
  EXPECT_TRUE(unit.tasks[0].assesses_claims);
  EXPECT_TRUE(unit.tasks[0].texts.empty());
}

/// A file that can be read as often as `reads` says.
class VanishingFile final : public CaseFile {
 public:
  explicit VanishingFile(int reads) : reads_(reads) {}
  Result<std::shared_ptr<Case>> read(std::uint64_t offset, std::uint32_t, std::uint64_t) const override {
    if (reads_-- <= 0) return fail(Reason::file_unreadable, "cases.jsonl was changed during the run");
    return std::make_shared<Case>(
        text_case("line-" + std::to_string(offset), "prompt " + std::to_string(offset)));
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

TEST_F(PlanTest, WithoutASeedTheRepeatIndexAloneDistinguishesKeys) {
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

TEST_F(PlanTest, MoreTrialsThanNumbersAreRefused) {
  suite.cases = {make_case("a", "one"), make_case("b", "one")};
  TrialTable table(1u << 31);
  EXPECT_TRUE(table.add_case());
  EXPECT_FALSE(table.add_case());
  EXPECT_EQ(table.case_count(), 1u);
}

TEST_F(PlanTest, CasesOfOneRequestThatNoMessageHoldsAreRefused) {
  suite = {};
  for (std::size_t i = 0; i <= defaults::max_wire_items; ++i) {
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
  one.must_contain.resize(defaults::max_wire_items);
  UnitLoad load;
  load.add(one, request_bytes(one));
  EXPECT_TRUE(load.fits_a_message());
  one.must_contain.emplace_back();
  load.add(one, request_bytes(one));
  EXPECT_FALSE(load.fits_a_message());
}

// A result of more values than a message may have was refused, and came again for ever.
TEST_F(PlanTest, WhatTheResultSaysOfClaimsCounts) {
  Case one;
  one.kind = CaseKind::claims;
  one.must_contain.resize(1);
  const auto load_of = [&one](std::size_t cases) {
    UnitLoad load;
    for (std::size_t i = 0; i < cases; ++i) load.add(one, 0);
    return load;
  };
  EXPECT_TRUE(load_of(defaults::max_wire_items).fits_a_message());
  one.must_contain.resize(12);
  const UnitLoad load = load_of(defaults::max_wire_items);
  EXPECT_LE(load.bytes, defaults::max_bytes_of_unit);
  EXPECT_FALSE(load.fits_a_message());
  EXPECT_TRUE(load_of(defaults::max_wire_items / 2).fits_a_message());
}

TEST_F(PlanTest, CallsOfRecordedAnswersCount) {
  Case one;
  AnsweredTest recorded;
  recorded.answer.calls.resize(defaults::max_wire_items);
  one.recorded = std::make_shared<const AnsweredTest>(recorded);
  UnitLoad load;
  load.add(one, request_bytes(one));
  EXPECT_TRUE(load.fits_a_message());
  recorded.answer.calls.emplace_back();
  one.recorded = std::make_shared<const AnsweredTest>(recorded);
  load.add(one, request_bytes(one));
  EXPECT_FALSE(load.fits_a_message());
  WorkUnit unit;
  unit.recorded = RecordedAnswer{};
  const std::size_t before = message_bytes(unit, nullptr);
  unit.recorded->calls.push_back({"id", "name", std::string(1000, 'x')});
  EXPECT_GE(message_bytes(unit, nullptr), before + 1006);
}

// Each is several values, of which a message has so many and no more.
TEST_F(PlanTest, ExpectationsWithoutTextsCountAsWell) {
  WorkUnit unit;
  unit.tasks.resize(1);
  const std::size_t before = message_bytes(unit, nullptr);
  unit.tasks[0].texts.resize(1000);
  EXPECT_GE(message_bytes(unit, nullptr), before + 20'000);
}

TEST_F(PlanTest, TheSizeOfAPerturbedRequestIsItsOwn) {
  Case one;
  one.content = std::string(defaults::max_frame_bytes, 'x');
  UnitLoad load;
  load.add(one, 10);
  EXPECT_TRUE(load.fits_a_message());
  UnitLoad own;
  own.add(one, request_bytes(one));
  EXPECT_FALSE(own.fits_a_message());
}

TEST_F(PlanTest, ACaseThatNoMessageHoldsIsRefused) {
  suite.cases.held(3).must_contain[0].rationale = std::string(defaults::max_frame_bytes / 2, 'x');
  const auto made = Plan::make(suite, prompt, Ontology(), settings);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "the case d expects more than one message to a worker can hold; shorten what it expects");
}

TEST_F(PlanTest, ExpectationsGoOutInTheOntologysWordsAndLeaveTheKeysAsTheyAre) {
  const auto ontology = Ontology::parse(R"(
version = "1"
[[subject]]
path = "tls/min_version"
synonyms = ["tls/version"]
[[subject.predicate]]
name = "value"
type = "text"
synonyms = ["version"]
)",
                                        "o.toml");
  ASSERT_TRUE(ontology);
  const auto before = *Plan::make(suite, prompt, *ontology, settings);
  suite.cases.held(0).must_contain = {{"tls/version", "version", std::string("1.0"), "why"}};
  suite.cases.held(0).must_not_contain = {{"tls/min_version", "version", std::string("1.2"), std::nullopt}};
  const auto made = *Plan::make(suite, prompt, *ontology, settings);
  const auto unit = *made.render(0);
  EXPECT_EQ(unit.tasks[0].must_contain,
            (std::vector<ExpectedClaim>{{"tls/min_version", "value", std::string("1.0"), "why"}}));
  EXPECT_EQ(unit.tasks[0].must_not_contain,
            (std::vector<ExpectedClaim>{{"tls/min_version", "value", std::string("1.2"), std::nullopt}}));
  EXPECT_TRUE(std::ranges::equal(made.keys(), before.keys()));
}

}  // namespace
}  // namespace sluice
