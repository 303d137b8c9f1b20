#include "worker/units/unit_result.hpp"

#include "common/defaults.hpp"
#include "common/model/embedding.hpp"
#include "worker/providers/formats.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace unit_result_test {

WorkUnit unit() {
  WorkUnit work;
  work.unit = 4;
  work.key = sha256("unit 4");
  work.tasks = {{8, {}, {}, 0.0, true, {}}, {9, {{"a/b", "p", true, std::nullopt}}, {}, 0.0, true, {}}};
  return work;
}

TEST(UnitResult, AnAnswerIsScoredForEachTrial) {
  const Spend spend{2, 1, 0, false, {10, 5}, 40};
  Completion completion;
  completion.text = R"({"claims":[]})";
  completion.usage = {10, 5};
  const auto result = unit_result(unit(), {Ontology(), TextChecker()}, completion, {}, spend);
  EXPECT_EQ(result.unit, 4u);
  EXPECT_EQ(result.key, unit().key);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.answer, answer_digest(completion));
  EXPECT_EQ(result.usage, (Usage{10, 5}));
  EXPECT_EQ(result.spend, spend);
  ASSERT_EQ(result.scores.size(), 2u);
  EXPECT_EQ(result.scores[0].trial, 8u);
  EXPECT_EQ(result.scores[1].trial, 9u);
  EXPECT_EQ(result.scores[1].claims.missing, std::vector<std::uint32_t>{0});
}

TEST(UnitResult, AnErrorIsAResultWithoutScores) {
  const Spend spend{1, 0, 1, false, {}, 7};
  const auto result =
      unit_result(unit(), {Ontology(), TextChecker()}, Error{Reason::request_refused, "no"}, {}, spend);
  EXPECT_EQ(result.unit, 4u);
  EXPECT_EQ(result.key, unit().key);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->reason, Reason::request_refused);
  EXPECT_EQ(result.spend, spend);
  EXPECT_TRUE(result.scores.empty());
  EXPECT_TRUE(is_zero(result.answer));
}

TEST(UnitResult, AKeyThatACacheHoldsGoesNoFurther) {
  const KeyMask keys(std::string_view("sk-secret-1234"));
  Completion stored;
  stored.text = R"({"claims":[{"subject":"a/b","predicate":"p","value":"SK-Secret-1234","confidence":1}]})";
  const auto result =
      unit_result(unit(), {Ontology(), TextChecker()}, stored, {}, {},
                  {std::vector<ParsedClaim>{{"a/b", "p", std::string("SK-Secret-1234"), 1.0, {}}}}, {keys});
  EXPECT_EQ(result.answer, answer_digest(stored)) << "it is known by what the cache holds";
  ASSERT_EQ(result.claims.size(), 1u);
  EXPECT_EQ(result.claims[0].value, ClaimValue(std::string("[key]")));
  EXPECT_EQ(result.parsed[0].value, ClaimValue(std::string("[key]")));

  Completion refused;
  refused.text = "no: sk-secret-1234";
  refused.non_answer = Error{Reason::refusal, "declined: sk-secret-1234"};
  const auto refusal = unit_result(unit(), {Ontology(), TextChecker()}, refused, {}, {}, {}, {keys});
  EXPECT_EQ(refusal.error, (Error{Reason::refusal, "declined: [key]"}));
  EXPECT_EQ(refusal.shown_text, "no: [key]");
}

Disclosure redacting(bool whole_text = false) {
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  return {{}, *Redactor::make(patterns), whole_text};
}

std::string claims_of(const std::string& value) {
  return R"({"claims":[{"subject":"a/b","predicate":"p","value":")" + value + R"(","confidence":1}]})";
}

WorkUnit mail_unit() {
  WorkUnit work;
  work.tasks = {{1, {{"a/b", "p", std::string("jane@home.io"), std::nullopt}}, {}, 0.0, true, {}}};
  return work;
}

