#include "worker/scoring/score.hpp"

#include "common/defaults.hpp"

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

namespace sluice::score_test {

FinalClaim claim(std::string subject, ClaimValue value, double confidence = 0.9) {
  return {std::move(subject), "p", std::move(value), confidence, std::nullopt, true, false};
}
ExpectedClaim expected(std::string subject, ClaimValue value) {
  return {std::move(subject), "p", std::move(value), std::nullopt};
}

MetricOutcome outcome(const TrialScore& score, MetricId id) {
  for (const MetricOutcome& metric : score.metrics) {
    if (metric.id == id) return metric;
  }
  ADD_FAILURE() << "no metric " << info(id).name;
  return {};
}

TrialScore score_claims(const std::vector<FinalClaim>& claims, const ScoringTask& task) {
  return score_trial({"", claims, {}}, task, TextChecker()).value();
}

ScoringTask claims_task(TrialId trial, std::vector<ExpectedClaim> must_contain,
                        std::vector<ExpectedClaim> must_not_contain, double min_confidence) {
  return {trial, std::move(must_contain), std::move(must_not_contain), min_confidence, true, {}};
}

TEST(ScoreTrial, CountsAsDefined) {
  const auto task = claims_task(7, {expected("a/x", 1.0), expected("a/y", 2.0), expected("a/z", 3.0)},
                                {expected("a/w", 0.0)}, 0.5);
  const TrialScore score =
      score_claims({claim("a/x", 1.0), claim("a/y", 2.0), claim("a/w", 0.0), claim("a/v", 0.0)}, task);
  EXPECT_EQ(score.trial, 7u);
  EXPECT_DOUBLE_EQ(outcome(score, MetricId::claims_precision).score.value(), 2.0 / 4.0);
  EXPECT_DOUBLE_EQ(outcome(score, MetricId::claims_recall).score.value(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(outcome(score, MetricId::claims_f1).score.value(), 4.0 / 7.0);
  EXPECT_EQ(outcome(score, MetricId::claims_required).passed, false);
  EXPECT_EQ(outcome(score, MetricId::claims_forbidden).passed, false);
  EXPECT_EQ(score.metrics.size(), 5u) << "claims_absent only where nothing is expected";
}

TEST(ScoreTrial, PerfectAnswerPasses) {
  const TrialScore score =
      score_claims({claim("a/x", 1.0)}, claims_task(1, {expected("a/x", 1.0)}, {expected("a/x", 2.0)}, 0.5));
  EXPECT_EQ(outcome(score, MetricId::claims_precision),
            (MetricOutcome{MetricId::claims_precision, 1.0, std::nullopt, ""}));
  EXPECT_EQ(outcome(score, MetricId::claims_recall).score, 1.0);
  EXPECT_EQ(outcome(score, MetricId::claims_f1).score, 1.0);
  EXPECT_EQ(outcome(score, MetricId::claims_required).passed, true);
  EXPECT_EQ(outcome(score, MetricId::claims_forbidden).passed, true);
}

TEST(ScoreTrial, UndefinedIsNotZero) {
  const TrialScore silent = score_claims({}, claims_task(1, {expected("a/x", 1.0)}, {}, 0.5));
  EXPECT_FALSE(outcome(silent, MetricId::claims_precision).score);
  EXPECT_EQ(outcome(silent, MetricId::claims_recall).score, 0.0);
  EXPECT_EQ(outcome(silent, MetricId::claims_f1).score, 0.0);

  const TrialScore chatty = score_claims({claim("a/x", 1.0)}, claims_task(1, {}, {}, 0.5));
  EXPECT_EQ(outcome(chatty, MetricId::claims_precision).score, 0.0);
  EXPECT_FALSE(outcome(chatty, MetricId::claims_recall).score);
  EXPECT_EQ(outcome(chatty, MetricId::claims_f1).score, 0.0);
  EXPECT_EQ(outcome(chatty, MetricId::claims_absent).passed, false);

  const TrialScore both = score_claims({claim("a/x", 1.0, 0.4)}, claims_task(1, {}, {}, 0.5));
  EXPECT_FALSE(outcome(both, MetricId::claims_precision).score);
  EXPECT_FALSE(outcome(both, MetricId::claims_recall).score);
  EXPECT_FALSE(outcome(both, MetricId::claims_f1).score);
  EXPECT_EQ(outcome(both, MetricId::claims_required).passed, true);
  EXPECT_EQ(outcome(both, MetricId::claims_absent).passed, true) << "below the confidence is not extracted";
}

constexpr std::string_view ontology_text = R"(
version = "1"
[[subject]]
path = "tls/cert_verification"
synonyms = ["tls/verify"]
[[subject.predicate]]
name = "enabled"
type = "boolean"
)";

WorkUnit unit_with_tasks() {
  WorkUnit unit;
  unit.tasks.push_back(claims_task(3, {{"tls/cert_verification", "enabled", false, std::nullopt}}, {}, 0.8));
  unit.tasks.push_back(claims_task(4, {}, {}, 0.95));
  return unit;
}

Completion completion_of(std::string text) {
  Completion completion;
  completion.text = std::move(text);
  completion.finish_reason = "stop";
  completion.usage = {10, 5};
  return completion;
}

TEST(ScoreAnswer, ScoresTheFinalClaimsForEachTask) {
  const Ontology ontology = Ontology::parse(ontology_text, "ontology").value();
  const Completion completion = completion_of(
      R"({"claims":[{"subject":"tls/verify","predicate":"Enabled","value":"off","confidence":0.9,"line":2},
                    {"subject":"own/words","predicate":"p","value":1,"confidence":0.9}]})");
  UnitResult result;
  result.unit = 9;
  result.error = Error{Reason::rate_limited, "from before"};
  score_answer(completion, {ontology, TextChecker()}, unit_with_tasks(), {}, result);
  EXPECT_EQ(result.unit, 9u);
  EXPECT_EQ(result.usage, (Usage{10, 5}));
  EXPECT_FALSE(result.error);
  ASSERT_EQ(result.parsed.size(), 2u);
  EXPECT_EQ(result.parsed[0].subject, "tls/verify");
  EXPECT_EQ(result.claims, (std::vector<FinalClaim>{
                               {"tls/cert_verification", "enabled", std::string("off"), 0.9, 2, true, true},
                               {"own/words", "p", 1.0, 0.9, std::nullopt, false, false}}));
  ASSERT_EQ(result.scores.size(), 2u);
  EXPECT_EQ(result.scores[0].trial, 3u);
  EXPECT_EQ(outcome(result.scores[0], MetricId::claims_required).passed, true);
  EXPECT_EQ(outcome(result.scores[0], MetricId::claims_precision).score, 0.5);
  EXPECT_EQ(result.scores[1].trial, 4u);
  EXPECT_EQ(outcome(result.scores[1], MetricId::claims_absent).passed, true);
}

