#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using sample::GatedSample;
using sample::SampleRun;

std::vector<std::string> lines_of(const std::string& text, const std::string& start) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) found.push_back(line);
  }
  return found;
}

TEST(GithubReport, RegressionsComeFirstThenFailuresThenErrors) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const auto errors = lines_of(github_of(run.input(aggregates)), "::error ");
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_TRUE(errors[0].starts_with(
      "::error file=evals/suite.yaml,line=12,title=Regressed%3A greet-002%3A Explains the refund | "
      "rules::Score: "
      "semantic_similarity_to 0.92 → 0.85 (-0.07), limit 0.87: dropped by more than is allowed%0A"))
      << errors[0];
  EXPECT_NE(errors[1].find("title=Regressed%3A jwt-003"), std::string::npos);
  EXPECT_NE(errors[2].find("title=Failed%3A greet-001"), std::string::npos);
  EXPECT_NE(errors[3].find("title=Error%3A tls-001"), std::string::npos);
}

TEST(GithubReport, ForeignTextCannotBeginAnotherCommand) {
  GatedSample run;
  run.suite.cases.held(0).name = "a,b:c%d\r\n::warning::owned";
  run.suite.cases.held(0).source = "a,b:c%.yaml";
  run.source.trials[0].unit.shown_text = "100%\n::error::owned\x1b[31m\u009b2J\n##[error]owned";
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.facts.cut_short = Error{Reason::interrupted, "##[add-mask]a\n::notice::owned"};
  input.verdict = sample::verdict_on(input);
  const std::string text = github_of(input);
  EXPECT_EQ(text.find("\u009b"), std::string::npos) << text;
  EXPECT_NE(text.find("file=evals/a%2Cb%3Ac%25.yaml,line=12,title=Failed%3A greet-001%3A a%2Cb%3Ac%25d  "
                      "%3A%3Awarning%3A%3Aowned::"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::istringstream lines(text);
  std::vector<std::string> plain;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("::error ") && !line.starts_with("::warning ") && !line.starts_with("::notice "))
      plain.push_back(line);
  }
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_TRUE(plain[0].starts_with("sluice: ✗ ERROR - ")) << plain[0];
  EXPECT_EQ(plain[0].find("##["), std::string::npos);
}

TEST(GithubReport, FilesAreNamedAsTheRepositoryNamesThem) {
  GatedSample run;
  run.suite.cases.held(0).source = "../shared/./a.toml";
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.source_folder = "./evals/";
  EXPECT_NE(github_of(input).find("::error file=shared/a.toml,line=12,"), std::string::npos)
      << github_of(input);
}

// A file of tests that the suite names by its absolute path was shown nowhere.
TEST(GithubReport, AFileOfAnAbsolutePathHasTheNameThatItIsGiven) {
  GatedSample run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.name_of_file = [](const std::filesystem::path& file) { return "name of " + file.generic_string(); };
  const auto expect_file = [&](const std::string& source, const std::string& shown) {
    run.suite.cases.held(0).source = source;
    EXPECT_NE(github_of(input).find("::error file=" + shown + ",line=12,"), std::string::npos)
        << github_of(input);
  };
  expect_file("t.csv", "evals/t.csv");
  expect_file("/repo/evals/../t.csv", "name of /repo/t.csv");
  input.source_folder = "/repo/evals";
  expect_file("suite.yaml", "name of /repo/evals/suite.yaml");
  input.name_of_file = {};
  expect_file("suite.yaml", "/repo/evals/suite.yaml");
}

// Each ended in an empty line.
TEST(GithubReport, NoAnnotationEndsInALineEnd) {
  const GatedSample run;
  const Aggregates aggregates = run.aggregates();
  EXPECT_EQ(github_of(run.input(aggregates)).find("%0A\n"), std::string::npos);
}

TEST(GithubReport, TenOfAKindAtMostAndTheLastCountsTheRest) {
  SampleRun run;
  const Case failed = *(*run.suite.cases.read(1));
  const CommittedTrial result = run.source.trials[1];
  run.suite.cases = {};
  run.source.trials.clear();
  for (const std::size_t many : {9u, 10u, 11u, 25u}) {
    while (run.suite.cases.size() < many) {
      Case one = failed;
      one.id = "edge-" + std::to_string(100 + run.suite.cases.size());
      run.source.trials.push_back(result);
      run.source.trials.back().trial = static_cast<TrialId>(run.suite.cases.size());
      run.suite.cases.push_back(one);
    }
    run.results.trials = many;
    const Aggregates aggregates = run.aggregates();
    const auto errors = lines_of(github_of(run.input(aggregates)), "::error ");
    EXPECT_EQ(errors.size(), std::min<std::size_t>(many, 10));
    EXPECT_EQ(errors.back().starts_with("::error title=" + std::to_string(many - 9) + " more::"), many > 10)
        << errors.back();
  }
}

// "The JSON report has them all", and the run had written none.
TEST(GithubReport, ACommandShowsWhatIsLeftOut) {
  SampleRun run;
  const Case failed = *(*run.suite.cases.read(1));
  const CommittedTrial result = run.source.trials[1];
  run.suite.cases = {};
  run.source.trials.clear();
  for (TrialId trial = 0; trial < 11; ++trial) {
    run.suite.cases.push_back(failed);
    run.source.trials.push_back(result);
    run.source.trials.back().trial = trial;
  }
  run.results.trials = 11;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.home_flag = " --home runs";
  const auto last = [&] { return lines_of(github_of(input), "::error ").back(); };
  EXPECT_TRUE(last().ends_with("::`sluice report 0191f7d2 --format json --home runs` has them all."))
      << last();
  input.home_flag.reset();
  EXPECT_TRUE(last().ends_with("::`--format json` has them all.")) << "no command will find the run";
}

TEST(GithubReport, DropsOfAggregatesAreErrorsOrWarnings) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 0.36, 0.5);
  input.verdict = sample::verdict_on(input);
  const std::string text = github_of(input);
  EXPECT_TRUE(text.starts_with("::error title=F1 against the baseline::F1 dropped by ")) << text;
  EXPECT_NE(text.find("::warning title=Recall against the baseline::Recall dropped by 2.67 points"),
            std::string::npos)
      << text;
}

TEST(GithubReport, AQuietRunSaysSoInOneLine) {
  SampleRun run;
  run.suite.cases.truncate(1);
  run.source.trials.resize(1);
  run.results.trials = 1;
  const Aggregates aggregates = run.aggregates();
  EXPECT_EQ(github_of(run.input(aggregates)), "sluice: ✓ PASS - 1 fixture passed\n");
}

TEST(GithubReport, ForeignTextTurnsNoDirection) {
  SampleRun run;
  run.suite.cases.held(1).name = "ab\u202edc\u2066";
  const Aggregates aggregates = run.aggregates();
  const std::string text = github_of(run.input(aggregates));
  EXPECT_FALSE(has_direction_controls(text)) << text;
}

}  // namespace
}  // namespace sluice
