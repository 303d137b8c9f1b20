// Two arms, a judge, and what they come to: sluice grade against two simulated providers.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::grade_test {

using namespace support;
using nlohmann::json;

class Grade : public Workbench {
 protected:
  Grade() {
    write_text(
        folder() / "suite.yaml",
        "suite: capitals\n"
        "arms: [before=old:m-1, after=new:m-2, {name: warm, provider: new, model: m-3, temperature: 1}]\n"
        "tests:\n"
        "  - {id: france, category: europe, input: {prompt: capital 1}, expected: {type: regex_match, "
        "pattern: .}}\n"
        "  - {id: spain, category: europe, input: {prompt: capital 2}, expected: {type: regex_match, "
        "pattern: .}}\n"
        "  - {id: peru, category: america, input: {prompt: capital 3}, expected: {type: regex_match, "
        "pattern: .}}\n");
    old_ = std::make_unique<SimulatorProcess>(start_simulator(
        {answer("capital 1", "Paris"), answer("capital 2", "Madrid"), answer("capital 3", "Lima")},
        {"--judge-unreadable", "1"}));
    new_ = std::make_unique<SimulatorProcess>(start_simulator(
        {// The judge: of the first pair B is better whichever it is, of the others what it says.
         R"({"contains": "ANSWER B -----\nParis is it", "text": {"notes": "B says more.", "quality_score": 0.75}})",
         R"({"contains": "ANSWER B -----\nParis", "text": {"notes": "B is short.", "quality_score": 0.75}})",
         R"({"contains": "ANSWER B -----\nLisbon", "text": {"notes": "B is wrong.", "quality_score": 0.0}})",
         R"({"contains": "ANSWER B -----\nMadrid", "text": {"notes": "A is wrong.", "quality_score": 1.0}})",
         R"({"contains": "ANSWER B", "text": {"notes": "The same.", "quality_score": 0.5}})",
         answer("capital 1", "Paris is it"), answer("capital 2", "Lisbon"), answer("capital 3", "Lima")},
        {}));
    write_text(folder() / "sluice.toml", provider("old", *old_) + provider("new", *new_));
  }

  static std::string answer(const std::string& question, const std::string& text) {
    return R"({"contains": ")" + question + R"(", "text": ")" + text + R"("})";
  }
  static std::string provider(const std::string& name, const SimulatorProcess& simulator) {
    return "[providers." + name + "]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
           "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"" + name + "\"\n";
  }
  static Flags grade(const Flags& more) {
    return Flags{"grade",  "suite.yaml",  "--mode", "live",     "--baseline",
                 "before", "--candidate", "after",  "--format", "json"} +
           more;
  }
  static const Flags& by_llm() {
    static const Flags flags{"--judge", "llm", "--judge-provider", "new", "--judge-model", "j"};
    return flags;
  }
  json graded(const Flags& more) {
    const auto finished = run_sluice(grade(more));
    EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
    return json::parse(finished.output, nullptr, false);
  }
  std::size_t calls() { return old_->count("start") + new_->count("start"); }

  std::unique_ptr<SimulatorProcess> old_;
  std::unique_ptr<SimulatorProcess> new_;
};

// The cassette lacked the baseline's answers, which are shown by no result of their own.
TEST_F(Grade, ACassetteOfItAloneIsRefused) {
  graded(by_llm());
  const auto exported = run_sluice({"cache", "export", "--run", "last", "--output", "run.cassette"});
  EXPECT_EQ(exported.exit_code, 2) << exported.output;
  EXPECT_NE(exported.errors.find("`sluice grade`"), std::string::npos) << exported.errors;
  ASSERT_EQ(run_sluice({"cache", "export", "--output", "all.cassette"}).exit_code, 0);
  ASSERT_EQ(run_sluice({"cache", "import", "all.cassette", "--home", "fresh"}).exit_code, 0);
  const auto again = run_sluice(with(grade(by_llm() + Flags{"--home", "fresh"}), "--mode", "cached"));
  EXPECT_EQ(again.exit_code, 0) << again.errors;
}

// It ended with cache_miss: the grade had replaced what the run had pinned.
TEST_F(Grade, ARefreshLeavesWhatTheBaselinesOwnRunsReplay) {
  const auto run = [this](const std::string& mode) {
    return run_sluice({"run", "suite.yaml", "--arm", "before=old:m-1", "--mode", mode, "--format", "json"});
  };
  ASSERT_EQ(run("live").exit_code, 0);
  old_ = std::make_unique<SimulatorProcess>(start_simulator({answer("capital", "Lutetia")}, {}));
  write_text(folder() / "sluice.toml", provider("old", *old_) + provider("new", *new_));
  graded({"--judge", "exact", "--refresh"});
  EXPECT_EQ(old_->count("start"), 3u);
  const auto replayed = run("cached");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.errors;
  const auto shown = run_sluice({"show", "last", "france", "--json"});
  EXPECT_EQ(json::parse(shown.output, nullptr, false)["raw_response"], "Lutetia") << shown.errors;
}

