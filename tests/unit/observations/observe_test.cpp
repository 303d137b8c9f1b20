#include "coordinator/observations/observe.hpp"

#include "coordinator/display/display.hpp"
#include "coordinator/observations/observation_text.hpp"
#include "tests/support/nested_json.hpp"
#include "tests/unit/plan/plan_fixture.hpp"

#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::observe_test {

constexpr std::int64_t now_ms = 1'772'000'000'123;

class ObserveTest : public PlanTest {
 protected:
  std::vector<Observation> observed(const UnitResult& result,
                                    ObservedRun run = {"run-1", "1.2.0", "sha256:p", {}}) {
    ObservationMaker maker(std::make_shared<const Plan>(plan()), std::move(run));
    std::vector<Observation> made;
    const auto added = maker.make(result, now_ms, [&](Observation one) { made.push_back(std::move(one)); });
    EXPECT_TRUE(added) << added.error().message;
    return made;
  }
  /// Of unit 0, which answers the cases a and c.
  static UnitResult scored() {
    UnitResult result;
    result.unit = 0;
    result.key = sha256("key");
    result.usage = {120, 30};
    result.parsed = {{"TLS", "enabled", false, 0.75, 3}};
    result.claims = {{"tls/cert", "enabled", false, 0.75, 3, true, true}};
    result.scores = {{0, {{MetricId::claims_recall, 0.5, std::nullopt, ""}}, {}},
                     {2, {{MetricId::claims_required, std::nullopt, false, "it is missing"}}, {}}};
    result.spend = {2, 1, 1, false, {{120, 30}}, 250, 10, 20, 30};
    result.observed = ObservedAnswer{"{\"claims\": []}", "stop", "m-2026", 1'771'999'999'000};
    return result;
  }
};

TEST_F(ObserveTest, OneForEachTrialWithWhatWasSentAndWhatCame) {
  ObservedRun run{"run-1", "1.2.0", "sha256:p", {}};
  run.price = [](const PaidByArm& paid) { return static_cast<double>(paid.total().total()) / 1000.0; };
  const auto made = observed(scored(), run);
  ASSERT_EQ(made.size(), 2u);
  const Observation& one = made[0];
  EXPECT_EQ(one.timestamp, "2026-02-25T06:13:20.123Z");
  EXPECT_EQ(one.prompt_version, "1.2.0");
  EXPECT_EQ(one.prompt_hash, "sha256:p");
  EXPECT_EQ(one.model, "m");
  EXPECT_EQ(one.prompt, "python: one");
  EXPECT_EQ(one.content_length, 11u);
  EXPECT_EQ(one.input_hash, to_prefixed_hex(sha256("python: one")));
  EXPECT_EQ(*one.system_prompt, render_system(prompt, Ontology()));
  EXPECT_EQ(one.language, "python");
  EXPECT_EQ(one.raw_response, "{\"claims\": []}");
  EXPECT_EQ(one.parsed_claims.text,
            R"([{"subject": "TLS", "predicate": "enabled", "value": false, "confidence": 0.75, "line": 3}])");
  EXPECT_EQ(one.final_claims.text,
            R"([{"concept_path": "tls/cert", "predicate": "enabled", "value": false, "confidence": 0.75, )"
            R"("line": 3, "matched_ontology": true, "fuzzy_matched": true}])");
  EXPECT_EQ(one.input_tokens, 120u);
  EXPECT_EQ(one.output_tokens, 30u);
  EXPECT_TRUE(one.parse_success);
  EXPECT_FALSE(one.parse_error);
  EXPECT_FALSE(one.cache_hit);
  EXPECT_EQ(one.latency_ms, 250u);
  EXPECT_EQ(one.answered_at, "2026-02-25T06:13:19.000Z");
  EXPECT_EQ(one.case_id, "a");
  EXPECT_EQ(one.key, to_hex(sha256("key")));
  EXPECT_EQ(one.status, "pass");
  EXPECT_EQ(made[1].case_id, "c");
  EXPECT_EQ(made[1].trial, 2u);
  EXPECT_EQ(made[1].status, "fail");
  EXPECT_NE(made[1].metrics.text.find(R"("passed": false, "detail": "it is missing")"), std::string::npos)
      << made[1].metrics.text;
  EXPECT_EQ(one.calls, 2u);
  EXPECT_EQ(one.waited_ms, 60u);
  EXPECT_EQ(one.paid_tokens, 150u);
  EXPECT_EQ(one.cost, 0.15);
  EXPECT_EQ(made[1].calls, 0u) << "the sum over a run is right";
  EXPECT_EQ(made[1].cost, 0.0);
}

