#include "coordinator/report/commands/several_runs.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

ComparedCase checked(std::string id, bool passed, bool is_known = false) {
  ComparedMetric check;
  check.name = "must_contain";
  check.passed = passed;
  check.asked_by_name = true;
  return {std::move(id), false, {check}, is_known};
}

ComparedCase scored(std::string id, double score, bool is_known = false) {
  ComparedMetric metric;
  metric.name = "rouge_n";
  metric.score = score;
  return {std::move(id), false, {metric}, is_known};
}

NextCase cases_of(std::vector<ComparedCase> cases) {
  const auto all = std::make_shared<std::vector<ComparedCase>>(std::move(cases));
  return [all, next = std::size_t{0}]() mutable -> Result<const ComparedCase*> {
    return next == all->size() ? nullptr : &(*all)[next++];
  };
}

using Cases = std::vector<ComparedCase>;

CompareReportInput input_of(const Cases& base, const Cases& current, const std::string& file) {
  CompareReportInput input;
  input.current.file = file;
  input.current.kind = "report";
  input.visit = [base, current](const std::function<void(const ScoreComparison&)>& visit) {
    return compare(cases_of(base), cases_of(current), {}, visit);
  };
  input.summary = *input.visit([](const ScoreComparison&) {});
  return input;
}

/// Each beside the first.
SeveralRuns beside_the_first(const std::vector<Cases>& runs) {
  SeveralRuns several;
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_TRUE(several.add(input_of(runs.front(), runs[i], "run-" + std::to_string(i))));
  return several;
}

json json_of(const SeveralRuns& runs) {
  StringSink sink;
  EXPECT_TRUE(runs.write_json(0, sink));
  return json::parse(sink.text());
}

std::string table_of(const SeveralRuns& runs) {
  StringSink sink;
  EXPECT_TRUE(runs.write_table({.columns = 120}, sink));
  return sink.text();
}

// The second side has them in another order: they were compared by their places.
TEST(SeveralRuns, AChecksPlaceIsWhereverItStands) {
  const auto both = [](CheckDigest first, bool first_passed, CheckDigest second, bool second_passed) {
    ComparedCase one = checked("a", first_passed);
    one.metrics[0].check = first;
    ComparedMetric& other = one.metrics.emplace_back(one.metrics[0]);
    other.check = second;
    other.passed = second_passed;
    return Cases{one};
  };
  const Cases base = both(7, true, 8, false);
  EXPECT_EQ(json_of(beside_the_first({base, both(8, false, 7, true), base}))["differences"].size(), 0u);
  const json changed = json_of(beside_the_first({base, both(8, true, 7, true), base}))["differences"];
  ASSERT_EQ(changed.size(), 1u) << changed;
  EXPECT_EQ(changed[0]["check"], 2u) << "the second of the first side's";
  EXPECT_EQ(json_of(beside_the_first({base, both(0, true, 0, false), base}))["differences"].size(), 0u)
      << "a side that does not say which check it is goes by its order";
}

// They counted as broken, as worse and as failed, and the run itself had passed.
TEST(SeveralRuns, KnownFailuresAreApart) {
  const Cases base{checked("a", true), checked("b", true), checked("c", false), scored("d", 0.9)};
  const Cases known{checked("a", true), checked("b", false, true), checked("c", false, true),
                    scored("d", 0.2, true)};
  const auto runs = beside_the_first({base, known, base});
  const json side = json_of(runs)["runs"][1];
  EXPECT_EQ(side["passed"], 1);
  EXPECT_EQ(side["failed"], 0);
  EXPECT_EQ(side["known_failures"], 3);
  EXPECT_EQ(side["broke"], 0);
  EXPECT_EQ(side["regressions"], 0);
  EXPECT_EQ(side["verdict"], "pass");
  EXPECT_NE(table_of(runs).find("Known failures"), std::string::npos) << table_of(runs);
}

TEST(SeveralRuns, WithoutKnownFailuresNothingIsSaidOfThem) {
  const Cases base{checked("a", true), checked("b", false)};
  const Cases worse{checked("a", false), checked("b", false)};
  const auto runs = beside_the_first({base, worse, base});
  const json sides = json_of(runs)["runs"];
  EXPECT_FALSE(sides[1].contains("known_failures"));
  EXPECT_EQ(sides[0]["failed"], 1) << "it fails, whether it is compared with itself or not";
  EXPECT_EQ(sides[1]["failed"], 2);
  EXPECT_EQ(sides[1]["broke"], 1);
  EXPECT_EQ(table_of(runs).find("Known failures"), std::string::npos);
}

}  // namespace
}  // namespace sluice
