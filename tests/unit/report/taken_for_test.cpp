#include "config/embedded_config.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::SampleRun;

/// A case whose expectations are in synonyms.
class TakenFor : public testing::Test {
 protected:
  TakenFor() {
    Case& one = run_.suite.cases.held(5);
    one.must_contain[1] = sample::expect("tls/version", "version", std::string("1.0"), "Old");
    one.must_not_contain[0] = sample::expect("tls/verify", "active", std::string("on"), "It is off");
    run_.results.ontology = &ontology_;
  }

  const Ontology ontology_ = Ontology::parse(embedded::ontology, "ontology.toml").value();
  SampleRun run_;
};

TEST_F(TakenFor, TheReportsShowWhatWasWrittenAndWhatItWasTakenFor) {
  const Aggregates aggregates = run_.aggregates();
  const ReportInput input = run_.input(aggregates);
  const json one = json::parse(json_of(input))["fixture_results"][5];
  EXPECT_EQ(one["missing"][1]["subject"], "tls/version");
  EXPECT_EQ(one["missing"][1]["predicate"], "version");
  EXPECT_EQ(one["missing"][1]["taken_for"],
            json({{"subject", "tls/min_version"}, {"predicate", "value"}, {"value", "1.0"}}));
  EXPECT_EQ(one["forbidden"][0]["value"], "on");
  EXPECT_EQ(one["forbidden"][0]["taken_for"],
            json({{"subject", "tls/cert_verification"}, {"predicate", "enabled"}, {"value", true}}));

  const std::string missed = R"(tls/version/version = "1.0", taken for tls/min_version/value = "1.0")";
  const std::string forbidden = R"(, forbidden as tls/verify/active = "on")";
  const std::string table = table_of(input, {.columns = 200});
  EXPECT_NE(table.find(missed), std::string::npos) << table;
  EXPECT_NE(table.find(forbidden), std::string::npos) << table;
  EXPECT_NE(markdown_of(input).find(missed), std::string::npos);
  EXPECT_NE(junit_of(input).find("taken for tls/min_version/value"), std::string::npos);
}

TEST_F(TakenFor, NothingIsAddedWhereTheyAreTheSame) {
  const json report = json::parse(json_of(run_.input(run_.aggregates())));
  const json& same = report["fixture_results"][5]["missing"][0];
  EXPECT_EQ(same["subject"], "tls/cert_verification");
  EXPECT_FALSE(same.contains("taken_for"));
  SampleRun plain;
  const Aggregates aggregates = plain.aggregates();
  const std::string before = json_of(plain.input(aggregates));
  plain.results.ontology = &ontology_;
  EXPECT_EQ(json_of(plain.input(aggregates)), before);
}

TEST_F(TakenFor, WhatCameInsteadIsLookedForInTheOntologysWords) {
  run_.source.trials[5].unit.claims[2] = sample::claim("tls/min_version", "value", std::string("1.1"), 0.9);
  const json report = json::parse(json_of(run_.input(run_.aggregates())));
  EXPECT_EQ(report["fixture_results"][5]["missing"][1]["got"]["value"], "1.1");
}

}  // namespace
}  // namespace sluice