TEST_F(ObserveTest, ARefusalIsTheErrorOfTheTrialsWithoutAScore) {
  UnitResult refused = scored();
  refused.scores.erase(refused.scores.begin());
  refused.error = Error{Reason::refusal, "declined"};
  const auto made = observed(refused);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].status, "error");
  EXPECT_EQ(made[0].reason_code, "refusal");
  EXPECT_FALSE(made[0].parse_success);
  EXPECT_EQ(made[1].status, "fail");
  EXPECT_FALSE(made[1].reason_code);
  EXPECT_FALSE(made[1].error);
  EXPECT_TRUE(made[1].parse_success);
}

// `sluice show` said "icontains passed", and not of which text.
TEST_F(ObserveTest, MetricsSayWhatTheTestExpects) {
  Case one = make_case("a", "one");
  one.kind = CaseKind::text;
  for (const char* text : {"Paris", "Lima"})
    one.expectations.push_back({.what = {MetricId::icontains, {text}}, .thresholding = {}, .min_score = {}});
  suite.cases = {one};
  UnitResult result;
  const MetricOutcome passed{MetricId::icontains, std::nullopt, true, ""};
  result.scores = {{0, {passed, passed}, {}}};
  const std::string text = observed(result)[0].metrics.text;
  const auto first = text.find(R"("expected": "icontains \"Paris\"")");
  const auto second = text.find(R"("expected": "icontains \"Lima\"")");
  EXPECT_LT(first, second) << text;
  EXPECT_NE(second, std::string::npos) << text;
}

// `sluice show` said "rubric:tone passed", and not what the judge had been asked.
TEST_F(ObserveTest, MetricsSayWhatTheJudgeWasAsked) {
  Case one = text_case("a", "one");
  suite.rubrics = {{"rubric", "v1", "", "{{criteria}}"}, {"tone", "v2", "", "{{criteria}} {{reference}}"}};
  const auto ask = [&](JudgeQuestion question, std::string name) {
    one.expectations.push_back(
        {.what = {MetricId::rubric}, .thresholding = {}, .min_score = {}, .judge = question, .name = name});
  };
  ask({.rubric = 0, .criteria = "It answers."}, "");
  // Cut where the mail stands, of which a half fits no pattern.
  const std::string until_the_cut = "It is kind" + std::string(380, '.');
  ask({.rubric = 1, .reference = "Dear all", .criteria = until_the_cut + " to jane and joe@home.io"}, "tone");
  suite.cases = {one};
  UnitResult result;
  const MetricOutcome passed{MetricId::rubric, 0.75, true, ""};
  const JudgeScore judged{MetricId::rubric, JudgeSource::judge, {{0.75, true}}, "It is."};
  result.scores = {{0, {passed, passed}, {}, {judged, judged}}};
  ObservedRun run{"run-1", "1", "", {}};
  const std::vector<RedactionPattern> patterns{{"mails", "[a-z]+ and [a-z]+@[a-z]+\\.io"}};
  run.redactor = *Redactor::make(patterns);
  const std::string page = observation_page(observed(result, run)[0]);
  EXPECT_NE(page.find("\n  rubric v1 \"It answers.\" passed 0.75\n    votes: 0.75 passed (judge)\n"),
            std::string::npos)
      << page;
  EXPECT_NE(
      page.find("\n  rubric:tone (tone v2) \"" + until_the_cut + " to...\", reference \"Dear all\" passed"),
      std::string::npos)
      << page;
  EXPECT_EQ(page.find("jane"), std::string::npos) << page;
}

