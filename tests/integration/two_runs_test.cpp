// Two runs beside each other, and cases of one run by filter; whatever names a run.
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::two_runs_test {

using namespace support;
using nlohmann::json;

class Diff : public Workbench {
 protected:
  Diff() {
    write_suite("suite.yaml", "capitals", "right");
    answer("the capital is right", "wrong");
  }

  void write_suite(const std::string& file, const std::string& name, const std::string& wanted) {
    std::string suite = "suite: " + name + "\ntests:\n";
    for (const char* test :
         {"france, category: europe, tags: [easy, old]", "spain, category: europe, tags: hard",
          "peru, category: america", "chile, category: america, tags: [hard]"}) {
      const std::string id = std::string(test).substr(0, std::string(test).find(','));
      suite += "  - {id: " + std::string(test) + ", input: {prompt: capital of " + id +
               "}, expected: {type: must_contain, text: " + wanted + "}}\n";
    }
    write_text(folder() / file, suite);
  }
  /// From now on a simulator gives these answers.
  void answer(const std::string& france, const std::string& spain) {
    server_ = std::make_unique<SimulatorProcess>(start_simulator(
        {R"({"contains": "france", "text": ")" + france + "\"}",
         R"({"contains": "spain", "text": ")" + spain + "\"}", R"({"contains": "peru", "status": 400})",
         R"({"contains": "capital", "text": "right"})"},
        {}));
    write_text(folder() / "sluice.toml",
               "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server_->url() +
                   "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"sim\"\n");
  }
  Finished run(const Flags& more = {}) {
    const auto finished = run_sluice(Flags{"run", "suite.yaml", "--mode", "live", "--provider", "sim",
                                           "--model", "m", "--format", "json"} +
                                     more);
    EXPECT_NE(finished.exit_code, 2) << finished.errors;
    return finished;
  }
  /// Two runs, between which france fell and spain rose.
  void run_twice(const Flags& first, const Flags& second) {
    run(first);
    answer("the capital is Paris", "right");
    run(Flags{"--refresh"} + second);
  }
  json diff(const Flags& more = {}) {
    const auto finished = run_sluice(Flags{"diff", "--json"} + more);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return json::parse(finished.output, nullptr, false);
  }
  static std::vector<std::string> ids_in(const json& made) {
    std::vector<std::string> ids;
    for (const json& one : made["cases"]) ids.push_back(one["id"]);
    return ids;
  }
  static void expect_the_change(const json& made) {
    ASSERT_TRUE(made.is_object());
    EXPECT_EQ(made["in_both"], 4);
    EXPECT_EQ(ids_in(made), (Ids{"france", "spain"}));
    const json& france = made["cases"][0];
    EXPECT_EQ(france["status"], json::parse(R"({"before": "pass", "after": "fail"})"));
    const json& trial = france["trials"][0];
    EXPECT_EQ(trial["answer"],
              json::parse(R"({"before": "the capital is right", "after": "the capital is Paris"})"));
    EXPECT_EQ(trial["metrics"][0]["name"], "must_contain");
    EXPECT_EQ(trial["metrics"][0]["before"]["passed"], true);
    EXPECT_EQ(trial["metrics"][0]["after"]["passed"], false);
    EXPECT_EQ(made["cases"][1]["status"]["after"], "pass");
  }
  using Ids = std::vector<std::string>;

  std::unique_ptr<SimulatorProcess> server_;
};

TEST_F(Diff, SaysTheSameOfSavedRunsOfCachedOnesAndOfOneOfEach) {
  const Flags save{"--save-observations"};
  run_twice(save, save);
  expect_the_change(diff());
  const json saved = diff({"--all", "--saved"});
  EXPECT_EQ(ids_in(saved), (Ids{"chile", "france", "peru", "spain"}));
  std::filesystem::remove(home() / "observations.db");
  const auto unsaved = run_sluice({"diff", "--saved"});
  EXPECT_EQ(unsaved.exit_code, 2);
  EXPECT_NE(unsaved.errors.find("has nothing among the observations"), std::string::npos) << unsaved.errors;
  // A second answer to a request takes the first one's place in its cache; a short one stands in the ledger.
  expect_the_change(diff());
  const std::string rest(2000, '.');
  answer("the capital is right" + rest, "wrong");
  run({"--refresh"});
  answer("the capital is Lyon" + rest, "wrong");
  run({"--refresh"});
  const json gone = diff();
  ASSERT_EQ(ids_in(gone), Ids{"france"}) << gone;
  EXPECT_TRUE(gone["cases"][0]["trials"][0]["answer_changed"].is_null()) << gone;
  EXPECT_EQ(gone["notes"].size(), 1u) << gone;
}