TEST(Redaction, ChangesWhatIsShownAndNoScore) {
  Completion answer;
  answer.text = claims_of("jane@home.io");
  const auto plain = unit_result(mail_unit(), {Ontology(), TextChecker()}, answer, {}, {});
  const auto shown =
      unit_result(mail_unit(), {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting(true));
  ASSERT_EQ(shown.claims.size(), 1u);
  EXPECT_EQ(shown.claims[0].value, ClaimValue(std::string("[redacted mail]")));
  EXPECT_EQ(shown.parsed[0].value, ClaimValue(std::string("[redacted mail]")));
  EXPECT_EQ(shown.scores, plain.scores) << "it was found as it is";
  EXPECT_EQ(shown.scores[0].claims.matched.size(), 1u);
  EXPECT_EQ(shown.answer, plain.answer);
  EXPECT_EQ(shown.key, plain.key);
  ASSERT_TRUE(shown.observed);
  EXPECT_EQ(shown.observed->text, claims_of("[redacted mail]"));
  EXPECT_FALSE(plain.observed) << "only where observations are saved";
}

TEST(Redaction, ClaimsThatLookAlikeNowKeepTheirIdentities) {
  const auto identity = [](const std::string& value) {
    Completion answer;
    answer.text = claims_of(value);
    return unit_result(mail_unit(), {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting())
        .claims_identity;
  };
  EXPECT_NE(identity("jane@home.io"), identity("john@home.io"));
  EXPECT_EQ(identity("jane@home.io"), identity("jane@home.io"));
  EXPECT_TRUE(is_zero(identity("nobody")));
}

TEST(Redaction, ComesBeforeWhatIsShownIsCutShort) {
  Completion answer;
  answer.text = std::string(defaults::max_shown_bytes - 6, 'x') + " jane@home.io";
  WorkUnit work;
  work.tasks = {
      {1, {}, {}, 0.0, false, {{MetricId::must_contain, {"jane@home.io"}}, {MetricId::exact_match, {"x"}}}}};
  const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting());
  EXPECT_EQ(shown.shown_text.find("jane"), std::string::npos) << shown.shown_text;
  ASSERT_EQ(shown.scores.size(), 1u);
  EXPECT_EQ(shown.scores[0].metrics[0].passed, true) << "the answer contains it";
  EXPECT_EQ(shown.scores[0].metrics[1].passed, false);
  for (const auto& metric : shown.scores[0].metrics)
    EXPECT_EQ(metric.detail.find("jane"), std::string::npos) << metric.detail;
}

TEST(Redaction, HoldsForDetailsThatQuoteAnAnswerInPart) {
  Completion answer;
  answer.text = "write to jane@home.io";
  WorkUnit work;
  work.tasks = {{1,
                 {},
                 {},
                 0.0,
                 false,
                 {{MetricId::exact_match, {"write to jane@work.io"}},
                  {MetricId::must_not_contain, {"jane@home.io"}},
                  {MetricId::regex_not_match, {"jane@home"}}}}};
  const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting());
  ASSERT_EQ(shown.scores.size(), 1u);
  for (const auto& metric : shown.scores[0].metrics) {
    EXPECT_EQ(metric.passed, false);
    EXPECT_FALSE(metric.detail.empty());
    EXPECT_EQ(metric.detail.find("home.io"), std::string::npos) << metric.detail;
  }
}

// A check for leaked mail addresses quoted the one that it found, cut short.
TEST(Redaction, NoDetailQuotesAPartOfWhatIsRedacted) {
  Completion answer;
  answer.text = "write to " + std::string(70, 'j') + "@home.io";
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::regex_not_match, {"j+"}}}}};
  const auto plain = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {});
  ASSERT_NE(plain.scores[0].metrics[0].detail.find("jjj"), std::string::npos);
  const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting());
  EXPECT_EQ(shown.scores[0].metrics[0].passed, false);
  EXPECT_EQ(shown.scores[0].metrics[0].detail, "it is about what is redacted");
}