TEST_F(Grade, ExactTellsSameFromOther) {
  const json report = graded({"--judge", "exact"});
  EXPECT_EQ(report["grader_id"], "exact");
  EXPECT_EQ(report["baseline"]["arm"], "before");
  EXPECT_EQ(report["candidate"]["model"], "m-2");
  EXPECT_GT(report["baseline"]["output_tokens"], 0);
  std::vector<std::pair<std::string, double>> tests;
  for (const json& test : report["tests"]) tests.emplace_back(test["id"], test["quality_score"]);
  EXPECT_EQ(tests,
            (std::vector<std::pair<std::string, double>>{{"france", 0.0}, {"peru", 1.0}, {"spain", 0.0}}));
  ASSERT_EQ(report["by_category"].size(), 2u);
  EXPECT_EQ(report["by_category"][0]["category"], "america");
  EXPECT_EQ(report["by_category"][0]["quality_score"], 1.0);
  EXPECT_EQ(report["all"]["grades"], 3);
  EXPECT_TRUE(report["position_bias"].is_null());
}

TEST_F(Grade, EmbeddingComparesTexts) {
  const json report = graded({"--judge", "embedding", "--embedding-model", "lexical-ngrams-v1"});
  EXPECT_EQ(report["grader_id"], "embedding:lexical-ngrams-v1");
  const double close = report["tests"][0]["quality_score"];
  EXPECT_GT(close, 0.3);
  EXPECT_LT(close, 1.0);
  EXPECT_EQ(report["tests"][1]["quality_score"], 1.0);
}

TEST_F(Grade, AModelComparesInBothOrdersAndWhatFlipsIsATie) {
  const json report = graded(by_llm());
  EXPECT_EQ(report["grader_id"], "llm:j:comparison-v1");
  const json& tests = report["tests"];
  EXPECT_EQ(tests[0]["quality_score"], 0.5) << "whoever stands last is better";
  EXPECT_EQ(tests[0]["position_flips"], 1);
  EXPECT_EQ(tests[1]["quality_score"], 0.5);
  EXPECT_EQ(tests[1]["position_flips"], 0);
  EXPECT_EQ(tests[2]["quality_score"], 0.0);
  EXPECT_EQ(report["all"]["compared_in_both_orders"], 3);
  EXPECT_EQ(report["all"]["position_flips"], 1);
  EXPECT_EQ(report["position_bias"]["flips"], 1);
  EXPECT_EQ(report["position_bias"]["toward_second"], 1);
  const json again = graded(by_llm());
  EXPECT_EQ(again["tests"], tests);
  EXPECT_EQ(calls(), 3u + 3u + 6u) << "the second run makes none";
}

TEST_F(Grade, GradesAreKeptAndShownByArmAndCategory) {
  graded({"--judge", "exact"});
  const json first = graded(by_llm());
  const auto quality = [&](const Flags& more) {
    const auto finished = run_sluice(Flags{"quality", "--format", "json"} + more);
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return json::parse(finished.output, nullptr, false);
  };
  const json all = quality({});
  ASSERT_EQ(all.size(), 2u) << all;
  EXPECT_EQ(all[0]["grader_id"], "exact");
  EXPECT_EQ(all[0]["all"]["quality_score"], 1.0 / 3.0);
  const json by_model = quality({"--judge", "llm"});
  ASSERT_EQ(by_model.size(), 1u);
  EXPECT_EQ(by_model[0], all[1]);
  EXPECT_EQ(all[1]["suite"], "capitals");
  EXPECT_EQ(all[1]["baseline"]["arm"], "before");
  EXPECT_EQ(all[1]["candidate"]["provider_name"], "new");
  EXPECT_EQ(all[1]["candidate"]["model"], "m-2");
  for (const char* member : {"tests", "grades", "quality_score", "interval", "position_flips"})
    EXPECT_EQ(all[1]["all"][member], first["all"][member]) << member;
  EXPECT_EQ(all[1]["by_category"][0]["category"], "america");
  graded(by_llm());  // Without a call.
  EXPECT_EQ(quality({"--judge", "llm"})[0]["all"]["grades"], 6);
  const std::string run = first["run_id"];
  EXPECT_EQ(quality({"--run", run.substr(0, 8)})[0]["all"]["grades"], 3);
  const auto table = run_sluice({"quality", "--arm", "after", "--judge", "llm"});
  EXPECT_TRUE(table.output.starts_with("capitals, graded by llm:j:comparison-v1, last ")) << table.output;
  EXPECT_EQ(run_sluice({"quality", "--arm", "nobody"}).output,
            "No grade fits; `sluice quality` without flags shows all.\n");
}