TEST_F(Diff, ReadsAnswersFromTheCachesWhereNoneAreSaved) {
  run({"--seed", "1"});
  answer("the capital is Paris", "right");
  run({"--seed", "2"});
  expect_the_change(diff());
  run({"--seed", "2", "--save-observations"});
  expect_the_change(diff({"last~2"}));
}

TEST_F(Diff, ShowsAnswersSideBySide) {
  const Flags save{"--save-observations"};
  run_twice(save, save);
  const auto finished = run_sluice({"diff", "last~1", "last", "--filter", "france"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  const std::string& page = finished.output;
  EXPECT_NE(page.find("\n1 of 1 case changed (1 worse).\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\nfrance: pass → fail\n  must_contain passed → failed\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\n  the capital is right                  | the capital is Paris\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("spain"), std::string::npos) << page;
}

TEST_F(Diff, CasesAreChosenByHowTheirStatusChanged) {
  const Flags save{"--save-observations"};
  run_twice(save, save);
  EXPECT_EQ(ids_in(diff({"--status", "changed"})), (Ids{"france", "spain"}));
  EXPECT_EQ(ids_in(diff({"--status", "worse"})), Ids{"france"});
  const json better = diff({"--status", "better"});
  EXPECT_EQ(ids_in(better), Ids{"spain"});
  EXPECT_EQ(better["worse"], 1) << better;
  for (const Flags& flags : {Flags{"--status", "fail"}, Flags{"--status", "worse", "--all"}}) {
    const auto refused = run_sluice(Flags{"diff"} + flags);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.errors.find("--status"), std::string::npos) << refused.errors;
  }
}

TEST_F(Diff, CasesAreChosenLikeThoseOfARun) {
  const Flags save{"--save-observations"};
  run_twice(save, save);
  EXPECT_EQ(ids_in(diff({"--filter", "tag=hard"})), Ids{"spain"});
  EXPECT_EQ(ids_in(diff({"--filter", "category=europe", "--filter", "id!~^s"})), Ids{"france"});
  const auto none = run_sluice({"diff", "--filter", "nobody"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find(" have no result that fits --filter \"nobody\""), std::string::npos)
      << none.errors;
}

TEST_F(Diff, CasesOfOneRunAloneAreListedApart) {
  run({"--filter", "france,peru"});
  run({"--filter", "france,spain"});
  const json made = diff();
  EXPECT_EQ(made["in_both"], 1);
  EXPECT_EQ(made["only_before"], json::array({"peru"}));
  EXPECT_EQ(made["only_after"], json::array({"spain"}));
  EXPECT_EQ(made["notes"].size(), 2u) << "both are of some of the cases: " << made;
}

TEST_F(Diff, ARerunIsComparedByTheCasesThatItRan) {
  run();
  answer("the capital is right", "right");
  run_sluice({"rerun", "--failed", "--refresh"});
  const json made = diff();
  EXPECT_EQ(ids_in(made), Ids{"spain"}) << made;
  EXPECT_EQ(made["only_before"], json::array({"chile", "france", "peru"}));
}

TEST_F(Diff, WhatCannotBeComparedIsRefusedWithAReason) {
  keep_no_copy();
  const auto none = run_sluice({"diff"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("no run is recorded yet"), std::string::npos) << none.errors;
  run();
  const auto one = run_sluice({"diff"});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_NE(one.errors.find(" is the first of the suite \"capitals\""), std::string::npos) << one.errors;
  const auto same = run_sluice({"diff", "last"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.errors.find("both names are those of run"), std::string::npos) << same.errors;
  write_suite("other.yaml", "rivers", "right");
  EXPECT_NE(
      run_sluice({"run", "other.yaml", "--mode", "live", "--provider", "sim", "--model", "m"}).exit_code, 2);
  const auto other = run_sluice({"diff", "last~1", "last"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.errors.find("is of the suite \"capitals\" and run"), std::string::npos) << other.errors;
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("id: chile"), 9, "id: kenya");
  write_text(folder() / "suite.yaml", suite);
  run();
  const auto changed = run_sluice({"diff", "last~2", "last"});
  EXPECT_EQ(changed.exit_code, 2) << "nobody knows which cases the first one had";
  EXPECT_EQ(changed.error_lines().size(), 1u) << changed.errors;
  EXPECT_NE(changed.errors.find("only runs with a copy or --save-observations can be"), std::string::npos)
      << changed.errors;
}

// One edited prompt, and nothing was shown of any case, though the ledger has its metrics and the cache its
// answer.
TEST_F(Diff, ARunWhosePromptWasEditedIsShownFromTheLedger) {
  const std::string wrong = "wrong" + std::string(2000, '.');
  answer("the capital is right", wrong);
  keep_no_copy();
  run();
  json before = json::parse(run_sluice({"show", "last", "spain", "--json"}).output, nullptr, false);
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("capital of spain"), 0, "the ");
  write_text(folder() / "suite.yaml", suite);
  const auto shown = run_sluice({"show", "last", "spain", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.errors;
  const json after = json::parse(shown.output, nullptr, false);
  // What the test expects now it may not have expected then.
  for (json& metric : before["metrics"]) EXPECT_EQ(metric.erase("expected"), 1u) << before;
  EXPECT_EQ(after["prompt_is_lost"], true);
  EXPECT_EQ(after["prompt"], "");
  EXPECT_FALSE(before.contains("prompt_is_lost"));
  for (const char* member : {"case_id", "status", "metrics", "raw_response", "key", "model", "provider",
                             "calls", "latency_ms", "input_tokens", "paid_tokens", "cost", "trial"})
    EXPECT_EQ(after[member], before[member]) << member;
  EXPECT_EQ(after["status"], "fail");
  const std::string page = run_sluice({"show", "last", "spain"}).output;
  EXPECT_NE(page.find("\nPrompt\n  (not known: the suite"), std::string::npos) << page;
  EXPECT_NE(page.find("--save-observations"), std::string::npos) << page;
  EXPECT_NE(page.find("\nAnswer\n  wrong."), std::string::npos) << page;
  EXPECT_NE(page.find("must_contain failed"), std::string::npos) << page;
  answer("the capital is Paris", "right");
  run({"--refresh"});
  const json made = diff();
  EXPECT_EQ(ids_in(made), (Ids{"france", "spain"})) << made;
  EXPECT_EQ(made["cases"][1]["status"], json::parse(R"({"before": "fail", "after": "pass"})"));
  EXPECT_TRUE(made["cases"][1]["trials"][0]["prompt_changed"].is_null()) << made;
  EXPECT_EQ(made["notes"].size(), 2u) << "the short answer that was renewed stands in the ledger: " << made;
  EXPECT_NE(made["notes"][0].get<std::string>().find("asked is not known"), std::string::npos) << made;
  std::filesystem::remove_all(home() / "cache");
  const std::string gone = run_sluice({"show", "last~1", "spain"}).output;
  EXPECT_NE(gone.find("\nAnswer\n  (in no cache any more"), std::string::npos) << gone;
}

TEST_F(Diff, PromptsThatWereEditedAreShownBesideEachOther) {
  run();
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("capital of spain"), 0, "the ");
  suite.replace(suite.find("id: chile"), 9, "id: kenya");
  write_text(folder() / "suite.yaml", suite);
  answer("the capital is right", "right");
  run();
  const json made = diff();
  EXPECT_EQ(made["only_before"], json::array({"chile"}));
  EXPECT_EQ(made["only_after"], json::array({"kenya"}));
  ASSERT_EQ(ids_in(made), Ids{"spain"}) << made;
  EXPECT_EQ(made["cases"][0]["trials"][0]["prompt_changed"], true);
  EXPECT_NE(run_sluice({"show", "last~1", "chile"}).output.find("capital of chile"), std::string::npos);
}

TEST_F(Diff, WithoutNamesTheLastTwoRunsOfASuiteAreCompared) {
  write_suite("other.yaml", "rivers", "right");
  const Flags other{"run", "other.yaml", "--mode", "live", "--provider", "sim", "--model", "m"};
  run();
  run_sluice(other);
  answer("the capital is Paris", "right");
  run({"--refresh"});
  EXPECT_EQ(ids_in(diff()), (Ids{"france", "spain"}));
  run_sluice(other);
  EXPECT_EQ(ids_in(diff({"last~3"})), (Ids{"france", "spain"})) << "and the last of its suite";
  EXPECT_EQ(diff()["before"]["suite"], "rivers");
}

TEST_F(Diff, ACaseThatIsMisspeltIsGuessed) {
  const auto none = run_sluice({"show", "last", "spian"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("no run is recorded yet"), std::string::npos) << none.errors;
  run();
  const auto misspelt = run_sluice({"show", "last", "spian"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_NE(misspelt.errors.find("did you mean \"spain\"?"), std::string::npos) << misspelt.errors;
}

TEST_F(Diff, AProviderThatIsNotThereAnyMoreIsThatOfTheRun) {
  run();
  write_text(folder() / "sluice.toml", "");
  const auto shown = run_sluice({"show", "last", "spain"});
  EXPECT_EQ(shown.exit_code, 0) << "the settings of then are known: " << shown.errors;
  EXPECT_NE(shown.output.find("capital of spain"), std::string::npos) << shown.output;
  keep_no_copy();
  run_sluice({"run", "suite.yaml", "--mode", "mock", "--provider", "openai", "--model", "m"});
  const auto gone = run_sluice({"show", "last", "spain", "--provider", "sim"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_EQ(gone.errors.find("(flag the run)"), std::string::npos) << gone.errors;
  EXPECT_NE(gone.errors.find("there is no provider \"sim\""), std::string::npos) << gone.errors;
}

TEST_F(Diff, AMockRunHasLostNoAnswer) {
  run_sluice({"run", "suite.yaml", "--mode", "mock", "--provider", "openai", "--model", "m"});
  const auto page = run_sluice({"show", "last", "spain"});
  EXPECT_NE(page.output.find("\nAnswer\n  (none came)\n"), std::string::npos) << page.output;
  const auto grid = run_sluice({"show", "last", "--grid"});
  EXPECT_NE(grid.output.find("│ spain  │ ✗ (none came) "), std::string::npos) << grid.output;
}

TEST_F(Diff, ASuiteThatChangedIsNotedWhereBothRunsAreSaved) {
  run({"--save-observations"});
  write_suite("suite.yaml", "capitals", "capital");
  run({"--save-observations"});
  const json made = diff();
  EXPECT_EQ(ids_in(made), (Ids{"chile"})) << made;
  ASSERT_EQ(made["notes"].size(), 1u) << made;
  EXPECT_NE(made["notes"][0].get<std::string>().find("changed between the runs"), std::string::npos);
}

TEST_F(Diff, ACanaryIsSeenInNone) {
  const std::string canary = std::string("sk-") + "canary0123456789abcdef";
  answer("It is " + canary, "right");
  run({"--save-observations", "--seed", "1"});
  answer("right, " + canary, "right " + canary);
  run({"--seed", "2"});
  EXPECT_NE(run_sluice({"diff"}).output.find(canary), std::string::npos) << "the test would find it";
  for (const Flags& flags :
       {Flags{"diff"}, Flags{"diff", "--json", "--all"}, Flags{"show", "last", "--filter", "*"},
        Flags{"show", "last", "--grid"}, Flags{"show", "last~1", "--filter", "*", "--json"}}) {
    const auto shown = run_sluice(flags + Flags{"--redact", "all"});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_NE(shown.output.find("[redacted keys]"), std::string::npos) << shown.output;
    EXPECT_EQ(shown.output.find("sk-canary"), std::string::npos) << shown.output;
  }
}

// One run showed what the other redacts, and equal answers passed for changed ones.
TEST_F(Diff, RedactsBothRunsAsEitherDoes) {
  answer("right: bob@example.com", "right");
  run({"--redact", "mail"});
  run();
  for (const Flags& flags : {Flags{"diff", "--all"}, Flags{"diff", "--all", "--json"}}) {
    const auto compared = run_sluice(flags);
    EXPECT_EQ(compared.exit_code, 0) << compared.errors;
    EXPECT_EQ(compared.output.find("bob@"), std::string::npos) << compared.output;
  }
  EXPECT_TRUE(ids_in(diff()).empty()) << diff();
}

TEST_F(Diff, ShowTakesSeveralCasesByFilter) {
  run();
  const auto shown = [&](const Flags& flags) {
    const auto finished = run_sluice(Flags{"show", "last", "--json"} + flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    Ids ids;
    std::istringstream lines(finished.output);
    for (std::string line; std::getline(lines, line);) ids.push_back(json::parse(line)["case_id"]);
    return ids;
  };
  EXPECT_EQ(shown({"--filter", "tag=hard"}), (Ids{"chile", "spain"}));
  EXPECT_EQ(shown({"--filter", "id~^(f|s)", "--filter", "tag!=old"}), Ids{"spain"});
  EXPECT_EQ(shown({"spain"}), Ids{"spain"});
  run({"--save-observations", "--filter", "category=europe"});
  EXPECT_EQ(shown({"--filter", "*"}), (Ids{"france", "spain"}));
  const auto nothing = run_sluice({"show", "last"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.errors.find("which cases?"), std::string::npos) << nothing.errors;
  const auto no_run = run_sluice({"show", "spain"});
  EXPECT_EQ(no_run.exit_code, 2);
  EXPECT_NE(no_run.errors.find("no run \"spain\""), std::string::npos) << no_run.errors;
  const auto none = run_sluice({"show", "last", "--filter", "x*"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("has no result that fits --filter \"x*\""), std::string::npos) << none.errors;
}

TEST_F(Diff, EveryCommandNamesRunsInTheSameWords) {
  const auto first = json::parse(run().output)["run_id"].get<std::string>();
  const auto second = json::parse(run({"--save-observations"}).output)["run_id"].get<std::string>();
  const auto third = json::parse(run().output)["run_id"].get<std::string>();
  for (const auto& [words, id] : {std::pair<std::string, std::string>("last", third),
                                  {"last~1", second},
                                  {"last~2", first},
                                  {first.substr(0, 12), first}}) {
    EXPECT_EQ(json::parse(run_sluice({"runs", "show", words, "--format", "json"}).output)["run_id"], id);
    EXPECT_EQ(json::parse(run_sluice({"show", words, "spain", "--json"}).output)["run_id"], id);
    const auto again = run_sluice({"rerun", words, "--dry-run"});
    EXPECT_TRUE(again.output.starts_with("Of run " + id.substr(0, 8))) << again.output << again.errors;
    EXPECT_EQ(run_sluice({"quality", "--run", words}).exit_code, 0);
    EXPECT_EQ(run_sluice({"cache", "export", "--run", words, "--output", "c.cassette"}).exit_code, 0);
    const auto observed = run_sluice({"observations", "export", "--run", words});
    EXPECT_EQ(observed.exit_code, 0) << observed.errors;
    EXPECT_EQ(observed.output.empty(), id != second) << "the one run that saved any: " << words;
  }
  for (const Flags& flags : {Flags{"runs", "show", "last~3"}, Flags{"show", "last~3", "spain"},
                             Flags{"rerun", "last~3"}, Flags{"quality", "--run", "last~3"},
                             Flags{"cache", "export", "--run", "last~3", "--output", "d.cassette"},
                             Flags{"observations", "list", "--run", "last~3"}, Flags{"diff", "last~3"}}) {
    const auto finished = run_sluice(flags);
    EXPECT_EQ(finished.exit_code, 2) << flags.front();
    EXPECT_NE(finished.errors.find("the run ledger has no run \"last~3\""), std::string::npos)
        << finished.errors;
  }
}

}  // namespace sluice::two_runs_test