// What a test expects was cut first, and half of a secret fits no pattern.
TEST(Redaction, NoDetailQuotesAPartOfASecretThatIsExpected) {
  const std::vector<RedactionPattern> patterns{{"key", "sk-[0-9]{20}"}};
  const Disclosure disclosure{{}, *Redactor::make(patterns)};
  const std::string secret = "sk-01234567890123456789";
  Completion answer;
  answer.text = "so sk-0123";
  for (std::size_t before = 0; before <= defaults::max_quoted_bytes; before += 5) {
    const std::string expected = std::string(before, 'x') + secret + std::string(40, 'y');
    WorkUnit work;
    work.tasks = {{1, {}, {}, 0.0, false, {}}};
    work.tasks[0].texts = {{MetricId::must_contain, {expected}},
                           {MetricId::must_contain, std::vector<std::string>(20, secret)},
                           {MetricId::exact_match, {"so " + secret}},
                           {MetricId::any_of, {}, {}, 1.0, {{MetricId::exact_match, {"so " + secret}}}}};
    const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, disclosure);
    ASSERT_EQ(shown.scores.size(), 1u);
    for (const auto& metric : shown.scores[0].metrics) {
      EXPECT_EQ(metric.passed, false);
      EXPECT_FALSE(metric.detail.empty());
      EXPECT_EQ(metric.detail.find("345"), std::string::npos) << metric.detail;
      EXPECT_EQ(metric.detail.find("sk-"), std::string::npos) << metric.detail;
    }
  }
}

TEST(Redaction, HoldsForEachWordOfAnObservedAnswer) {
  Completion answer;
  answer.text = "hello";
  answer.finish_reason = "stop, jane@home.io";
  answer.served_model = "model of jane@home.io";
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::must_contain, {"hello"}}}}};
  const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting(true));
  ASSERT_TRUE(shown.observed);
  EXPECT_EQ(shown.observed->finish_reason, "stop, [redacted mail]");
  EXPECT_EQ(shown.observed->served_model, "model of [redacted mail]");
}

// What it quotes of arguments may be a part of what is redacted.
TEST(Redaction, HoldsForCallsThatAreHeldAgainstTheRequestsTools) {
  Completion answer;
  answer.text = R"({"tool_call":{"name":"mail","arguments":{"to":"jane@home.io"}}})";
  answer.calls = {{"", "mail", R"({"to":"jane@home.io"})"}};
  WorkUnit work;
  work.request.extras.tools = {{"mail", "", R"({"required":["text"]})"}};
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::tool_calls_valid, {}}}}};
  const auto plain = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {});
  EXPECT_EQ(plain.scores[0].metrics[0].detail.find("the call \"mail {"), 0u)
      << plain.scores[0].metrics[0].detail;
  const auto shown = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, redacting());
  EXPECT_EQ(shown.scores[0].metrics[0].detail, "it is about what is redacted");
}

TEST(Redaction, HoldsForRecordedJudgements) {
  Completion answer;
  answer.text = "hello";
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {}, {{MetricId::faithfulness, 0, 1, 0.5, "", ""}}, {"q", ""}}};
  work.tasks[0].judged[0].recorded = JudgeScore{
      MetricId::faithfulness, JudgeSource::trace, {{0.0, false}}, "jane@home.io said sk-secret-1234"};
  Disclosure disclosure = redacting();
  disclosure.keys = KeyMask(std::string_view("sk-secret-1234"));
  const auto result = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, disclosure);
  ASSERT_EQ(result.scores.size(), 1u);
  EXPECT_EQ(result.scores[0].judged[0].rationale, "[redacted mail] said [key]");
  EXPECT_EQ(result.scores[0].metrics[0].detail, "[redacted mail] said [key]");
}

TEST(UnitResult, HasTheAnswersEmbeddingWhereTheRunReturnsThem) {
  Completion answer;
  answer.text = "hello";
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::semantic_similarity_to, {"hello"}}}}};
  Evidence evidence;
  evidence.embedded = {{"hello", std::make_shared<const std::vector<float>>(std::vector{1.0f, 0.5f})}};
  Disclosure disclosure;
  disclosure.embedding = true;
  const auto result = unit_result(work, {Ontology(), TextChecker()}, answer, evidence, {}, {}, disclosure);
  EXPECT_EQ(unpack_embedding(result.embedding), (std::vector{1.0f, 0.5f}));
  EXPECT_EQ(unit_result(work, {Ontology(), TextChecker()}, answer, evidence, {}).embedding, "");
  const auto without = unit_result(work, {Ontology(), TextChecker()}, answer, {}, {}, {}, disclosure);
  ASSERT_TRUE(without.error);
  EXPECT_EQ(without.error->reason, Reason::internal_error);
}

