#include "coordinator/merge/retrieval_fold.hpp"
#include "coordinator/report/commands/band_report.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::retrieval_report_test {

using nlohmann::json;

RetrievalEvent event(std::uint32_t case_index, const std::string& category, RetrievalKind kind) {
  RetrievalEvent one;
  one.case_index = case_index;
  one.category = category;
  one.kind = kind;
  one.plugin = "upgrades";
  one.embedder = "lexical-ngrams-v1";
  return one;
}

/// The events of the sample's cases, but for one that takes no examples.
JudgedRetrievals sample_retrievals(const sample::SampleRun& run) {
  using enum RetrievalKind;
  RetrievalFold fold({event(0, "auth", hit), event(1, "edge", degraded), event(2, "jwt", degraded),
                      event(3, "negative", miss), event(5, "tls", hit), event(6, "tls", miss)});
  EXPECT_TRUE(visit_cases(run.results, [&](const CaseResult& result) {
    fold.add(run.results.case_of(result.trial), result.status);
  }));
  return fold.finish();
}

TEST(RetrievalFold, CountsCasesAndWhatBecameOfThemByCategory) {
  const sample::SampleRun run;
  const JudgedRetrievals judged = sample_retrievals(run);
  std::string statuses;
  for (const RetrievalEvent& one : judged.events) statuses += one.status + " ";
  EXPECT_EQ(statuses, "pass fail fail pass fail error ");
  EXPECT_EQ(judged.summary.all, (RetrievalCounts{{{2, 1}, {2, 0}, {2, 1}}}));
  EXPECT_EQ(judged.summary.by_category.at("tls"), (RetrievalCounts{{{1, 0}, {0, 0}, {1, 0}}}));
  EXPECT_EQ(judged.summary.plugin, "upgrades");
  EXPECT_FALSE(judged.summary.by_category.contains("secrets"));
}

TEST(RetrievalReport, OutcomesStandByCategoryWithNearMatchesApart) {
  const sample::SampleRun run;
  const JudgedRetrievals judged = sample_retrievals(run);
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  EXPECT_FALSE(table_of(input, {.columns = 80}).find("Solved examples") != std::string::npos);
  EXPECT_FALSE(json::parse(json_of(input)).contains("retrieval"));
  input.retrieval = &judged.summary;
  expect_golden("retrieval_table_80.txt", table_of(input, {.columns = 80}));
  expect_golden("retrieval_report.md", markdown_of(input));
  const json retrieval = json::parse(json_of(input))["retrieval"];
  EXPECT_EQ(retrieval["degraded"], (json{{"cases", 2}, {"passed", 0}}));
  EXPECT_EQ(retrieval["by_category"]["tls"]["hit"]["cases"], 1);
  std::istringstream written(json_of(input));
  EXPECT_TRUE(parse_report(written, "report.json")) << "`sluice compare` has to pass over it";
}

std::vector<TripleCalibration> calibrations() {
  BandProposal proposal;
  proposal.high = {0.82, 0.801, 0.84};
  proposal.degraded = {0.61, 0.58, 0.63};
  proposal.bands = {{{120, 110}, {100, 60}, {100, 12}}};
  return {{{"bump", "java", ""}, {0.85, 0.65}, 320, proposal},
          {{}, {0.85, 0.65}, 119, EvidenceMissing{1}},
          {{"", "rust", ""}, {0.85, 0.65}, 400, EvidenceMissing{}}};
}

TEST(BandReport, SaysFloorsIntervalsAndWhatIsMissing) {
  EXPECT_EQ(bands_text(calibrations()),
            "task class \"bump\", language \"java\", 320 cases\n"
            "  high_floor      0.850 -> 0.820  (0.801 to 0.840)\n"
            "  degraded_floor  0.650 -> 0.610  (0.580 to 0.630)\n"
            "  passed: hit 110 of 120; degraded 60 of 100; miss 12 of 100\n"
            "any case, 119 cases: no proposal: about 1 more case of this kind is missing\n"
            "language \"rust\", 400 cases: no proposal: their pass rates do not rise with the similarity in "
            "three steps\n");
  const json written = json::parse(bands_json(calibrations()));
  EXPECT_EQ(written[0]["high_floor"],
            (json{{"current", 0.85}, {"proposed", 0.82}, {"low", 0.801}, {"high", 0.84}}));
  EXPECT_EQ(written[0]["missing_cases"], 0);
  EXPECT_EQ(written[0]["degraded"], (json{{"cases", 100}, {"passed", 60}}));
  EXPECT_EQ(written[1]["missing_cases"], 1);
  EXPECT_TRUE(written[2]["missing_cases"].is_null());
}

}  // namespace sluice::retrieval_report_test