// The run's flags were not recorded, so that `show` asked for a model, and knew the candidate's answer alone.
TEST_F(Grade, APairIsShownWithItsGrade) {
  graded(by_llm());
  const auto page = run_sluice({"show", "last", "france"});
  EXPECT_EQ(page.exit_code, 0) << page.errors;
  for (const char* words :
       {"capital 1", "\nAnswer of the candidate, after\n  Paris is it\n",
        "\nAnswer of the baseline, before (m-1 of old)\n  Paris\n",
        "\nGrade 0.50 by llm:j:comparison-v1; baseline first 0.75, candidate first 0.25: the "
        "order decides\n  A tie: who is better depends on the order. Candidate as B: B says more."})
    EXPECT_NE(page.output.find(words), std::string::npos) << words << "\n" << page.output;
  for (const Flags& named :
       {Flags{"france@before"}, Flags{"france@after"}, Flags{"france", "--arm", "before=old:m-1"},
        Flags{"france", "--arm", "after=new:m-2"}}) {
    const auto shown = run_sluice(Flags{"show", "last", "--json"} + named);
    EXPECT_EQ(shown.exit_code, 0) << named.back() << shown.errors;
    const json one = json::parse(shown.output, nullptr, false);
    ASSERT_TRUE(one.is_object()) << named.back() << shown.output;
    EXPECT_EQ(one["raw_response"], "Paris is it");
    EXPECT_EQ(one["prompt"], "capital 1") << named.back();
    EXPECT_EQ(one["grade"]["baseline"]["answer"], "Paris");
    EXPECT_EQ(one["grade"]["orders"]["position_flips"], true);
    EXPECT_FALSE(one.contains("prompt_is_lost")) << named.back();
  }
  const auto grid = run_sluice({"show", "last", "--grid"});
  EXPECT_NE(grid.output.find("│ Test   │ before   │ after         │"), std::string::npos) << grid.output;
  EXPECT_NE(grid.output.find("│ france │   Paris  │   Paris is it │"), std::string::npos) << grid.output;
  const auto again = run_sluice({"rerun", "last"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("it was made by `sluice grade`"), std::string::npos) << again.errors;
}

// The arm of --baseline was taken for a baseline file, which "cannot be read".
TEST_F(Grade, NoReportIsMadeOfIt) {
  graded({"--judge", "exact"});
  graded({"--judge", "exact"});
  for (const Flags& command : {Flags{"report", "last"}, Flags{"compare", "last~1", "last"}}) {
    const auto refused = run_sluice(command);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.errors.find(" was made by `sluice grade`, which compares answers and judges no tests: "
                                  "`sluice quality --run "),
              std::string::npos)
        << refused.errors;
  }
}

// `sluice diff` called a grade by the verdict of its checks, which are no part of it.
TEST_F(Grade, TwoOfThemAreComparedAsWhatTheyAre) {
  graded({"--judge", "exact"});
  graded({"--judge", "exact"});
  const auto diff = run_sluice({"diff"});
  EXPECT_EQ(diff.exit_code, 0) << diff.errors;
  EXPECT_NE(diff.output.find(", m-2 of new: graded\n"), std::string::npos) << diff.output;
}

// Of the judge, which no test of the suite asks, `show` knew no price, and took that for nothing.
TEST_F(Grade, ShowSaysWhatTheJudgeCost) {
  graded({"--judge", "exact"});
  graded({"--judge", "llm", "--judge-provider", "new", "--judge-model", "gpt-4o"});
  const auto page = run_sluice({"show", "last", "france"});
  EXPECT_NE(page.output.find(" paid, $0.0"), std::string::npos) << page.output;
  EXPECT_EQ(page.output.find("$0.00\n"), std::string::npos) << page.output;
}

TEST_F(Grade, MockGradesAreNotKept) {
  const auto finished = run_sluice(with(grade({"--judge", "exact"}), "--mode", "mock"));
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_EQ(run_sluice({"quality"}).output, "Nothing is graded yet; `sluice grade` compares two arms.\n");
}