TEST(ScoreAnswer, MoreUnexpectedClaimsThanAMessageHoldsAreAnError) {
  const Ontology ontology = Ontology::parse(ontology_text, "ontology").value();
  const TextChecker checker;
  const Completion completion = completion_of(
      R"({"claims":[{"subject":"own/words","predicate":"p","value":1,"confidence":1},
                    {"subject":"own/words","predicate":"q","value":1,"confidence":1}]})");
  UnitResult result;
  score_answer(completion, {ontology, checker, 4}, unit_with_tasks(), {}, result);
  EXPECT_FALSE(result.error) << "2 for each of 2 tests";
  score_answer(completion, {ontology, checker, 3}, unit_with_tasks(), {}, result);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->reason, Reason::answer_too_large);
  EXPECT_TRUE(result.scores.empty());
}

TEST(ScoreAnswer, NonAnswersAndUnparsableOnesAreErrorsWithoutScores) {
  const Ontology ontology = Ontology::parse(ontology_text, "ontology").value();
  Completion cut = completion_of(R"({"claims":[]})");
  cut.non_answer = Error{Reason::truncated, "cut off"};
  const std::vector<std::pair<Completion, Reason>> cases = {
      {cut, Reason::truncated},
      {completion_of("sorry"), Reason::unparsable_answer},
      {completion_of(""), Reason::unparsable_answer}};
  for (const auto& [completion, reason] : cases) {
    UnitResult result;
    result.claims.push_back(claim("from/before", 1.0));
    result.scores.emplace_back();
    score_answer(completion, {ontology, TextChecker()}, unit_with_tasks(), {}, result);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->reason, reason);
    EXPECT_EQ(result.usage, (Usage{10, 5}));
    EXPECT_TRUE(result.parsed.empty());
    EXPECT_TRUE(result.claims.empty());
    EXPECT_TRUE(result.scores.empty());
  }
}

