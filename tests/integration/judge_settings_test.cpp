// Who judges: refused before the first call, called under the run's settings, or read from caches alone.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::judge_settings_test {

using namespace support;

class JudgeSettings : public Workbench {
 protected:
  JudgeSettings() {
    write_text(folder() / "suite.yaml",
               "suite: judged\ntests:\n"
               "  - {id: a, input: {prompt: question 1}, expected: {type: relevancy}}\n"
               "  - {id: b, category: other, input: {prompt: question 2},\n"
               "     expected: [{type: must_not_contain, text: nothing}, {type: relevancy, samples: 2}]}\n"
               "  - {id: c, category: plain, input: {prompt: question 3}, expected: {type: regex_match, "
               "pattern: .}}\n");
  }
  static std::vector<std::string> answers() {
    return {R"({"vote": true, "text": {"rationale": "Good.", "score": 0.9}})", R"({"text": "An answer."})"};
  }
  static Flags run_at(const std::string& address, const std::string& mode, const Flags& more = {}) {
    return Flags{"run",         "suite.yaml", "--mode",        mode,       "--provider", "openai", "--model",
                 "gpt-4o-mini", "--base-url", address + "/v1", "--format", "json"} +
           more;
  }
  static Flags run(const SimulatorProcess& simulator, const std::string& mode, const Flags& more = {}) {
    return run_at(simulator.url(), mode, more);
  }
  static const Flags& judged() {
    static const Flags flags{"--judge", "openai", "--judge-model", "j"};
    return flags;
  }
  static std::size_t votes_of(SimulatorProcess& simulator) {
    const auto events = simulator.final_events();
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [](const SimulatorEvent& event) { return event.kind == "start" && event.vote; }));
  }
  /// Refused with one sentence that has these texts, and without any call.
  void expect_refused(const Flags& more, const std::vector<std::string>& texts,
                      const std::string& mode = "live") {
    auto simulator = start_simulator(answers(), {});
    const auto finished = run_sluice(run(simulator, mode, more));
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    for (const std::string& text : texts) {
      EXPECT_NE(finished.errors.find(text), std::string::npos) << text << " is not in " << finished.errors;
    }
    EXPECT_TRUE(simulator.final_events().empty()) << "nobody may be called";
  }
};

TEST_F(JudgeSettings, JudgeMetricsThatNobodyJudgesAreRefusedBeforeTheFirstCall) {
  expect_refused({}, {"2 cases have judge metrics (a, b), and no judge is named", "--judge PROVIDER",
                      "sluice cache import"});
  expect_refused({"--no-judge"}, {"and the judge is \"none\" (--no-judge)"});
  expect_refused({}, {"and no judge is named", "--mode live"}, "cached");
}

TEST_F(JudgeSettings, AJudgeWithoutModelOrKeyIsRefusedBeforeTheFirstCall) {
  expect_refused({"--judge", "openai"}, {"no model is named for the judge \"openai\"", "--judge-model"});
  expect_refused({"--judge", "opnai"}, {"there is no provider \"opnai\"", "did you mean \"openai\"?"});
  expect_refused({"--judge", "anthropic", "--judge-model", "j"}, {"ANTHROPIC_API_KEY", "is not set"});
}

TEST_F(JudgeSettings, TwoWordsOnWhoJudgesAreRefused) {
  expect_refused({"--judge", "openai", "--no-judge"}, {"--judge", "--no-judge"});
}