TEST(Redaction, HoldsForVotesAndErrors) {
  Completion answer;
  answer.text = "hello";
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {}, {{MetricId::faithfulness, 0, 1, 0.5, "", ""}}, {"q", ""}}};
  Evidence evidence;
  evidence.votes = {
      {{{{0.0, std::string(defaults::max_detail_bytes - 5, 'x') + " jane@home.io"}}, JudgeSource::judge}}};
  const auto judged = unit_result(work, {Ontology(), TextChecker()}, answer, evidence, {}, {}, redacting());
  ASSERT_EQ(judged.scores.size(), 1u);
  EXPECT_EQ(judged.scores[0].judged[0].rationale.find("jane"), std::string::npos);
  EXPECT_EQ(judged.scores[0].metrics[0].detail.find("jane"), std::string::npos);
  const auto failed =
      unit_result(work, {Ontology(), TextChecker()}, Error{Reason::request_refused, "no jane@home.io here"},
                  {}, {}, {}, redacting());
  EXPECT_EQ(failed.error->message, "no [redacted mail] here");
  Completion refused;
  refused.text = "not to jane@home.io";
  refused.non_answer = Error{Reason::refusal, "declined: jane@home.io"};
  const auto refusal = unit_result(work, {Ontology(), TextChecker()}, refused, {}, {}, {}, redacting(true));
  EXPECT_EQ(refusal.error->message, "declined: [redacted mail]");
  EXPECT_EQ(refusal.shown_text, "not to [redacted mail]");
  EXPECT_EQ(refusal.observed->text, "not to [redacted mail]");
}

TEST(Redaction, OfARefusalComesBeforeItsQuoteIsCut) {
  for (std::size_t before = 280; before < 300; ++before) {
    Completion refused;
    refused.finish_reason = "refusal";
    refused.text = std::string(before, 'x') + " jane@home.io" + std::string(100, 'y');
    refused.non_answer = declined("refusal", refused.text);
    const auto result =
        unit_result(mail_unit(), {Ontology(), TextChecker()}, refused, {}, {}, {}, redacting());
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->reason, Reason::refusal);
    EXPECT_EQ(result.error->message.find("jane"), std::string::npos) << result.error->message;
    EXPECT_NE(result.error->message.find("xxx"), std::string::npos);
  }
  const KeyMask keys(std::string_view("gateway-key-0123456789abcdef"));
  for (std::size_t before = 270; before < 300; ++before) {
    Completion refused;
    refused.finish_reason = "refusal";
    refused.text = std::string(before, 'x') + " gateway-key-0123456789abcdef" + std::string(100, 'y');
    refused.non_answer = declined("refusal", refused.text);
    const auto result = unit_result(mail_unit(), {Ontology(), TextChecker()}, refused, {}, {}, {}, {keys});
    EXPECT_EQ(result.error->message.find("gateway"), std::string::npos) << result.error->message;
  }
  // Of words that are not the answer's the rest is not known.
  Completion blocked;
  blocked.finish_reason = "SAFETY";
  blocked.non_answer = declined("SAFETY", std::string(290, 'x') + " jane@home.io" + std::string(100, 'y'));
  const auto result = unit_result(mail_unit(), {Ontology(), TextChecker()}, blocked, {}, {}, {}, redacting());
  EXPECT_EQ(result.error->message, "the model or its content filter declined to answer (SAFETY)");
}