TEST(ScoreAnswer, AnAnswerThatIsTheErrorShowsItsBeginning) {
  const Ontology ontology = Ontology::parse(ontology_text, "ontology").value();
  const auto shown = [&](Completion completion) {
    UnitResult result;
    score_answer(completion, {ontology, TextChecker()}, unit_with_tasks(), {}, result);
    EXPECT_TRUE(result.error);
    return result.shown_text;
  };
  EXPECT_EQ(shown(completion_of("Sorry,\n\tI \x1b[31mcannot\x07 \u202edo\u2066 this.\n")),
            "Sorry, I [31mcannot do this.");
  EXPECT_EQ(shown(completion_of("\xff{")), "\ufffd{");
  EXPECT_EQ(shown(completion_of("")), "");
  const std::string lengthy = std::string(defaults::max_shown_bytes - 1, 'a') + "\u20ac and more";
  EXPECT_EQ(shown(completion_of(lengthy)), std::string(defaults::max_shown_bytes - 1, 'a'));
  Completion cut = completion_of("{\"claims\":[{");
  cut.non_answer = Error{Reason::truncated, "cut off"};
  EXPECT_EQ(shown(cut), "{\"claims\":[{");
}

ScoringTask text_task(TrialId trial, std::vector<TextExpectation> texts) {
  return {trial, {}, {}, 0.0, false, std::move(texts)};
}

SharedVector vector_of(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

class ScoreTexts : public testing::Test {
 protected:
  UnitResult score(const std::string& text, const WorkUnit& unit, const EmbeddedTexts& embedded = {}) {
    UnitResult result;
    result.shown_text = "from before";
    score_answer(completion_of(text), {ontology, assess}, unit, {embedded, {}}, result);
    return result;
  }

  Ontology ontology = Ontology::parse(ontology_text, "ontology").value();
  TextChecker assess;
};

TEST_F(ScoreTexts, WhatIsNotKnownOfTheAnswerConcernsTheTrialAloneThatAsksForIt) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::latency, {}, {100}}}),
                text_task(2, {{MetricId::must_contain, {"Paris"}}})};
  const auto result = score("It is Paris.", unit);
  ASSERT_FALSE(result.error) << result.error->message;
  ASSERT_EQ(result.scores.size(), 2u);
  EXPECT_TRUE(result.scores[0].metrics.front().is_undecided());
  EXPECT_EQ(result.scores[1].metrics.front().passed, true);
  unit.recorded = RecordedAnswer{"It is Paris.", "", {}};
  const auto recorded = score("It is Paris.", unit);
  ASSERT_EQ(recorded.scores.size(), 2u);
  EXPECT_NE(recorded.scores[0].metrics.front().detail.find("a recorded answer"), std::string::npos)
      << recorded.scores[0].metrics.front().detail;
}

Completion refusal_of(std::string text) {
  Completion refused = completion_of(std::move(text));
  refused.finish_reason = "stop";
  refused.non_answer = Error{Reason::refusal, "declined"};
  return refused;
}

// A refusal was the case's error whatever its test asked for.
TEST_F(ScoreTexts, ARefusalIsTheAnswerToTheTasksThatCheckForOneAndTheErrorOfOthers) {
  TextExpectation group{MetricId::any_of, {}, {1}};
  group.parts = {{MetricId::refusal}, {MetricId::must_contain, {"Paris"}}};
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::must_contain, {"cannot"}}}),
                text_task(2, {{MetricId::refusal}, {MetricId::must_contain, {"cannot"}}}),
                text_task(3, {{MetricId::not_refusal}}), text_task(4, {group})};
  UnitResult refused;
  score_answer(refusal_of("I cannot help."), {ontology, assess}, unit, {}, refused);
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->reason, Reason::refusal);
  EXPECT_EQ(refused.shown_text, "I cannot help.");
  ASSERT_EQ(refused.scores.size(), 3u);
  EXPECT_EQ(refused.score_of(1), nullptr);
  EXPECT_EQ(outcome(*refused.score_of(2), MetricId::refusal).passed, true);
  EXPECT_EQ(outcome(*refused.score_of(2), MetricId::must_contain).passed, true) << "of its text";
  EXPECT_EQ(outcome(*refused.score_of(3), MetricId::not_refusal).passed, false);
  EXPECT_EQ(outcome(*refused.score_of(4), MetricId::any_of).passed, true);

  UnitResult silent;
  score_answer(refusal_of(""), {ontology, assess}, unit, {}, silent);
  EXPECT_TRUE(silent.error);
  EXPECT_TRUE(silent.scores.empty()) << "an answer without any text is no refusal";

  const UnitResult given = score("I cannot help.", unit);
  EXPECT_FALSE(given.error);
  ASSERT_EQ(given.scores.size(), 4u);
  EXPECT_EQ(outcome(given.scores[1], MetricId::refusal).passed, false) << "words of one do not count";
  EXPECT_EQ(outcome(given.scores[2], MetricId::not_refusal).passed, true);
}