// Its reason stood behind the score and again below the votes.
TEST_F(ObserveTest, AJudgesReasonStandsOnce) {
  Case one = text_case("a", "one");
  suite.rubrics = {{"rubric", "v1", "", "{{criteria}}"}};
  one.expectations.push_back({.what = {MetricId::rubric},
                              .thresholding = {},
                              .min_score = {},
                              .judge = JudgeQuestion{.rubric = 0, .criteria = "It answers."},
                              .name = ""});
  suite.cases = {one};
  UnitResult result;
  const MetricOutcome failed{MetricId::rubric, 0.4, false, "It says nothing of"};
  const JudgeScore judged{
      MetricId::rubric, JudgeSource::judge, {{0.4, false}}, "It says\nnothing of the hour."};
  result.scores = {{0, {failed}, {}, {judged}}};
  const std::string page = observation_page(observed(result)[0]);
  EXPECT_NE(page.find("\n  rubric v1 \"It answers.\" failed 0.4\n    votes: 0.4 failed (judge)\n"
                      "    It says nothing of the hour.\n"),
            std::string::npos)
      << page;
}

// `sluice show` said that required claims had failed, and not which.
TEST_F(ObserveTest, ClaimsMetricsThatFailNameTheClaims) {
  Case one = make_case("a", "one");
  one.must_contain = {{"tls/cert", "enabled", false, {}}, {"jwt/expiry", "checked", true, {}}};
  one.must_not_contain = {{"tls/version", "minimum", std::string("1.0"), {}}};
  suite.cases = {one};
  UnitResult result;
  const auto of = [](MetricId id, bool passed) { return MetricOutcome{id, std::nullopt, passed, ""}; };
  result.scores = {{0,
                    {of(MetricId::claims_required, false), of(MetricId::claims_forbidden, false)},
                    {{}, {0, 1, 7}, {}, {{0, 0}}}}};
  EXPECT_EQ(observed(result)[0].metrics.text,
            R"([{"name": "claims_required", "version": "1", "score": null, "passed": false, )"
            R"("detail": "missing: tls/cert/enabled = false; jwt/expiry/checked = true"}, )"
            R"({"name": "claims_forbidden", "version": "1", "score": null, "passed": false, )"
            R"("detail": "found: tls/version/minimum = \"1.0\""}])");
  result.scores[0].metrics[0].passed = true;
  EXPECT_NE(observed(result)[0].metrics.text.find(R"("passed": true, "detail": "")"), std::string::npos);
  ObservedRun run{"run-1", "1", "", {}};
  const std::vector<RedactionPattern> patterns{{"part", "tls/version"}};
  run.redactor = *Redactor::make(patterns);
  EXPECT_NE(observed(result, run)[0].metrics.text.find("found: [redacted part]"), std::string::npos);
}

TEST_F(ObserveTest, IdsAreUuidsOfTheRunAndTheTrial) {
  const auto made = observed(scored());
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  for (const Observation& one : made) {
    EXPECT_TRUE(std::regex_match(one.id, uuid)) << one.id;
    EXPECT_EQ(one.id, ObservationIds("run-1").of(static_cast<TrialId>(one.trial)));
  }
  EXPECT_NE(made[0].id, made[1].id);
  EXPECT_NE(ObservationIds("run-1").of(0), ObservationIds("run-2").of(0));
}

TEST_F(ObserveTest, AnAnswerThatCannotBeReadSaysWhy) {
  UnitResult result;
  result.unit = 1;
  result.error = Error{Reason::unparsable_answer, "there is no JSON in it"};
  result.observed = ObservedAnswer{"Sorry.", "stop", "", 0};
  const auto made = observed(result);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_FALSE(made[0].parse_success);
  EXPECT_EQ(made[0].parse_error, "there is no JSON in it");
  EXPECT_EQ(made[0].reason_code, "unparsable_answer");
  EXPECT_EQ(made[0].status, "error");
  EXPECT_EQ(made[0].raw_response, "Sorry.");
  EXPECT_EQ(made[0].parsed_claims.text, "[]");
}

TEST_F(ObserveTest, WithoutAnAnswerThereIsNoneToParse) {
  UnitResult result;
  result.unit = 2;
  result.error = Error{Reason::rate_limited, "429"};
  const auto made = observed(result);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_FALSE(made[0].parse_success);
  EXPECT_FALSE(made[0].parse_error);
  EXPECT_FALSE(made[0].answered_at);
  EXPECT_EQ(made[0].error, "429");
  EXPECT_EQ(made[0].raw_response, "");
}

