#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "gate_fixture.hpp"

#include <array>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::baseline_repeats_test {

const std::string with_repeats = R"({
  "schema_version": 2,
  "suite": "demo_suite",
  "assay_version": "0.1.0",
  "created_at": "2025-12-21T12:00:00Z",
  "config_fingerprint": "sha256:00ff",
  "stability": {"score": 0.92, "cases": 40, "answers": 280, "repeats": 3, "perturbations": ["crlf 1", "blank-lines 1"]},
  "entries": [
    {"test_id": "a", "metric": "claims_f1", "score": 0.5, "scores": [1, 0, 0.5], "meta": {"metric_version":"1"}},
    {"test_id": "b", "metric": "claims_f1", "score": 1}
  ]
}
)";

tl::expected<Baseline, Finding> parse(const std::string& text) {
  std::istringstream stream(text);
  return parse_baseline(stream, "base.json");
}

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = with_repeats;
  const auto place = text.find(old_text);
  EXPECT_NE(place, std::string::npos) << old_text;
  return text.replace(place, old_text.size(), new_text);
}

TEST(BaselineRepeats, AreReadAndWrittenAsTheyStand) {
  const auto baseline = parse(with_repeats);
  ASSERT_TRUE(baseline) << to_text(baseline.error());
  const auto scores = baseline->entry(0).scores;
  EXPECT_EQ(std::vector<double>(scores.begin(), scores.end()), (std::vector<double>{1, 0, 0.5}));
  EXPECT_TRUE(baseline->entry(1).scores.empty());
  ASSERT_TRUE(baseline->stability);
  EXPECT_EQ(*baseline->stability, (BaselineStability{0.92, 40, 280, 3, {"crlf 1", "blank-lines 1"}}));
  StringSink sink;
  write_baseline(*baseline, sink);
  EXPECT_EQ(sink.text(), with_repeats);
}

TEST(BaselineRepeats, WhatDoesNotFitIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {with("[1, 0, 0.5]", "[1, 2]"),
       "base.json:9: `entries[0].scores[1]` is 2, expected a number from 0 to 1"},
      {with("[1, 0, 0.5]", "[1, [0]]"),
       "base.json:9: `entries[0].scores[1]` is a list, expected a number from 0 to 1"},
      {with("[1, 0, 0.5]", "0.5"),
       "base.json:9: `entries[0].scores` is 0.5, expected a list of numbers from 0 to 1"},
      {with("\"score\": 0.92", "\"score\": 9"), "base.json:7: `stability` has no `score` from 0 to 1"},
      {with("[\"crlf 1\", \"blank-lines 1\"]", "7"),
       "base.json:7: `stability` has no list of texts `perturbations`"},
      {with("\"cases\": 40", "\"cases\": -3"),
       "base.json:7: `stability` has `cases` that is no whole number from 0"},
      {with("\"answers\": 280", "\"answers\": 0.5"),
       "base.json:7: `stability` has `answers` that is no whole number from 0"},
      {with("\"repeats\": 3", "\"repeats\": 0"),
       "base.json:7: `stability` has `repeats` that is no whole number from 1"},
      {with("[1, 0, 0.5]", "[0, 0, 0]"),
       "base.json:9: `entries[0].score` is 0.5, but the mean of its `scores` is 0"}};
  for (const auto& [text, message] : wrong) {
    const auto baseline = parse(text);
    ASSERT_FALSE(baseline) << text;
    EXPECT_EQ(to_text(baseline.error()), message);
  }
  const auto list =
      parse(with("{\"score\": 0.92, \"cases\": 40, \"answers\": 280, \"repeats\": 3, \"perturbations\": "
                 "[\"crlf 1\", \"blank-lines 1\"]}",
                 "[1]"));
  ASSERT_FALSE(list);
  EXPECT_EQ(to_text(list.error()), "base.json:7: `stability` is a list, expected an object");
}

TEST(BaselineRepeats, AScoreIsTheMeanOfItsRepeatsInBillionths) {
  EXPECT_TRUE(parse(
      with("\"score\": 0.5, \"scores\": [1, 0, 0.5]", "\"score\": 0.333333333, \"scores\": [1, 0, 0]")));
  EXPECT_TRUE(parse(
      with("\"score\": 0.5, \"scores\": [1, 0, 0.5]", "\"score\": 0.333333334, \"scores\": [1, 0, 0]")));
  EXPECT_FALSE(parse(
      with("\"score\": 0.5, \"scores\": [1, 0, 0.5]", "\"score\": 0.333333335, \"scores\": [1, 0, 0]")));
}

TEST(BaselineRepeats, AreExportedWhereThereWereSeveral) {
  AssessedMetric many;
  many.id = MetricId::claims_f1;
  many.score = 0.5;
  many.repeat_scores = {1.0, 0.0};
  AssessedMetric one = many;
  one.repeat_scores.clear();
  BaselineExport pinned({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "");
  pinned.add("a", {.metrics = {many}});
  pinned.add("b", {.metrics = {one}});
  const auto baseline = pinned.finish();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->entry(0).scores.size(), 2u);
  EXPECT_TRUE(baseline->entry(1).scores.empty());
}

}  // namespace sluice::baseline_repeats_test