// An empty answer was the case's error even where the test said that it should be empty.
TEST_F(ScoreTexts, AnEmptyAnswerIsTheAnswerToTheTasksThatExpectOneAndTheErrorOfOthers) {
  TextExpectation group{MetricId::any_of, {}, {1}};
  group.parts = {{MetricId::exact_match, {" \n"}}, {MetricId::must_contain, {"Paris"}}};
  TextExpectation other_than{MetricId::not_all_of, {}, {1}};
  other_than.parts = {{MetricId::exact_match, {""}}};
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::must_not_contain, {"Paris"}}}),
                text_task(2, {{MetricId::exact_match, {"none", ""}}, {MetricId::must_contain, {"x"}}}),
                text_task(3, {{MetricId::not_exact_match, {""}}}),
                text_task(4, {group}),
                text_task(5, {other_than}),
                text_task(6, {{MetricId::refusal}})};
  UnitResult silent;
  score_answer(refusal_of(""), {ontology, assess}, unit, {}, silent);
  ASSERT_TRUE(silent.error);
  EXPECT_EQ(silent.error->reason, Reason::refusal);
  ASSERT_EQ(silent.scores.size(), 2u);
  ASSERT_NE(silent.score_of(2), nullptr);
  EXPECT_EQ(outcome(*silent.score_of(2), MetricId::exact_match).passed, true);
  EXPECT_EQ(outcome(*silent.score_of(2), MetricId::must_contain).passed, false) << "of the empty text";
  ASSERT_NE(silent.score_of(4), nullptr);
  EXPECT_EQ(outcome(*silent.score_of(4), MetricId::any_of).passed, true);

  for (const char* finish : {"", "length", "content_filter", "tool_calls", "OTHER"}) {
    Completion other = refusal_of("");
    other.finish_reason = finish;
    unit.tasks.resize(5);
    UnitResult out;
    score_answer(other, {ontology, assess}, unit, {}, out);
    EXPECT_TRUE(out.error);
    EXPECT_TRUE(out.scores.empty()) << "it did not end as answers do: " << finish;
  }
}

TEST(TakenNonAnswers, AreThoseThatEachTaskOfAUnitTakes) {
  const TextExpectation refused{MetricId::refusal};
  const TextExpectation silent{MetricId::exact_match, {""}};
  const auto taken = [](std::vector<ScoringTask> tasks) {
    WorkUnit unit;
    unit.tasks = std::move(tasks);
    const TakenNonAnswers all = taken_by_all(unit);
    return std::pair(all.refusals, all.empty_answers);
  };
  EXPECT_EQ(taken({}), std::pair(false, false));
  EXPECT_EQ(taken({text_task(1, {refused})}), std::pair(true, false));
  EXPECT_EQ(taken({text_task(1, {silent})}), std::pair(false, true));
  EXPECT_EQ(taken({text_task(1, {refused}), text_task(2, {silent})}), std::pair(false, false));
  EXPECT_EQ(taken({text_task(1, {silent, refused}), text_task(2, {silent})}), std::pair(false, true));
  EXPECT_EQ(taken({text_task(1, {silent}), text_task(2, {{MetricId::must_contain, {"x"}}})}),
            std::pair(false, false));
}

// A judge's calls made a recorded answer pass: it had come in 0 ms.
TEST_F(ScoreTexts, CallsForVotesAreNoLatencyOfTheAnswer) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::latency, {}, {100}}})};
  UnitResult out;
  out.spend.calls = 3;
  score_answer(completion_of("It is Paris."), {ontology, assess}, unit, {}, out);
  ASSERT_EQ(out.scores.size(), 1u);
  EXPECT_TRUE(out.scores[0].metrics.front().is_undecided());
  Completion measured = completion_of("It is Paris.");
  measured.latency_ms = 99;
  score_answer(measured, {ontology, assess}, unit, {}, out);
  EXPECT_EQ(out.scores[0].metrics.front().passed, true);
}