TEST_F(Grade, ATableShowsTheLowestFirst) {
  auto flags = grade({"--judge", "exact"});
  flags = with(std::move(flags), "--format", "table");
  const auto finished = run_sluice(flags);
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_TRUE(finished.output.starts_with("Grades of capitals: after beside before, by exact\n"))
      << finished.output;
  EXPECT_LT(finished.output.find("france"), finished.output.find("peru")) << finished.output;
}

TEST_F(Grade, ATestWithoutAGradeIsAnErrorAndNotAScore) {
  auto flags = by_llm();
  flags = with(std::move(flags), "--judge-provider", "old");  // It gives no comparison that can be read.
  const auto finished = run_sluice(grade(flags));
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  EXPECT_EQ(report["all"]["errors"], 3);
  EXPECT_TRUE(report["all"]["quality_score"].is_null());
  EXPECT_EQ(report["tests"][0]["reason_code"], "grade_unparsable");
  for (const char* arm : {"baseline", "candidate"})
    EXPECT_GT(report[arm]["output_tokens"], 0) << arm << ": its answers were paid for";
}

/// Forty pairs, of which the candidate is better by a tenth, compared by a judge that errs as the flags say.
class GradeBias : public Workbench {
 protected:
  json graded_by(const Flags& judge) {
    std::string suite = "suite: pairs\narms: [before=p:m-1, after=p:m-2]\ntests:\n";
    for (int i = 0; i < 40; ++i)
      suite += "  - {id: t" + std::to_string(i) + ", input: {prompt: \"question " + std::to_string(i) +
               ".\"}, expected: {type: regex_match, pattern: .}}\n";
    write_text(folder() / "suite.yaml", suite);
    const auto simulator = start_simulator(
        {R"({"contains": "question", "vote": false, "text": "[quality 0.4] the old one", "times": 40})",
         R"({"contains": "question", "vote": false, "text": "[quality 0.5] the new one"})"},
        judge);
    write_text(folder() / "sluice.toml", "[providers.p]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
                                             "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
    // The first arm alone takes the first forty answers.
    EXPECT_EQ(run_sluice({"run", "suite.yaml", "--mode", "live", "--arm", "before=p:m-1"}).exit_code, 0);
    const auto finished =
        run_sluice({"grade", "suite.yaml", "--mode", "live", "--baseline", "before", "--candidate", "after",
                    "--judge", "llm", "--judge-provider", "p", "--judge-model", "j", "--format", "json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
    return json::parse(finished.output, nullptr, false);
  }
};

TEST_F(GradeBias, ByPositionIsFoundAndMakesTies) {
  const json report = graded_by({"--judge-position-bias", "0.3"});
  EXPECT_EQ(report["all"]["quality_score"], 0.5);
  EXPECT_EQ(report["position_bias"]["flips"], 40);
  EXPECT_EQ(report["position_bias"]["toward_first"], 40);
  EXPECT_LT(report["position_bias"]["p"], 0.05);
}

TEST_F(GradeBias, ByPositionIsNotSaidOfAnHonestJudge) {
  const json report = graded_by({});
  EXPECT_NEAR(report["all"]["quality_score"].get<double>(), 0.55, 1e-9) << "half of the tenth";
  EXPECT_EQ(report["position_bias"]["flips"], 0);
  EXPECT_EQ(report["position_bias"]["p"], 1.0);
}

TEST_F(Grade, IsRefusedBeforeTheFirstCall) {
  const auto refused = [&](const Flags& flags, const std::string& text) {
    const auto finished = run_sluice(flags);
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    EXPECT_NE(finished.errors.find(text), std::string::npos) << finished.errors;
  };
  refused(grade({}), "--judge must say who compares: exact, embedding or llm");
  refused(grade({"--judge", "embeding"}), "did you mean \"embedding\"?");
  refused(grade({"--judge", "llm"}), "--judge llm needs a model that compares");
  refused(grade({"--judge", "exact", "--judge-seed", "1"}), "--judge-seed is about --judge llm");
  refused(with(grade({"--judge", "exact"}), "--candidate", "afer"), "did you mean \"after\"?");
  refused(with(grade({"--judge", "exact"}), "--candidate", "before"), "both name \"before\"");
  refused(with(grade({"--judge", "exact"}), "--candidate", "warm"), "differ in temperature");
  refused(with(grade({"--judge", "exact"}), "--format", "junit"), "grades are written as table or json");
  refused(grade({"--judge", "exact", "--arm", "before=old:m", "--arm", "after=old:m"}), "are the same model");
  EXPECT_EQ(calls(), 0u);
}

}  // namespace sluice::grade_test
