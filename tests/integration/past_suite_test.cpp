// Runs of the ledger whose suite has changed since, or is gone: what they did is shown all the same.
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::past_suite_test {

using namespace support;
using nlohmann::json;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

class PastSuite : public Workbench {
 protected:
  PastSuite() {
    server_ = std::make_unique<SimulatorProcess>(
        start_simulator({R"({"contains": "france", "text": "It is Paris."})",
                         R"({"contains": "spain", "text": "It is Lisbon."})",
                         R"({"contains": "peru", "text": "the capital of Peru is Lima"})"},
                        {}));
    write_text(folder() / "sluice.toml",
               "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server_->url() +
                   "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"sim\"\n");
    write_text(suite(),
               "suite: capitals\ntests:\n"
               "  - {id: france, category: europe, input: {prompt: capital of france}, expected: "
               "{type: must_contain, text: Paris}}\n"
               "  - {id: peru, category: america, input: {prompt: capital of peru}, expected: "
               "{type: rouge_n, n: 1, text: the capital of peru is lima, min_score: 0.9}}\n"
               "  - {id: spain, category: europe, input: {prompt: capital of spain}, expected: "
               "{type: must_contain, text: Madrid}}\n");
  }
  std::filesystem::path suite() const { return folder() / "suite.yaml"; }
  void replace(const std::string& old, const std::string& by) {
    std::string text = read_text(suite());
    text.replace(text.find(old), old.size(), by);
    write_text(suite(), text);
  }
  void remove_test(const std::string& id) {
    std::string text = read_text(suite());
    const auto at = text.find("  - {id: " + id);
    text.erase(at, text.find('\n', at) + 1 - at);
    write_text(suite(), text);
  }
  void run(const Flags& more = {}) {
    const auto finished =
        run_sluice(Flags{"run", "suite.yaml", "--mode", "live", "--provider", "sim", "--model", "m"} + more);
    EXPECT_NE(finished.exit_code, 2) << finished.errors;
  }
  json report(const Flags& more = {}) {
    const auto made = run_sluice(Flags{"report", "last", "--format", "json"} + more);
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    said_ = made.errors;
    return json::parse(made.output, nullptr, false);
  }
  static json result_of(const json& report, const std::string& id) {
    for (const json& one : report["fixture_results"]) {
      if (one["id"] == id) return one;
    }
    return {};
  }
  static std::string notice_in(const json& report, const std::string& code) {
    for (const json& one : report.value("notices", json::array())) {
      if (one["code"] == code) return one["message"];
    }
    return "";
  }
  std::string shown(const std::string& id) {
    const auto made = run_sluice({"show", "last", id});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    said_ = made.errors;
    return made.output;
  }
  /// What a report says that came of the run.
  static void expect_the_same(const json& now, const json& then) {
    for (const char* member : {"run_id", "verdict", "config_fingerprint"})
      EXPECT_EQ(now[member], then[member]) << member;
    for (const char* member : {"passed", "failed", "errors", "recall", "false_negatives"})
      EXPECT_EQ(now["metrics"][member], then["metrics"][member]) << member;
    ASSERT_EQ(now["fixture_results"].size(), then["fixture_results"].size());
    for (std::size_t i = 0; i < now["fixture_results"].size(); ++i) {
      for (const char* member :
           {"id", "status", "answer", "answer_text", "input_tokens", "precision", "recall"})
        EXPECT_EQ(now["fixture_results"][i][member], then["fixture_results"][i][member]) << i << member;
    }
  }

  std::unique_ptr<SimulatorProcess> server_;
  std::string said_;  ///< On stderr by the last command.
};

TEST_F(PastSuite, TestsThatWereAddedSinceChangeNothing) {
  run();
  const json then = report();
  EXPECT_EQ(said_, "");
  replace("  - {id: peru",
          "  - {id: chile, input: {prompt: capital of chile}, expected: {type: rubric, "
          "criteria: It is polite.}}\n  - {id: peru");
  write_text(suite(), "settings: {judge: sim}\n" + read_text(suite()));  // Without a model.
  const json now = report();
  EXPECT_EQ(said_, "");
  EXPECT_EQ(now["fixture_results"], then["fixture_results"]);
  EXPECT_EQ(now["verdict"], then["verdict"]);
  EXPECT_FALSE(now.contains("notices")) << now["notices"];
  const std::string page = shown("spain");
  EXPECT_TRUE(has(page, "\nPrompt\n  capital of spain\n")) << page;
  EXPECT_EQ(said_, "");
}

TEST_F(PastSuite, ATestThatIsGoneIsShownAsTheRunNotedIt) {
  run();
  const json then = report();
  remove_test("spain");
  const json now = report();
  expect_the_same(now, then);
  EXPECT_TRUE(has(said_, "sluice: warning: run ")) << said_;
  EXPECT_TRUE(has(said_,
                  ": the suite does not have 1 test any more: `spain`. It is shown as the run noted it, "
                  "without its prompt and expected texts."))
      << said_;
  EXPECT_TRUE(has(notice_in(now, "tests_as_noted"), "does not have 1 test any more: `spain`"));
  const json spain = result_of(now, "spain");
  EXPECT_EQ(spain["test_of_now"], "gone");
  EXPECT_EQ(spain["metrics"][0]["name"], "must_contain");
  EXPECT_EQ(spain["metrics"][0]["passed"], false);
  EXPECT_EQ(result_of(now, "france"), result_of(then, "france")) << "the others are as they were";
  const std::string page = shown("spain");
  for (const char* words : {"spain: fail\n", "Not as it was: the suite does not have this test any more",
                            "\nAnswer\n  It is Lisbon.\n", "must_contain failed"})
    EXPECT_TRUE(has(page, words)) << words << page;
  EXPECT_FALSE(has(page, "capital of spain")) << page;
  EXPECT_TRUE(has(said_, "`spain`")) << said_;
  EXPECT_TRUE(has(shown("france"), "\nPrompt\n  capital of france\n")) << "what it asked is known";
  EXPECT_EQ(said_, "") << "nothing that is shown has changed";
}

TEST_F(PastSuite, EveryFormOfAReportHasIt) {
  run();
  remove_test("spain");
  replace("n: 1, text: the capital of peru is lima", "n: 2, text: lima");
  for (const char* format : {"table", "markdown", "junit", "github", "html", "csv"}) {
    const auto made = run_sluice({"report", "last", "--format", format});
    EXPECT_EQ(made.exit_code, 0) << format << made.errors;
    EXPECT_TRUE(has(made.output, "spain")) << format << made.output;
    EXPECT_FALSE(has(made.output, "capital of spain")) << format << made.output;
  }
  const auto table = run_sluice({"report", "last"});
  EXPECT_TRUE(has(table.output, "Change:     the suite does not have this test any more")) << table.output;
}

TEST_F(PastSuite, ACheckOfNowDoesNotJudgeAnAnswerOfThen) {
  run();
  const json then = report();
  replace("text: Madrid", "text: Lisbon");
  replace("min_score: 0.9", "min_score: 1");
  const json now = report();
  expect_the_same(now, then);
  EXPECT_TRUE(has(said_,
                  ": 2 tests have other checks or settings now: `peru`, `spain`. They are shown as the "
                  "run noted them, without their expected texts."))
      << said_;
  const json spain = result_of(now, "spain");
  EXPECT_EQ(spain["test_of_now"], "changed");
  EXPECT_EQ(spain["category"], "europe");
  EXPECT_EQ(result_of(now, "peru")["metrics"][0]["score"], result_of(then, "peru")["metrics"][0]["score"]);
  const std::string page = shown("spain");
  EXPECT_TRUE(has(page, "\nPrompt\n  capital of spain\n")) << "which has not changed: " << page;
  EXPECT_TRUE(has(page, "Not as it was: its checks or settings are others now")) << page;
  EXPECT_FALSE(has(run_sluice({"report", "last", "--format", "csv"}).output, "\"Lisbon\""))
      << "is expected now";
}

TEST_F(PastSuite, AScoreThatMissedItsLimitSaysSoAfterTheLimitChanged) {
  replace("text: the capital of peru is lima", "text: nothing of the kind");
  run();
  replace("text: nothing of the kind, min_score: 0.9", "text: Lima, min_score: 0.1");
  const json now = report();
  EXPECT_EQ(result_of(now, "peru")["status"], "fail");
  const auto table = run_sluice({"report", "last"});
  EXPECT_TRUE(has(table.output, "limit 0.90: below the score asked for")) << table.output;
  EXPECT_TRUE(has(shown("peru"), "Missed by the case\n  rouge_n ")) << "as ever";
}

TEST_F(PastSuite, OfAPromptThatChangedTheOthersAreShown) {
  run();
  replace("capital of spain", "the capital of spain");
  const json now = report();
  EXPECT_EQ(said_, "");
  EXPECT_TRUE(has(notice_in(now, "asked_otherwise"), "in 1 test: `spain`. Their prompts are left out"))
      << now["notices"];
  const std::string csv = run_sluice({"report", "last", "--format", "csv"}).output;
  EXPECT_TRUE(has(csv, "capital of france")) << csv;
  EXPECT_FALSE(has(csv, "capital of spain")) << csv;
  EXPECT_TRUE(has(shown("spain"), "\nPrompt\n  (not known: ")) << "as ever";
  EXPECT_TRUE(has(shown("france"), "\nPrompt\n  capital of france\n"));
}

TEST_F(PastSuite, OfASuiteThatIsGoneEverythingNotedIsShown) {
  run();
  const json then = report();
  const std::string text = read_text(suite());
  for (const std::string& broken : {std::string(), std::string("suite: [\n")}) {
    broken.empty() ? static_cast<void>(std::filesystem::remove(suite())) : write_text(suite(), broken);
    const json now = report();
    expect_the_same(now, then);
    EXPECT_EQ(now["run"]["mode"], "live");
    EXPECT_TRUE(has(said_, ": the suite cannot be used any more (")) << said_;
    EXPECT_TRUE(has(said_, "which had 3 tests: `france`, `peru`, `spain`.")) << said_;
    EXPECT_EQ(said_.find('\n'), said_.size() - 1) << "one line: " << said_;
    EXPECT_TRUE(has(shown("spain"), "\nAnswer\n  It is Lisbon.\n"));
    EXPECT_TRUE(has(said_, "suite.yaml")) << said_;
  }
  std::filesystem::remove_all(home() / "cache");
  EXPECT_TRUE(has(shown("spain"), "\nIts beginning, which the ledger has\n  It is Lisbon.\n"));
  const auto compared = run_sluice({"compare", "last", "last~0"});
  EXPECT_EQ(compared.exit_code, 2) << "nothing judges these";
  write_text(suite(), text);
  EXPECT_EQ(report()["fixture_results"], then["fixture_results"]) << "and back";
}

TEST_F(PastSuite, ASuiteThatIsNamedIsMeant) {
  run();
  const auto named = run_sluice({"show", "last", "spain", "other.yaml"});
  EXPECT_EQ(named.exit_code, 2) << named.output;
  EXPECT_TRUE(has(named.errors, "other.yaml")) << named.errors;
}

TEST_F(PastSuite, RunsAreDiffedInTestsThatChanged) {
  run({"--seed", "1"});
  remove_test("spain");
  replace("text: Paris", "text: Lyon");
  run({"--seed", "2"});
  const auto made = run_sluice({"diff", "--json", "--all"});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  const json diff = json::parse(made.output, nullptr, false);
  ASSERT_TRUE(diff.is_object()) << made.errors;
  EXPECT_EQ(diff["only_before"], json::array({"spain"}));
  EXPECT_EQ(diff["cases"][0]["id"], "france");
  EXPECT_EQ(diff["cases"][0]["status"], json::parse(R"({"before": "pass", "after": "fail"})"));
  EXPECT_EQ(diff["cases"][1]["changed"], false) << diff;
  bool is_noted = false;
  for (const json& note : diff["notes"])
    is_noted = is_noted || has(note,
                               "does not have 1 test any more: `spain`. 1 test has other checks or "
                               "settings now: `france`.");
  EXPECT_TRUE(is_noted) << diff["notes"];
}

TEST_F(PastSuite, ArmsRepeatsAndPerturbationsKeepTheirOutcomes) {
  write_text(suite(), "settings: {repeat: 2, perturb: [final-newline]}\n" + read_text(suite()));
  const Flags arms{"--arm", "a=sim:m", "--arm", "b=sim:n"};
  const auto finished = run_sluice(Flags{"run", "suite.yaml", "--mode", "live"} + arms);
  ASSERT_NE(finished.exit_code, 2) << finished.errors;
  const json then = report();
  ASSERT_EQ(then["fixture_results"].size(), 6u);
  remove_test("spain");
  replace("text: Paris", "text: Lyon");
  const json now = report();
  expect_the_same(now, then);
  EXPECT_EQ(result_of(now, "spain@b")["test_of_now"], "gone");
  EXPECT_EQ(result_of(now, "france@a")["test_of_now"], "changed");
  EXPECT_EQ(now["arms"].size(), then["arms"].size());
  write_text(suite(), read_text(suite()).substr(read_text(suite()).find('\n') + 1));
  expect_the_same(report(), then);
  std::filesystem::remove(suite());
  expect_the_same(report(), then);
}

TEST_F(PastSuite, ClaimsOfAFixtureThatIsGoneStillCount) {
  std::filesystem::copy(shipped_fixtures(), folder() / "fixtures", std::filesystem::copy_options::recursive);
  const auto finished = run_sluice({"run", "fixtures", "--mode", "mock"});
  ASSERT_NE(finished.exit_code, 2) << finished.errors;
  const json then = report();
  const std::string id = then["fixture_results"][0]["id"];
  const std::string source = then["fixture_results"][0]["source"];
  std::filesystem::remove(folder() / "fixtures" / source);
  std::filesystem::remove(folder() / "fixtures" / "manifest.toml");
  const json now = report();
  expect_the_same(now, then);
  EXPECT_EQ(result_of(now, id)["test_of_now"], "gone");
  std::filesystem::remove_all(folder() / "fixtures");
  expect_the_same(report(), then);
}

// `interrupted` was said of every run that was cut short.
TEST_F(PastSuite, AComparisonSaysWhatEndedARun) {
  run();
  const auto hangs = start_simulator({R"({"fault": "hang"})"}, {});
  write_text(folder() / "sluice.toml",
             "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + hangs.url() +
                 "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"sim\"\n");
  run_sluice({"run", "suite.yaml", "--mode", "live", "--provider", "sim", "--model", "m", "--deadline", "1",
              "--refresh", "--drain-timeout", "0"});
  for (const Flags& sides : {Flags{"last~1", "last"}, Flags{"last", "last~1"}}) {
    const auto compared = run_sluice(Flags{"compare"} + sides);
    EXPECT_EQ(compared.exit_code, 2);
    EXPECT_TRUE(has(compared.errors, "last is the report of a run that was cut short (deadline_reached)"))
        << compared.errors;
  }
  EXPECT_EQ(report()["reason_code"], "deadline_reached");
  EXPECT_TRUE(has(run_sluice({"runs", "show", "last"}).output, "cut short    deadline_reached\n"));
}

TEST_F(PastSuite, ATestThatWasAddedMayNeedAJudgeThatNobodyNamed) {
  run({"--seed", "1"});
  run({"--seed", "2"});
  write_text(suite(), "settings: {judge: sim}\n" + read_text(suite()) +
                          "  - {id: tone, input: {prompt: Hi}, expected: {type: rubric, criteria: It is "
                          "polite.}}\n");
  const auto compared = run_sluice({"compare", "last~1", "last"});
  EXPECT_EQ(compared.exit_code, 0) << compared.errors;
  EXPECT_TRUE(has(compared.output, "unchanged")) << compared.output;
}

TEST_F(PastSuite, RunsAndComparisonsHaveTheColoursOfTheGate) {
  run({"--seed", "1"});
  replace("capital of france", "capital of spain and no other");
  run({"--seed", "2"});
  const Flags compare{"compare", "last~1", "last"};
  EXPECT_FALSE(has(run_sluice(compare).output, "\x1b["));
  EXPECT_FALSE(has(run_sluice({"runs"}).output, "\x1b["));
  set_variable("FORCE_COLOR", "1");
  const std::string compared = run_sluice(compare).output;
  EXPECT_TRUE(has(compared, "\x1b[31mBroke (1)\x1b[0m\n")) << compared;
  EXPECT_TRUE(has(compared, "\x1b[31mfailed\x1b[0m")) << compared;
  EXPECT_TRUE(has(compared, "\x1b[31m✗ REGRESSION")) << compared;
  const std::string three = run_sluice({"compare", "last~1", "last", "last"}).output;
  EXPECT_TRUE(has(three, "\x1b[31mfail\x1b[0m")) << three;
  EXPECT_TRUE(has(three, "  pass\x1b[0m")) << three;
  EXPECT_TRUE(has(run_sluice({"runs"}).output, " \x1b[31mfail ")) << run_sluice({"runs"}).output;
  EXPECT_TRUE(
      has(run_sluice({"runs", "show", "last"}).output, "verdict      \x1b[31mfail (exit code 1)\x1b[0m\n"));
  EXPECT_FALSE(has(run_sluice(compare + Flags{"--format", "json"}).output, "\x1b["));
  EXPECT_FALSE(has(run_sluice({"runs", "list", "--format", "json"}).output, "\x1b["));
  set_variable("NO_COLOR", "1");
  EXPECT_FALSE(has(run_sluice(compare).output, "\x1b["));
  EXPECT_FALSE(has(run_sluice({"runs"}).output, "\x1b["));
}

}  // namespace sluice::past_suite_test