TEST_F(JudgeSettings, APartOfASuiteWithoutJudgeMetricsNeedsNoJudge) {
  auto simulator = start_simulator(answers(), {});
  const auto finished = run_sluice(run(simulator, "live", {"--categories", "plain"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  const auto keyless = run_sluice(
      run(simulator, "live", {"--categories", "plain", "--judge", "anthropic", "--judge-model", "j"}));
  EXPECT_EQ(keyless.exit_code, 0) << keyless.errors;
  EXPECT_EQ(votes_of(simulator), 0u);
}

TEST_F(JudgeSettings, VotesAreCalledForOnceAndReplayedUnderTheJudgeThatIsNamed) {
  auto simulator = start_simulator(answers(), {});
  const auto live = run_sluice(run(simulator, "live", judged()));
  EXPECT_EQ(live.exit_code, 0) << live.errors << live.output;
  const auto again = run_sluice(run(simulator, "live", judged()));
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  set_variable("VERDICT_JUDGE", "openai");
  set_variable("SLUICE_JUDGE_MODEL", "j");
  const auto cached = run_sluice(run(simulator, "cached", {"--judge", "none"}));
  EXPECT_EQ(cached.exit_code, 0) << cached.errors;
  set_variable("SLUICE_JUDGE_MODEL", "another");
  const auto missing = run_sluice(run(simulator, "cached"));
  EXPECT_NE(missing.exit_code, 0) << "another judge's votes are not there";
  EXPECT_EQ(votes_of(simulator), 3u + 2u) << "three by default, two as the test says";
}

// It had the votes of every suite that the caches knew.
TEST_F(JudgeSettings, ACassetteOfARunHasItsOwnVotesAlone) {
  auto simulator = start_simulator(answers(), {});
  ASSERT_EQ(run_sluice(run(simulator, "live", judged())).exit_code, 0);
  const auto of_all = run_sluice({"cache", "export", "--output", "own.cassette"});
  ASSERT_EQ(of_all.exit_code, 0) << of_all.errors;
  write_text(folder() / "others.yaml",
             "suite: others\ntests:\n"
             "  - {id: x, input: {prompt: question 7}, expected: {type: relevancy, samples: 9}}\n"
             "  - {id: y, input: {prompt: question 8}, expected: {type: must_contain, text: answer}}\n");
  const Flags others{"run",    "others.yaml", "--mode",      "live",       "--provider",
                     "openai", "--model",     "gpt-4o-mini", "--base-url", simulator.url() + "/v1"};
  ASSERT_EQ(run_sluice(others + judged()).exit_code, 0);

  const auto exported = run_sluice({"cache", "export", "--run", "judged", "--output", "run.cassette"});
  EXPECT_EQ(exported.exit_code, 2) << "a suite's name is no run's";
  const auto of_run = run_sluice({"cache", "export", "--run", "last~1", "--output", "run.cassette"});
  ASSERT_EQ(of_run.exit_code, 0) << of_run.errors;
  EXPECT_EQ(read_text(folder() / "run.cassette"), read_text(folder() / "own.cassette")) << of_run.output;
  // Without a judge there is nothing to look for, and the suite may be gone.
  ASSERT_EQ(run_sluice(others + Flags{"--filter", "y"}).exit_code, 0);
  std::filesystem::remove(folder() / "others.yaml");
  const auto unjudged = run_sluice({"cache", "export", "--run", "last", "--output", "plain.cassette"});
  ASSERT_EQ(unjudged.exit_code, 0) << unjudged.errors;
  EXPECT_NE(unjudged.output.find("1 entry"), std::string::npos) << unjudged.output;
  EXPECT_EQ(read_text(folder() / "plain.cassette")[8], '\x01') << "as a sluice without votes reads it";
  const auto unknown = run_sluice({"cache", "export", "--run", "last~1", "--output", "others.cassette"});
  EXPECT_EQ(unknown.exit_code, 0) << "the ledger has a copy of others.yaml: " << unknown.errors;

  ASSERT_EQ(run_sluice({"cache", "import", "run.cassette", "--home", "fresh"}).exit_code, 0);
  const auto replayed = run_sluice(run(simulator, "cached", judged() + Flags{"--home", "fresh"}));
  EXPECT_EQ(replayed.exit_code, 0) << replayed.errors;
  EXPECT_EQ(votes_of(simulator), 3u + 2u + 9u);
}

TEST_F(JudgeSettings, ACassetteOfARunWhoseVotesAreGoneIsRefused) {
  keep_no_copy();
  auto simulator = start_simulator(answers(), {});
  ASSERT_EQ(run_sluice(run(simulator, "live", judged())).exit_code, 0);
  ASSERT_EQ(run_sluice({"cache", "export", "--output", "all.cassette"}).exit_code, 0);
  write_text(folder() / "suite.yaml",
             "suite: judged\ntests:\n"
             "  - {id: a, input: {prompt: question 1}, expected: {type: relevancy, samples: 4}}\n");
  const auto changed = run_sluice({"cache", "export", "--run", "last", "--output", "run.cassette"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.errors.find("not"), std::string::npos) << changed.errors;
  EXPECT_FALSE(std::filesystem::exists(folder() / "run.cassette"));
}

TEST_F(JudgeSettings, EachJudgeMetricHasItsOwnVotesWhereverItsTestNamesIt) {
  write_text(folder() / "suite.yaml", R"(suite: judged
tests:
  - id: a
    input: {prompt: question 1, context: Stock 815}
    expected:
      - {type: rubric, criteria: Names a kettle, samples: 1}
      - {type: must_contain, text: answer}
      - {type: correctness, reference: Kettle 4711, samples: 2}
      - {type: regex_match, pattern: "^no"}
      - {type: faithfulness, samples: 1}
      - {type: relevancy, samples: 1}
)");
  const auto voted = [](const std::string& about, const std::string& score) {
    return R"({"contains": ")" + about + R"(", "vote": true, "text": {"rationale": "So.", "score": )" +
           score + "}}";
  };
  std::vector<std::string> script{voted("Names a kettle", "0.2"), voted("Kettle 4711", "0.75"),
                                  voted("Stock 815", "1")};
  for (const auto& rest : answers()) script.push_back(rest);
  nlohmann::json live;
  std::string address;
  {
    auto simulator = start_simulator(script, {});
    address = simulator.url();
    live = parse_report(run_sluice(run(simulator, "live", judged())).output);
    EXPECT_EQ(votes_of(simulator), 5u);
  }
  const auto cached = parse_report(run_sluice(run_at(address, "cached", judged())).output);
  for (const auto& report : {live, cached}) {
    const auto& result = report.at("fixture_results").at(0);
    EXPECT_EQ(result.at("status"), "fail");
    std::map<std::string, nlohmann::json> metrics;
    for (const auto& metric : result.at("metrics")) metrics[metric.at("name")] = metric;
    EXPECT_EQ(metrics.size(), 6u);
    EXPECT_EQ(metrics.at("rubric").at("score"), 0.2);
    EXPECT_EQ(metrics.at("rubric").at("cause"), "no_majority");
    EXPECT_EQ(metrics.at("correctness").at("score"), 0.75);
    EXPECT_EQ(metrics.at("faithfulness").at("score"), 1.0);
    EXPECT_EQ(metrics.at("relevancy").at("score"), 0.9);
    EXPECT_EQ(metrics.at("must_contain").at("status"), "pass");
    EXPECT_EQ(metrics.at("regex_match").at("status"), "fail");
    const auto& votes = result.at("meta").at("assay").at("judge");
    EXPECT_EQ(votes.at("rubric").at("scores"), nlohmann::json::parse("[0.2]"));
    EXPECT_EQ(votes.at("correctness").at("scores"), nlohmann::json::parse("[0.75, 0.75]"));
    EXPECT_EQ(votes.at("relevancy").at("scores"), nlohmann::json::parse("[0.9]"));
  }
}

TEST_F(JudgeSettings, ASuiteNamesItsJudge) {
  const auto suite = folder() / "suite.yaml";
  const std::string tests = read_text(suite).substr(std::string("suite: judged\n").size());
  write_text(
      suite,
      "suite: judged\nsettings: {judge: openai, judge_model: j, judge_samples: 1, judge_temperature: 1, "
      "judge_max_tokens: 99, judge_min_kappa: 0.6}\n" +
          tests);
  auto simulator = start_simulator(answers(), {});
  const auto live = run_sluice(run(simulator, "live"));
  EXPECT_EQ(live.exit_code, 0) << live.errors;
  EXPECT_NE(live.output.find("the gate asks for a kappa of at least 0.6"), std::string::npos) << live.output;
  const auto cached = run_sluice(run(simulator, "cached", {"--no-judge"}));
  EXPECT_EQ(cached.exit_code, 0) << cached.errors;
  const auto other_settings = run_sluice(run(simulator, "cached", {"--judge-temperature", "0"}));
  EXPECT_NE(other_settings.exit_code, 0) << "these votes were never given";
  EXPECT_EQ(votes_of(simulator), 1u + 2u);
}

TEST_F(JudgeSettings, RefreshedVotesAreAskedForAgain) {
  auto simulator = start_simulator(answers(), {});
  EXPECT_EQ(run_sluice(run(simulator, "live", judged())).exit_code, 0);
  EXPECT_EQ(run_sluice(run(simulator, "live", judged() + Flags{"--judge-refresh"})).exit_code, 0);
  const auto events = simulator.final_events();
  const auto starts = std::ranges::count(events, "start", &SimulatorEvent::kind);
  EXPECT_EQ(starts, 3 + 5 + 5) << "answers are those of the cache";
}

TEST_F(JudgeSettings, TheFakeJudgeAndAMockRunCallNobodyForVotes) {
  auto simulator = start_simulator(answers(), {});
  const auto fake = run_sluice(run(simulator, "live", {"--judge", "fake"}));
  EXPECT_TRUE(fake.exit_code == 0 || fake.exit_code == 1) << fake.errors;
  EXPECT_NE(run_sluice(run(simulator, "mock")).exit_code, 2);
  EXPECT_EQ(votes_of(simulator), 0u);
}

TEST_F(JudgeSettings, ABudgetOfTokensBoundsVotesToo) {
  auto simulator = start_simulator(answers(), {});
  const auto finished = run_sluice(run(simulator, "live", judged() + Flags{"--max-tokens", "5000"}));
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const auto report = parse_report(finished.output);
  EXPECT_EQ(report["reason_code"], "token_budget_spent") << "three votes of 1,024 tokens, each asked thrice";
  EXPECT_EQ(votes_of(simulator), 0u);
}

TEST_F(JudgeSettings, ABudgetOfCostNeedsTheJudgesPrice) {
  expect_refused(judged() + Flags{"--max-cost", "5"}, {"the price of the model \"j\""});
}

// An unchanged run whose one vote dissents, as it had in the baseline's run, was FAIL without a word of
// --strict.
TEST_F(JudgeSettings, AVoteThatDissentsChangesNoVerdictUnderStrict) {
  write_text(folder() / "suite.yaml",
             "suite: judged\ntests:\n"
             "  - {id: a, input: {prompt: question 1}, expected: {type: relevancy}}\n");
  const auto simulator = start_simulator(
      {R"({"vote": true, "times": 1, "text": {"rationale": "Bad.", "score": 0.1}})",
       R"({"vote": true, "text": {"rationale": "Good.", "score": 0.9}})", R"({"text": "An answer."})"},
      {});
  const auto pinned = run_sluice(run(simulator, "live", judged() + Flags{"--export-baseline", "base.json"}));
  ASSERT_EQ(pinned.exit_code, 0) << pinned.errors;
  EXPECT_NE(pinned.errors.find("1 case warns or is flaky: no baseline excuses that under --strict"),
            std::string::npos)
      << pinned.errors;
  const Flags gated = run(simulator, "cached", judged() + Flags{"--baseline", "base.json"});
  const auto unchanged = run_sluice(gated + Flags{"--fail-on-mismatch"});
  EXPECT_EQ(unchanged.exit_code, 0) << "what CI runs: " << unchanged.output;
  const auto strict = run_sluice(gated + Flags{"--strict"});
  EXPECT_EQ(strict.exit_code, 1) << strict.errors;
  const auto report = parse_report(strict.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["verdict"], "review");
  EXPECT_EQ(report["fixture_results"][0]["status"], "warn");
  const auto table = run_sluice(with(gated, "--format", "table") + Flags{"--strict"});
  EXPECT_NE(table.output.find("REVIEW - the only case warned; exit code 1 because of --strict"),
            std::string::npos)
      << table.output;
}

/// What a judge says is the same in each format of requests; the figures are worked out by hand.
class JudgeFormats : public Workbench, public ::testing::WithParamInterface<const char*> {
 protected:
  struct Judged {
    const char* id;
    int samples;
    std::vector<std::string> votes;  ///< Texts, in JSON.
  };
  static std::string vote(const char* score, const char* why) {
    return std::string(R"({"rationale": ")") + why + R"(", "score": )" + score + "}";
  }
  static std::vector<Judged> table() {
    return {{"alone", 1, {vote("0.9", "good")}},
            {"tie", 2, {vote("0.9", "good"), vote("0.1", "bad")}},
            {"disputed", 3, {vote("0.9", "very good"), vote("0.8", "good"), vote("0.1", "bad")}},
            {"outvoted",
             5,
             {vote("0.4", "weak"), vote("0.4", "weak"), vote("0.4", "weak"), vote("1.0", "good"),
              vote("1.0", "good")}},
            {"mended", 3, {vote("0.9", "good"), vote("0.9", "good"), R"("I like it")", vote("0.9", "good")}},
            {"garbled", 1, {R"("I like it")", R"("So so")", R"("{}")"}}};
  }
  std::vector<std::string> rules() {
    std::vector<std::string> rules;
    for (const Judged& one : table()) {
      for (const std::string& text : one.votes) {
        rules.push_back(R"({"contains": "the )" + std::string(one.id) +
                        R"( question", "vote": true, "times": 1, "text": )" + text + "}");
      }
    }
    rules.push_back(R"({"contains": "the refused question", "vote": true, "refusal": true})");
    rules.push_back(R"({"vote": false, "text": "An answer."})");
    return rules;
  }
  void write_suite() {
    std::string tests;
    const auto add = [&](const std::string& id, int samples) {
      tests += "  - {id: " + id + ", input: {prompt: 'the " + id +
               " question'}, expected: {type: relevancy, samples: " + std::to_string(samples) + "}}\n";
    };
    for (const Judged& one : table()) add(one.id, one.samples);
    add("refused", 1);
    write_text(folder() / "suite.yaml", "suite: judged\ntests:\n" + tests);
  }
};

TEST_P(JudgeFormats, VotesComeToTheSame) {
  write_suite();
  auto simulator = start_simulator(rules(), {});
  const std::string kind = GetParam();
  write_text(folder() / "sluice.toml",
             "[providers.answers]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
                 "/v1\"\napi_key_env = \"\"\nmodel = \"m\"\n[providers.votes]\nkind = \"" + kind +
                 "\"\nbase_url = \"" + simulator.url() + (kind == "openai" ? "/v1" : "") +
                 "\"\napi_key_env = \"\"\nmodel = \"j\"\n");
  const auto finished = run_sluice({"run", "suite.yaml", "--config", "sluice.toml", "--mode", "live",
                                    "--provider", "answers", "--judge", "votes", "--format", "json"});
  ASSERT_EQ(finished.exit_code, 1) << finished.errors;
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  std::map<std::string, nlohmann::json> cases;
  for (const auto& one : report["fixture_results"]) cases[one["id"]] = one;
  struct Expected {
    const char* id;
    const char* status;
    double score;
    bool passed;
    double agreement;
    std::string rationale;
  };
  for (const Expected& expected :
       {Expected{"alone", "pass", 0.9, true, 1.0, "good"},
        Expected{"tie", "fail", 0.5, false, 0.5, "bad (1 of 2 votes against it: good)"},
        Expected{"disputed", "warn", 0.6, true, 2.0 / 3, "good (1 of 3 votes against it: bad)"},
        Expected{"outvoted", "fail", 0.64, false, 0.6, "weak (2 of 5 votes against it: good)"},
        Expected{"mended", "pass", 0.9, true, 1.0, "good"}}) {
    SCOPED_TRACE(expected.id);
    const auto& one = cases.at(expected.id);
    EXPECT_EQ(one["status"], expected.status);
    const auto& judged = one["meta"]["assay"]["judge"]["relevancy"];
    EXPECT_NEAR(judged["score"].get<double>(), expected.score, 1e-9);
    EXPECT_EQ(judged["passed"], expected.passed);
    EXPECT_NEAR(judged["agreement"].get<double>(), expected.agreement, 1e-9);
    EXPECT_EQ(judged["rationale"], expected.rationale);
    EXPECT_EQ(judged["source"], "judge");
  }
  EXPECT_EQ(cases.at("garbled")["reason_code"], "judge_unparsable");
  EXPECT_NE(finished.output.find("relevancy v1: the judge's answer is no vote"), std::string::npos)
      << finished.output;
  EXPECT_EQ(cases.at("refused")["reason_code"], "judge_refused");
}

INSTANTIATE_TEST_SUITE_P(Kinds, JudgeFormats, ::testing::Values("openai", "anthropic", "gemini"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace sluice::judge_settings_test