TEST_F(ScoreTexts, ATextAnswerIsNeverReadAsClaims) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::must_contain, {"Paris"}}, {MetricId::exact_match, {"Rome"}}})};
  const auto result = score("It is Paris.", unit);
  ASSERT_FALSE(result.error) << result.error->message;
  EXPECT_TRUE(result.claims.empty());
  ASSERT_EQ(result.scores.size(), 1u);
  ASSERT_EQ(result.scores[0].metrics.size(), 2u) << "no claims metrics";
  EXPECT_EQ(result.scores[0].metrics[0], (MetricOutcome{MetricId::must_contain, std::nullopt, true, ""}));
  EXPECT_EQ(result.scores[0].metrics[1].id, MetricId::exact_match);
  EXPECT_EQ(result.scores[0].metrics[1].passed, false);
  EXPECT_EQ(result.shown_text, "It is Paris.");
}

TEST_F(ScoreTexts, FollowTheClaimsMetricsInTheirOrder) {
  WorkUnit unit = unit_with_tasks();
  unit.tasks[0].texts = {{MetricId::json_schema, {R"({"required":["claims"]})"}},
                         {MetricId::must_not_contain, {"claims"}}};
  const auto result = score(R"({"claims":[]})", unit);
  ASSERT_EQ(result.scores.size(), 2u);
  std::vector<MetricId> ids;
  for (const auto& metric : result.scores[0].metrics) ids.push_back(metric.id);
  EXPECT_EQ(ids, (std::vector{MetricId::claims_precision, MetricId::claims_recall, MetricId::claims_f1,
                              MetricId::claims_required, MetricId::claims_forbidden, MetricId::json_schema,
                              MetricId::must_not_contain}));
  EXPECT_EQ(result.scores[1].metrics.back().id, MetricId::claims_absent);
  EXPECT_EQ(result.shown_text, R"({"claims":[]})");
}

TEST_F(ScoreTexts, OnlyTheBeginningOfALongAnswerIsShown) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::must_contain, {"x"}}})};
  const auto result = score(std::string(defaults::max_shown_bytes - 1, 'a') + "\u20ac and more", unit);
  EXPECT_EQ(result.shown_text, std::string(defaults::max_shown_bytes - 1, 'a'));
}

TEST_F(ScoreTexts, NothingIsShownWhereOnlyClaimsAreAssessed) {
  EXPECT_EQ(score(R"({"claims":[]})", unit_with_tasks()).shown_text, "");
}

TEST_F(ScoreTexts, WhatCannotBeAssessedMakesTheUnitAnErrorWithoutScores) {
  for (const TextExpectation& wrong : {TextExpectation{MetricId::regex_match, {"(unclosed"}},
                                       TextExpectation{MetricId::json_schema, {"{"}}}) {
    WorkUnit unit;
    unit.tasks = {text_task(1, {{MetricId::must_contain, {"x"}}}), text_task(2, {wrong})};
    const auto result = score("x", unit);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->reason, Reason::fixture_invalid);
    EXPECT_TRUE(result.scores.empty());
    EXPECT_EQ(result.shown_text, "");
  }
}

TEST_F(ScoreTexts, SimilarityIsThatOfTheBestReference) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::semantic_similarity_to, {"far", "near"}}})};
  const EmbeddedTexts embedded{
      {"answer", vector_of({1, 0})}, {"far", vector_of({0, 1})}, {"near", vector_of({1, 1})}};
  const auto result = score("answer", unit, embedded);
  ASSERT_FALSE(result.error) << result.error->message;
  EXPECT_EQ(result.scores[0].metrics.at(0).score, 0.707107) << "the root of a half, in six decimals";
  EXPECT_EQ(result.scores[0].metrics[0].passed, std::nullopt)
      << "a scored metric does not pass or fail by itself";
}

TEST_F(ScoreTexts, AMissingEmbeddingIsAnErrorAndNotAScoreOfZero) {
  WorkUnit unit;
  unit.tasks = {text_task(1, {{MetricId::semantic_similarity_to, {"reference"}}})};
  EXPECT_EQ(score("answer", unit).error.value().reason, Reason::internal_error);
  const EmbeddedTexts two_models{{"answer", vector_of({1, 0})}, {"reference", vector_of({1})}};
  EXPECT_EQ(score("answer", unit, two_models).error.value().reason, Reason::embedding_count_wrong);
}

}  // namespace sluice::score_test
