// The built-in rules over the shipped fixtures: they must be neither perfect nor useless, or a report made
// with the simulator would show nothing.

#include "tests/provider_sim/claim_rules.hpp"
#include "tests/support/paths.hpp"

#include <filesystem>
#include <iostream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

namespace sluice::sim {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int found = 0;
  int wrong = 0;
  int missed = 0;
  std::string details;  ///< Shown when the test fails.
  double precision() const { return static_cast<double>(found) / (found + wrong); }
  double recall() const { return static_cast<double>(found) / (found + missed); }
};

std::string fact(const std::string& subject, const std::string& predicate, const std::string& value) {
  return subject + ' ' + predicate + ' ' + value;
}

std::string json_value(const toml::node& node) {
  if (node.is_boolean()) return node.value_or(false) ? "true" : "false";
  if (node.is_string()) return nlohmann::json(node.value_or(std::string())).dump();
  if (node.is_integer()) return std::to_string(node.value_or(std::int64_t{0}));
  return nlohmann::json(node.value_or(0.0)).dump();
}

std::set<std::string> expected_facts(const toml::table& fixture) {
  std::set<std::string> facts;
  const auto* list = fixture["expected"]["must_contain"].as_array();
  if (list == nullptr) return facts;
  for (const auto& node : *list) {
    const toml::table& claim = *node.as_table();
    facts.insert(fact(claim["subject"].value_or(std::string()), claim["predicate"].value_or(std::string()),
                      json_value(*claim.get("value"))));
  }
  return facts;
}

std::set<std::string> extracted_facts(const toml::table& fixture) {
  const auto message =
      "Language: x\n----- FILE -----\n" + fixture["input"]["content"].value_or(std::string());
  const double min_confidence = fixture["scoring"]["min_confidence"].value_or(0.0);
  std::set<std::string> facts;
  const auto answer = nlohmann::json::parse(extract_claims(message));
  for (const auto& claim : answer["claims"]) {
    if (claim["confidence"].get<double>() < min_confidence) continue;
    facts.insert(fact(claim["subject"], claim["predicate"], claim["value"].dump()));
  }
  return facts;
}

void count(const toml::table& fixture, Tally& tally) {
  const auto id = fixture["metadata"]["id"].value_or(std::string());
  const auto expected = expected_facts(fixture);
  const auto extracted = extracted_facts(fixture);
  for (const auto& claim : extracted) {
    const bool right = expected.contains(claim);
    right ? ++tally.found : ++tally.wrong;
    if (!right) tally.details += id + " unexpected: " + claim + '\n';
  }
  for (const auto& claim : expected) {
    if (extracted.contains(claim)) continue;
    ++tally.missed;
    tally.details += id + " missed:     " + claim + '\n';
  }
}

TEST(Corpus, RulesFindMostIssuesButNotAllAndErrSometimes) {
  Tally tally;
  for (const auto& entry : fs::recursive_directory_iterator(support::source_path("tests/llm_fixtures"))) {
    if (entry.path().extension() != ".toml" || entry.path().filename() == "manifest.toml") continue;
    const auto parsed = toml::parse_file(entry.path().string());
    ASSERT_TRUE(parsed) << entry.path() << ": " << parsed.error();
    count(parsed.table(), tally);
  }
  std::cout << "precision " << tally.precision() << ", recall " << tally.recall() << " (" << tally.found
            << " found, " << tally.wrong << " wrong, " << tally.missed << " missed)\n";
  EXPECT_GE(tally.found, 20);
  EXPECT_GE(tally.precision(), 0.7) << tally.details;
  EXPECT_LE(tally.precision(), 0.92) << tally.details;
  EXPECT_GE(tally.recall(), 0.7) << tally.details;
  EXPECT_LE(tally.recall(), 0.92) << tally.details;
}

}  // namespace
}  // namespace sluice::sim
