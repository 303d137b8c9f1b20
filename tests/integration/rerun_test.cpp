// The cases of a run that did not pass, run again; and parts of a suite by filter and sample.
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::rerun_test {

using namespace support;
using nlohmann::json;

class Rerun : public Workbench {
 protected:
  Rerun() {
    std::string suite = "suite: capitals\ntests:\n";
    for (const char* test :
         {"france, category: europe, tags: [easy, old]", "spain, category: europe, tags: hard",
          "peru, category: america", "chile, category: america, tags: [hard]"}) {
      const std::string id = std::string(test).substr(0, std::string(test).find(','));
      suite += "  - {id: " + std::string(test) + ", input: {prompt: the capital of " + id +
               "}, expected: {type: must_contain, text: right}}\n";
    }
    write_text(folder() / "suite.yaml", suite);
    server_ = std::make_unique<SimulatorProcess>(start_simulator(
        {R"({"contains": "france", "text": "right"})", R"({"contains": "spain", "text": "wrong"})",
         R"({"contains": "peru", "status": 400})", R"({"contains": "chile", "text": "right"})"},
        {}));
    use(*server_);
  }

  void use(const SimulatorProcess& simulator) {
    write_text(folder() / "sluice.toml",
               "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
                   "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"sim\"\n");
  }
  Finished run(const Flags& more = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--mode", "live", "--provider", "sim", "--model", "m",
                            "--format", "json"} +
                      more);
  }
  static std::vector<std::string> cases_in(const Finished& finished) {
    std::vector<std::string> ids;
    const json report = json::parse(finished.output, nullptr, false);
    for (const json& one : report["fixture_results"]) ids.push_back(one["id"]);
    return ids;
  }
  using Ids = std::vector<std::string>;

  std::unique_ptr<SimulatorProcess> server_;
};

TEST_F(Rerun, RunsWhatFailedOrEndedInAnErrorWithTheFlagsOfTheRun) {
  ASSERT_EQ(run().exit_code, 1);
  const auto again = run_sluice({"rerun"});
  EXPECT_EQ(again.exit_code, 1) << again.errors;
  EXPECT_EQ(cases_in(again), (Ids{"peru", "spain"})) << again.errors << again.output;
  EXPECT_NE(again.errors.find("sluice: again 2 cases of run "), std::string::npos) << again.errors;
  EXPECT_NE(again.errors.find(" (1 failed, 1 error)\n"), std::string::npos) << again.errors;
}

TEST_F(Rerun, KindsOfCasesAndFlagsOfItsOwnGoBeforeThoseOfTheRun) {
  ASSERT_EQ(run().exit_code, 1);
  const auto failed = run_sluice({"rerun", "last", "--failed", "--format", "table"});
  EXPECT_EQ(failed.output.find('{'), std::string::npos) << failed.output;
  const auto mended = start_simulator({R"({"contains": "capital", "text": "right"})"}, {});
  use(mended);
  const auto errors = run_sluice({"rerun", "--errors"});
  // The last run is that of the failed case alone.
  EXPECT_EQ(errors.exit_code, 0) << errors.errors;
  EXPECT_NE(errors.errors.find("sluice: nothing to do: 0 cases of run "), std::string::npos) << errors.errors;
  EXPECT_NE(errors.errors.find(" ended in an error; `sluice runs list` shows other runs"), std::string::npos)
      << errors.errors;
  const auto again = run_sluice({"rerun", "--refresh", "--format", "json"});
  EXPECT_EQ(again.exit_code, 0) << again.errors << again.output;
  EXPECT_EQ(cases_in(again), Ids{"spain"});
}

// The advice was a run with --failed and --only, which are no flags of one.
TEST_F(Rerun, IsNotToldToPinItsFewCasesAnew) {
  ASSERT_EQ(run({"--export-baseline", "base.json", "--allow-errors"}).exit_code, 1);
  std::string suite = read_text(folder() / "suite.yaml");
  suite.replace(suite.find("capital of spain"), 7, "CAPITAL");
  write_text(folder() / "suite.yaml", suite);
  const auto again = run_sluice({"rerun", "--failed", "--baseline", "base.json", "--format", "table"});
  EXPECT_NE(again.output.find("spain"), std::string::npos) << again.output << again.errors;
  EXPECT_EQ(again.output.find("anew"), std::string::npos) << again.output;
  EXPECT_EQ(again.output.find("--export-baseline"), std::string::npos) << again.output;
}