TEST_F(ObserveTest, PromptsAreRedacted) {
  suite.cases = {make_case("a", "call jane@home.io")};
  prompt.system = "You are jane@home.io";
  ObservedRun run{"run-1", "1", "", {}};
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  run.redactor = *Redactor::make(patterns);
  UnitResult result;
  result.scores = {{0, {}, {}}};
  const auto made = observed(result, run);
  EXPECT_EQ(made[0].prompt, "python: call [redacted mail]");
  EXPECT_EQ(*made[0].system_prompt, "You are [redacted mail]");
  EXPECT_EQ(made[0].input_hash, to_prefixed_hex(sha256("python: call jane@home.io")));
}

// A run that redacted showed the system prompt of an earlier one that did not.
TEST_F(ObserveTest, SystemPromptsAreKnownByWhatIsShownOfThem) {
  Case one = text_case("t", "Hello?");
  one.system = "Write to jane@home.io.";
  suite.cases = {one};
  UnitResult result;
  result.scores = {{0, {}, {}}};
  const auto plain = observed(result);
  ObservedRun run{"run-2", "1", "", {}};
  const std::vector<RedactionPattern> patterns{{"mail", "[a-z]+@[a-z]+\\.io"}};
  run.redactor = *Redactor::make(patterns);
  const auto redacted = observed(result, run);
  EXPECT_NE(redacted[0].system_hash, plain[0].system_hash);
  EXPECT_EQ(redacted[0].system_hash, to_prefixed_hex(sha256(*redacted[0].system_prompt)));
  EXPECT_EQ(redacted[0].prompt_hash, plain[0].prompt_hash) << "the same was sent";
}

TEST_F(ObserveTest, ATextCaseHasNoClaimsPrompt) {
  Case one = text_case("t", "Hello?");
  one.system = "Be brief.";
  one.arm = 1;
  suite.cases = {one};
  const auto made_plan = Plan::make(suite, prompt, Ontology(), {settings, settings});
  ASSERT_TRUE(made_plan);
  ObservationMaker maker(std::make_shared<const Plan>(*made_plan),
                         {"run-1", "1", "sha256:p", {"mini", "large"}});
  UnitResult result;
  result.scores = {{0, {}, {}}};
  std::vector<Observation> made;
  ASSERT_TRUE(maker.make(result, now_ms, [&](Observation next) { made.push_back(std::move(next)); }));
  EXPECT_EQ(made[0].prompt_version, "");
  EXPECT_EQ(made[0].prompt_hash, to_prefixed_hex(sha256("Be brief.")));
  EXPECT_EQ(made[0].arm, "large");
}

TEST_F(ObserveTest, JsonLinesAndCsvHoldTheSame) {
  auto made = observed(scored());
  made[0].prompt = "two\nlines, \"quoted\"";
  const std::string json = observation_as_json(made[0]);
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 1);
  EXPECT_NE(json.find(R"("prompt": "two\nlines, \"quoted\"")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("parsed_claims": [{"subject": "TLS")"), std::string::npos) << json;
  const std::string csv = observation_as_csv(made[0]);
  EXPECT_NE(csv.find("\"two\nlines, \"\"quoted\"\"\""), std::string::npos) << csv;
  const std::string header = observation_csv_header();
  EXPECT_TRUE(header.starts_with("id,timestamp,prompt_version,")) << header;
  EXPECT_TRUE(header.ends_with(",cost,system_prompt\r\n")) << header;
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), 42);
}

TEST_F(ObserveTest, NoCellOfCsvIsAFormula) {
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"}) {
    auto made = observed(scored());
    made[0].case_id = text;
    made[0].prompt = text;
    const std::string csv = observation_as_csv(made[0]);
    EXPECT_NE(csv.find("'" + std::string(text)), std::string::npos) << csv;
    EXPECT_EQ(csv.find("," + std::string(text)), std::string::npos) << csv;
  }
}

// Those of its columns of JSON were.
TEST_F(ObserveTest, NoCellOfCsvHoldsACommandToABuildServer) {
  auto made = observed(scored());
  made[0].prompt = "##[error]prompt";
  for (JsonText* column : {&made[0].parsed_claims, &made[0].metrics})
    column->text = R"([{"name": "##[error]text"}])";
  EXPECT_EQ(observation_as_csv(made[0]).find("##["), std::string::npos) << observation_as_csv(made[0]);
}