TEST(Redaction, OfARefusalIsThatOfTheTasksThatTakeIt) {
  Completion refused;
  refused.finish_reason = "refusal";
  refused.text = "not to jane@home.io";
  refused.non_answer = declined("refusal", refused.text);
  const auto task = [](TrialId trial, std::vector<TextExpectation> texts) {
    return ScoringTask{trial, {}, {}, 0.0, false, std::move(texts)};
  };
  WorkUnit work;
  work.tasks = {task(1, {{MetricId::must_contain, {"x"}}}),
                task(2, {{MetricId::not_refusal}, {MetricId::regex_not_match, {"[a-z@]+io|not"}}})};
  const auto result = unit_result(work, {Ontology(), TextChecker()}, refused, {}, {}, {}, redacting(true));
  ASSERT_EQ(result.scores.size(), 1u);
  const TrialScore& score = result.scores[0];
  EXPECT_EQ(score.trial, 2u);
  EXPECT_EQ(score.metrics[0].detail, "it must not pass refusal");
  EXPECT_EQ(score.metrics[1].detail.find("jane"), std::string::npos) << score.metrics[1].detail;
  EXPECT_EQ(result.shown_text, "not to [redacted mail]");
  EXPECT_EQ(result.observed->text, "not to [redacted mail]");
}

// A judge that was down took its pass from a test that has none.
TEST(PartBesideError, IsOfARefusalTheTasksThatNeedNothingElse) {
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::refusal}}},
                {2, {}, {}, 0.0, false, {{MetricId::refusal}}}};
  work.tasks[1].judged.resize(1);
  Completion refused;
  refused.finish_reason = "content_filter";
  refused.non_answer = declined("content_filter");
  const Error no_vote{Reason::judge_unparsable, "no vote for jane@home.io"};
  const auto part = part_beside_error(work, no_vote, refused);
  ASSERT_TRUE(part);
  const auto result = refused_result(*part, {Ontology(), TextChecker()}, no_vote, refused, {}, redacting());
  ASSERT_EQ(result.scores.size(), 1u);
  EXPECT_EQ(result.scores[0].trial, 1u);
  EXPECT_EQ(result.scores[0].metrics[0].passed, true);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->reason, Reason::refusal);
  EXPECT_NE(result.error->message.find("no vote for [redacted mail]"), std::string::npos)
      << result.error->message;
  EXPECT_EQ(result.answer, answer_digest(refused));

  EXPECT_FALSE(part_beside_error(work, {Reason::provider_unreachable, "no judge"}, refused));
  EXPECT_FALSE(part_beside_error(work, no_vote, {"an answer", "stop", "m", {}, 0, {}}));
  work.tasks.erase(work.tasks.begin());
  EXPECT_FALSE(part_beside_error(work, no_vote, refused)) << "its test has no result without the judge";
}

TEST(PartThatAssesses, IsOfARefusalTheTasksThatTakeIt) {
  WorkUnit work;
  work.tasks = {{1, {}, {}, 0.0, false, {{MetricId::must_contain, {"x"}}}},
                {2, {}, {}, 0.0, false, {{MetricId::refusal}}}};
  const auto unit = std::make_shared<const WorkUnit>(work);
  Completion answer;
  EXPECT_EQ(part_that_assesses(answer, unit), unit);
  answer.non_answer = Error{Reason::truncated, "cut off"};
  EXPECT_EQ(part_that_assesses(answer, unit), nullptr);
  answer.finish_reason = "content_filter";
  answer.non_answer = declined("content_filter");
  const auto part = part_that_assesses(answer, unit);
  ASSERT_NE(part, nullptr);
  ASSERT_EQ(part->tasks.size(), 1u);
  EXPECT_EQ(part->tasks[0].trial, 2u);
  work.tasks.pop_back();
  EXPECT_EQ(part_that_assesses(answer, std::make_shared<const WorkUnit>(work)), nullptr);
  work.tasks = {part->tasks[0]};
  const auto whole = std::make_shared<const WorkUnit>(work);
  EXPECT_EQ(part_that_assesses(answer, whole), whole);
  Completion empty;
  empty.finish_reason = "stop";
  empty.non_answer = without_text("stop");
  EXPECT_EQ(part_that_assesses(empty, whole), nullptr) << "it is no refusal";
  work.tasks[0].texts = {{MetricId::exact_match, {""}}};
  EXPECT_EQ(part_that_assesses(answer, std::make_shared<const WorkUnit>(work)), nullptr);
  EXPECT_NE(part_that_assesses(empty, std::make_shared<const WorkUnit>(work)), nullptr);
}

}  // namespace unit_result_test
}  // namespace sluice