TEST_F(Rerun, KnowsEachCaseOfARunInWhichMoreThanAFewFailed) {
  constexpr int count = 10'001;  // One more than are kept from judging them.
  std::string tests;
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(i);
    tests += R"({"id": "t)" + number + R"(", "input": {"prompt": "q)" + number +
             "\"}, \"expected\": {\"type\": \"must_contain\", \"text\": \"right\"}}\n";
  }
  write_text(folder() / "many.jsonl", tests);
  write_text(folder() / "many.yaml", "suite: many\ntests_file: many.jsonl\n");
  ASSERT_EQ(run_sluice({"run", "many.yaml", "--mode", "mock", "--quiet"}).exit_code, 1);
  const auto listed = run_sluice({"rerun", "--dry-run"}).output;
  EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 1 + count);
}

TEST_F(Rerun, OnlyListsThemInADryRun) {
  ASSERT_EQ(run().exit_code, 1);
  ASSERT_TRUE(eventually([&] { return server_->count("start") == 4; }));
  const auto listed = [&](const Flags& more) {
    const std::string output = run_sluice(Flags{"rerun", "--dry-run"} + more).output;
    EXPECT_TRUE(output.starts_with("Of run ")) << output;
    return output.substr(output.find('\n') + 1);
  };
  EXPECT_EQ(listed({}), "error  peru\nfail  spain\n");
  EXPECT_EQ(listed({"--failed"}), "fail  spain\n");
  EXPECT_EQ(listed({"--filter", "p*"}), "error  peru\n") << "what would run";
  EXPECT_EQ(server_->count("start"), 4u);
}

TEST_F(Rerun, ADryRunIsRefusedWhereTheRunWouldBe) {
  ASSERT_EQ(run().exit_code, 1);
  const Flags unknown{"--confirm-above", "5"};  // The model has no price.
  const auto refused = run_sluice(Flags{"rerun"} + unknown);
  const auto dry = run_sluice(Flags{"rerun", "--dry-run"} + unknown);
  EXPECT_EQ(refused.exit_code, 2) << refused.errors;
  EXPECT_EQ(dry.exit_code, 2) << dry.errors;
  ASSERT_FALSE(dry.error_lines().empty());
  EXPECT_EQ(dry.error_lines().back(), refused.error_lines().back());
  EXPECT_NE(dry.output.find("error  peru\n"), std::string::npos) << dry.output;
  const auto above = [&](const std::string& dollars) {
    return run_sluice({"rerun", "--dry-run", "--model", "gpt-5-mini", "--confirm-above", dollars});
  };
  EXPECT_NE(above("0.0000001").errors.find("the run may cost up to $"), std::string::npos);
  EXPECT_EQ(above("100").exit_code, 0);
  EXPECT_EQ(above("free").exit_code, 2);
}

TEST_F(Rerun, CasesUnderAnArmRunUnderItAlone) {
  const Flags arms{"--arm", "a=sim:m", "--arm", "b=sim:n"};
  const auto first = run_sluice(
      Flags{"run", "suite.yaml", "--mode", "live", "--format", "json", "--filter", "spain,france"} + arms);
  ASSERT_EQ(first.exit_code, 1) << first.errors;
  EXPECT_EQ(cases_in(run_sluice({"rerun"})), (Ids{"spain@a", "spain@b"}));
}

// The flags of the run selected another case of the suite as it was then.
TEST_F(Rerun, RunsItsCasesWhateverTheFlagsOfTheRunSelectNow) {
  ASSERT_EQ(run({"--max-fixtures", "3"}).exit_code, 1) << "chile, france and peru, which is an error";
  std::string suite = read_text(folder() / "suite.yaml");
  suite +=
      "  - {id: austria, input: {prompt: the capital of austria}, expected: {type: must_contain, text: "
      "right}}\n";
  write_text(folder() / "suite.yaml", suite);
  const auto again = run_sluice({"rerun", "--format", "json"});
  EXPECT_EQ(cases_in(again), Ids{"peru"}) << again.errors;
  EXPECT_EQ(again.errors.find("no longer"), std::string::npos) << again.errors;
  EXPECT_EQ(cases_in(run_sluice({"rerun", "--format", "json"})), Ids{"peru"}) << "and of that run again";
}