TEST_F(ObserveTest, TheTableFitsATerminal) {
  auto made = observed(scored());
  made[0].case_id = "a-case-with-a-very-long-name-that-goes-on-and-on-and-on-until-the-end-of-the-line";
  made[0].perturbation = "comments-removed";
  made[0].model = "a-model-with-a-long-name";
  made[1].reason_code = "provider_unreachable";
  const std::string table = observation_table(made, 80);
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find('\n', at);
    EXPECT_LE(display_width(table.substr(at, end - at)), 80u) << table;
    at = end + 1;
  }
  EXPECT_NE(table.find("2026-02-25 06:13"), std::string::npos) << table;
}

// At 80 columns the form went, and with it which of a case's trials a line is; the run's id stayed.
TEST_F(ObserveTest, TheTableKeepsTheFormAndHasNoneWhereThereIsNone) {
  auto made = observed(scored());
  const auto heading = [&](std::size_t columns) {
    const std::string table = observation_table(made, columns);
    return table.substr(table.find('\n') + 1, table.find('\n', table.find('\n') + 1) - table.find('\n') - 1);
  };
  for (Observation& one : made) one.case_id = "tls-cert-verification-disabled";
  EXPECT_EQ(heading(200).find("Form"), std::string::npos) << heading(200);
  made[1].perturbation = "whitespace";
  made[1].repeat = 1;
  for (const std::size_t columns : {80u, 200u})
    EXPECT_NE(heading(columns).find("Form"), std::string::npos) << columns;
  EXPECT_NE(observation_table(made, 80).find("whitespace 2"), std::string::npos);
  EXPECT_EQ(heading(80).find("Tokens"), std::string::npos) << heading(80);
  for (const char* word : {"Case", "Status", "Time", "Run", "ms", "Tokens", "Model"})
    EXPECT_NE(heading(200).find(word), std::string::npos) << word;
}

TEST_F(ObserveTest, ATrialWithoutItsPromptHasAllTheRest) {
  ObservedRun run{"run-1", "1.2.0", "sha256:p", {}};
  ObservationMaker maker(std::make_shared<const Plan>(plan()), run);
  CommittedTrial recorded{2, scored()};
  recorded.unit.scores.erase(recorded.unit.scores.begin());
  std::vector<Observation> made;
  const auto without = maker.make_without_prompt(recorded, false, now_ms);
  ASSERT_TRUE(without);
  made.push_back(*without);
  const auto whole = observed(scored())[1];
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].prompt, "");
  EXPECT_EQ(made[0].input_hash, "");
  EXPECT_EQ(made[0].system_prompt, nullptr);
  made[0].id = whole.id;
  made[0].prompt = whole.prompt;
  made[0].input_hash = whole.input_hash;
  made[0].content_length = whole.content_length;
  made[0].system_prompt = whole.system_prompt;
  made[0].system_hash = whole.system_hash;
  EXPECT_EQ(observation_as_json(made[0]), observation_as_json(whole));
}

TEST_F(ObserveTest, APageSaysWhatIsNotThereAndWhatWasMissed) {
  auto one = observed(scored())[0];
  one.prompt.clear();
  one.raw_response.clear();
  const std::vector<std::string> missed{"claims_recall 0.50, limit 0.80: below the score asked for"};
  ShownBeside beside;
  beside.missed = &missed;
  beside.prompt_is_lost = beside.answer_is_lost = true;
  const std::string page = observation_page(one, beside);
  EXPECT_NE(page.find("\nPrompt\n  (not known: "), std::string::npos) << page;
  EXPECT_NE(page.find("\nAnswer\n  (in no cache any more"), std::string::npos) << page;
  EXPECT_NE(page.find("\nMissed by the case\n  claims_recall 0.50, limit 0.80: below the score asked for\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(observation_page(one).find("Missed"), std::string::npos);
  one.perturbation = "crlf";
  EXPECT_EQ(observation_page(one, beside).find("Missed"), std::string::npos)
      << "a perturbed answer decides nothing";
}

}  // namespace sluice::observe_test
