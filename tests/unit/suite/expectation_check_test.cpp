#include "coordinator/suite/fixtures/expectation_check.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using RemarkKind = ExpectationRemark::Kind;

constexpr std::string_view checked_words = R"(
version = "1"
[[subject]]
path = "tls/min_version"
synonyms = ["tls/version"]
[[subject.predicate]]
name = "value"
type = "text"
synonyms = ["version"]
[[subject]]
path = "tls/verify"
[[subject.predicate]]
name = "enabled"
type = "boolean"
[[subject.predicate]]
name = "depth"
type = "number"
)";

ExpectedClaim expectation(std::string subject, std::string predicate, ClaimValue value) {
  return {std::move(subject), std::move(predicate), std::move(value), std::nullopt};
}

std::vector<ExpectationRemark> remarks(std::vector<ExpectedClaim> required,
                                       std::vector<ExpectedClaim> forbidden = {}) {
  Case one;
  one.id = "a-1";
  one.must_contain = std::move(required);
  one.must_not_contain = std::move(forbidden);
  return check_expectations(one, Ontology::parse(checked_words, "words.toml").value());
}

TEST(ExpectationCheck, HasNothingToSayOfTheOntologysOwnWords) {
  EXPECT_TRUE(remarks({expectation("tls/min_version", "value", std::string("1.0")),
                       expectation("tls/verify", "enabled", false), expectation("tls/verify", "depth", 2.0)},
                      {expectation("tls/verify", "enabled", true)})
                  .empty());
}

TEST(ExpectationCheck, ASynonymIsNoWarningAnyMore) {
  EXPECT_EQ(remarks({expectation("tls/version", "version", std::string("1.0"))}),
            (std::vector<ExpectationRemark>{{RemarkKind::note,
                                             "a-1 names tls/version/version = \"1.0\", taken for "
                                             "tls/min_version/value = \"1.0\""}}));
  EXPECT_EQ(remarks({expectation("tls/verify", "enabled", std::string("off"))}),
            (std::vector<ExpectationRemark>{
                {RemarkKind::note,
                 "a-1 names tls/verify/enabled = \"off\", taken for tls/verify/enabled = false"}}));
}

// Half of a secret fits no pattern.
TEST(ExpectationCheck, QuotesAreRedactedBeforeTheyAreCut) {
  const std::vector<RedactionPattern> patterns{{"key", "sk-[0-9]{20}"}};
  const Redactor redactor = *Redactor::make(patterns);
  const Ontology ontology = Ontology::parse(checked_words, "words.toml").value();
  for (std::size_t before = 150; before <= defaults::quoted_bytes; ++before) {
    Case one;
    one.must_contain = {
        expectation("tls/version", "version", std::string(before, 'v') + " sk-01234567890123456789")};
    const auto found = check_expectations(one, ontology, redactor);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].words.find("sk-"), std::string::npos) << found[0].words;
  }
}

TEST(ExpectationCheck, WhatNoAnswerCanMatchIsAWarning) {
  EXPECT_EQ(remarks({expectation("no/such", "thing", true)}),
            (std::vector<ExpectationRemark>{
                {RemarkKind::warning, "a-1 names no/such/thing, which the ontology does not have"}}));
  EXPECT_EQ(remarks({expectation("tls/verify", "enabled", std::string("maybe"))}),
            (std::vector<ExpectationRemark>{
                {RemarkKind::warning,
                 "a-1 names tls/verify/enabled = \"maybe\", where the ontology asks for a boolean"}}));
  EXPECT_EQ(
      remarks({expectation("tls/verify", "depth", true)}),
      (std::vector<ExpectationRemark>{
          {RemarkKind::warning, "a-1 names tls/verify/depth = true, where the ontology asks for a number"}}));
}

TEST(ExpectationCheck, OneClaimInTwoWordsCannotBeRight) {
  const auto own = expectation("tls/min_version", "value", std::string("1.0"));
  const auto other = expectation("tls/min_version", "version", std::string("1.0"));
  const auto twice = remarks({own, other});
  ASSERT_EQ(twice.size(), 2u);
  EXPECT_EQ(twice[1], (ExpectationRemark{RemarkKind::finding,
                                         "a-1 lists tls/min_version/value = \"1.0\" and "
                                         "tls/min_version/version = \"1.0\", which are one claim, "
                                         "tls/min_version/value = \"1.0\""}));
  const auto contradiction = remarks({own}, {other});
  ASSERT_EQ(contradiction.size(), 2u);
  EXPECT_EQ(contradiction[1], (ExpectationRemark{RemarkKind::finding,
                                                 "a-1 requires tls/min_version/value = \"1.0\" and forbids "
                                                 "tls/min_version/version = \"1.0\", which are one claim, "
                                                 "tls/min_version/value = \"1.0\""}));
}

// A run paid for tests that can never pass, and said nothing of words that the ontology lacks.
TEST(ExpectationCheck, OfASuiteARunLearnsWhatIsNotWorthPaying) {
  const Ontology ontology = Ontology::parse(checked_words, "words.toml").value();
  const auto case_with = [](const char* id, ExpectedClaim claim) {
    Case one;
    one.id = id;
    one.source = "a.toml";
    one.line = 2;
    one.must_contain = {std::move(claim)};
    return one;
  };
  Case contradicts = case_with("c", expectation("tls/verify", "enabled", std::string("off")));
  contradicts.must_not_contain = {expectation("tls/verify", "enabled", false)};
  Suite suite;
  suite.metrics = {MetricId::claims_f1};
  suite.cases = {case_with("a", expectation("no/such", "thing", true)),
                 case_with("b", expectation("nor", "this", true)), contradicts};
  const auto checked = check_expectations(suite, ontology);
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->findings.size(), 1u);
  EXPECT_TRUE(to_text(checked->findings[0]).starts_with("a.toml:2: c requires tls/verify/enabled = \"off\""))
      << to_text(checked->findings[0]);
  EXPECT_EQ(
      checked->warning,
      "a.toml:2: a names no/such/thing, which the ontology does not have; there are 2 such expectations, "
      "and `sluice validate-fixtures` lists them");
  suite.cases = {case_with("d", expectation("tls/verify", "enabled", false))};
  EXPECT_EQ(check_expectations(suite, ontology)->warning, std::nullopt);
}

}  // namespace
}  // namespace sluice