TEST_F(Rerun, SaysWhatIsNoLongerThere) {
  ASSERT_EQ(run().exit_code, 1);
  write_text(
      folder() / "suite.yaml",
      "suite: capitals\ntests:\n  - {id: spain, input: {prompt: the capital of spain}, expected: {type: "
      "must_contain, text: right}}\n");
  const auto again = run_sluice({"rerun"});
  EXPECT_EQ(cases_in(again), Ids{"spain"});
  EXPECT_NE(again.errors.find("1 case of the run before is no longer in the suite"), std::string::npos)
      << again.errors;
}

TEST_F(Rerun, WhatCannotBeRunAgainIsRefused) {
  const auto none = run_sluice({"rerun"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("no run is recorded yet"), std::string::npos) << none.errors;
  ASSERT_EQ(run().exit_code, 1);
  const auto unknown = run_sluice({"rerun", "zzz"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.error_lines().size(), 1u) << unknown.errors;
}

TEST_F(Rerun, ASuiteThatIsNamedAsASettingRunsAgain) {
  const auto first = run_sluice({"run", "--fixtures", "suite.yaml", "--mode", "live", "--provider", "sim",
                                 "--model", "m", "--format", "json"});
  ASSERT_EQ(first.exit_code, 1) << first.errors;
  EXPECT_EQ(cases_in(run_sluice({"rerun"})), (Ids{"peru", "spain"}));
}

TEST_F(Rerun, AKeyInAFlagIsNotKept) {
  const std::string key = "sk-proj-0123456789abcdefghijABCDEFGHIJ0123456789";
  ASSERT_NE(run({"--perturb-command", "shout=tr a-z A-Z # " + key}).exit_code, 2);
  for (const char* file : {"ledger.db", "ledger.db-wal"}) {
    const auto path = home() / file;
    if (!std::filesystem::exists(path)) continue;
    EXPECT_EQ(read_text(path).find(key), std::string::npos) << file;
  }
  EXPECT_EQ(run_sluice({"rerun", "--dry-run"}).exit_code, 0);
}

TEST_F(Rerun, AReportInAFileIsNotOverwritten) {
  ASSERT_EQ(run({"--output", "report.json", "--report", "junit=report.xml"}).exit_code, 1);
  const std::string before = read_text(folder() / "report.json");
  EXPECT_EQ(cases_in(run_sluice({"rerun"})), (Ids{"peru", "spain"}));
  EXPECT_EQ(read_text(folder() / "report.json"), before);
}

TEST_F(Rerun, FiltersAndSamplesAreOfIdsCategoriesAndTags) {
  EXPECT_EQ(cases_in(run({"--filter", "tag=hard"})), (Ids{"chile", "spain"}));
  EXPECT_EQ(cases_in(run({"--filter", "category=europe", "--filter", "id!~^f"})), Ids{"spain"});
  const auto sampled = run({"--max-fixtures", "2", "--sample", "7"});
  EXPECT_NE(sampled.errors.find("sluice: 2 cases, sampled by category (--sample 7)\n"), std::string::npos)
      << sampled.errors;
  json categories = json::array();
  const json report = json::parse(sampled.output);
  for (const json& one : report["fixture_results"]) categories.push_back(one["category"]);
  EXPECT_EQ(categories.size(), 2u);
  EXPECT_NE(categories[0], categories[1]);
  EXPECT_EQ(run({"--sample"}).exit_code, 2);
  const auto listed = run_sluice({"list-fixtures", "suite.yaml", "--filter", "tag=hard"});
  EXPECT_EQ(listed.output.find("france"), std::string::npos) << listed.output;
  EXPECT_NE(listed.output.find("chile"), std::string::npos) << listed.output;
}

}  // namespace sluice::rerun_test
