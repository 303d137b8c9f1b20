#include "common/model/ontology.hpp"

#include "config/embedded_config.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::string_view sample = R"(
version = "2.1.0"

[[subject]]
path = "tls/cert_verification"
description = "Whether certificates are checked."
synonyms = ["tls/verify", "ssl/certificate_check"]
[[subject.predicate]]
name = "enabled"
type = "boolean"
description = "false when off"
synonyms = ["verified", "is_active"]
[[subject.predicate]]
name = "depth"
type = "number"

[[subject]]
path = "tls/min_version"
[[subject.predicate]]
name = "value"
type = "text"

[[subject]]
path = "jwt/min_version"
[[subject.predicate]]
name = "value"
type = "text"

[[subject]]
path = "crypto/symmetric_keys"
[[subject.predicate]]
name = "sha1_used"
type = "boolean"

[[subject]]
path = "crypto/hmac_digest"
[[subject.predicate]]
name = "value"
type = "text"

[[subject]]
path = "crypto/hmac_digits"
[[subject.predicate]]
name = "value"
type = "number"
)";

Ontology ontology() {
  return Ontology::parse(sample, "sample.toml").value();
}

FinalClaim resolved(const Ontology& words, std::string subject, std::string predicate) {
  return words.resolve({std::move(subject), std::move(predicate), std::string("v"), 0.7, 12});
}

TEST(Ontology, IsReadWhole) {
  const Ontology words = ontology();
  EXPECT_EQ(words.version(), "2.1.0");
  ASSERT_EQ(words.subjects().size(), 6u);
  const OntologySubject& first = words.subjects()[0];
  EXPECT_EQ(first.path, "tls/cert_verification");
  EXPECT_EQ(first.description, "Whether certificates are checked.");
  EXPECT_EQ(first.synonyms, (std::vector<std::string>{"tls/verify", "ssl/certificate_check"}));
  ASSERT_EQ(first.predicates.size(), 2u);
  EXPECT_EQ(first.predicates[0].synonyms, (std::vector<std::string>{"verified", "is_active"}));
  EXPECT_EQ(first.predicates[0].type, ValueType::boolean);
  EXPECT_EQ(first.predicates[1].type, ValueType::number);
  EXPECT_EQ(words.subjects()[1].predicates[0].type, ValueType::text);
}

struct ResolveCase {
  std::string subject;
  std::string predicate;
  std::string path;  ///< Empty: the claim keeps its own words.
  std::string name;
  bool fuzzy;
};

void PrintTo(const ResolveCase& c, std::ostream* out) {
  *out << c.subject << " " << c.predicate;
}

class Resolve : public testing::TestWithParam<ResolveCase> {};

TEST_P(Resolve, FindsTheOntologysWords) {
  const ResolveCase& c = GetParam();
  const FinalClaim claim = resolved(ontology(), c.subject, c.predicate);
  const bool found = !c.path.empty();
  EXPECT_EQ(claim, (FinalClaim{found ? c.path : c.subject, found ? c.name : c.predicate, std::string("v"),
                               0.7, 12, found, c.fuzzy}));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Resolve,
    testing::Values(
        ResolveCase{"tls/cert_verification", "enabled", "tls/cert_verification", "enabled", false},
        ResolveCase{"tls/cert_verification", "depth", "tls/cert_verification", "depth", false},
        // Synonyms.
        ResolveCase{"tls/verify", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"ssl/certificate_check", "verified", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls/cert_verification", "is_active", "tls/cert_verification", "enabled", true},
        // Case and separators.
        ResolveCase{"TLS/CertVerification", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls::cert-verification", "Enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls.cert verification/", "isActive", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls_cert_verification", "enabled", "tls/cert_verification", "enabled", true},
        // Leading segments, too many or too few.
        ResolveCase{"code://python/tls/cert_verification", "enabled", "tls/cert_verification", "enabled",
                    true},
        ResolveCase{"app/tls/verify", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"cert_verification", "enabled", "tls/cert_verification", "enabled", true},
        // Slips of the hand.
        ResolveCase{"tls/cert_verifications", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls/cert_verfication", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls/cert_verificatoin", "enabled", "tls/cert_verification", "enabled", true},
        ResolveCase{"tls/cert_verification", "enable", "tls/cert_verification", "enabled", true},
        // None.
        ResolveCase{"tls/cert_verification", "disabled", "", "", false},
        ResolveCase{"tls/cert_verification", "", "", "", false},
        ResolveCase{"tls/max_version", "value", "", "", false},
        ResolveCase{"crypto/asymmetric_keys", "sha1_used", "", "", false},
        ResolveCase{"crypto/symmetric_keys", "sha2_used", "", "", false},
        ResolveCase{"sql/injection", "enabled", "", "", false}, ResolveCase{"", "enabled", "", "", false},
        ResolveCase{"///", "enabled", "", "", false}, ResolveCase{"tls", "enabled", "", "", false},
        // Two subjects are equally near.
        ResolveCase{"min_version", "value", "", "", false}));

TEST(Resolve, TwoEquallyNearSubjectsAreNone) {
  const Ontology words = Ontology::parse(R"(
version = "1"
[[subject]]
path = "crypto/digest"
[[subject.predicate]]
name = "value"
type = "text"
[[subject]]
path = "crypto/digesta"
[[subject.predicate]]
name = "value"
type = "text"
)",
                                         "o")
                             .value();
  EXPECT_EQ(resolved(words, "crypto/digesta", "value").concept_path, "crypto/digesta");
  EXPECT_EQ(resolved(words, "crypto/digst", "value").concept_path, "crypto/digest");
  EXPECT_FALSE(resolved(words, "crypto/digestb", "value").matched_ontology);
}

TEST(Resolve, EmptyOntologyKeepsEverything) {
  const FinalClaim claim = resolved(Ontology(), "a/b", "p");
  EXPECT_FALSE(claim.matched_ontology);
  EXPECT_EQ(claim.concept_path, "a/b");
}

TEST(Resolve, CopiesOutliveTheirOriginal) {
  Ontology copy;
  {
    const Ontology original = ontology();
    copy = original;
  }
  EXPECT_TRUE(resolved(copy, "tls/verify", "enabled").matched_ontology);
}

TEST(OntologyErrors, NameFileAndLine) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::string subject = "version=\"1\"\n[[subject]]\npath=\"a/b\"\n";
  const std::string predicate = "[[subject.predicate]]\nname=\"p\"\ntype=\"text\"\n";
  for (const Case& c : std::vector<Case>{
           {"version = ", "o.toml:1"},
           {"version=\"1\"\n", "\"subject\""},
           {subject + "[[subject.predicate]]\nname=\"p\"\ntype=\"string\"\n", "o.toml:6: \"type\""},
           {subject + "[[subject.predicate]]\ntype=\"text\"\n", "\"name\""},
           {subject, "\"predicate\""},
           {subject + "synonims=[]\n" + predicate, "o.toml:4"},
           {subject + "synonyms=[7]\n" + predicate, "o.toml:4: a synonym must be a string"},
           {subject + "synonyms=[\"\"]\n" + predicate, "not an empty one"},
           {subject + predicate + "[[subject]]\npath=\"a/b\"\n" + predicate,
            "o.toml:8: \"a/b\" is already a name"},
           {subject + predicate + "[[subject]]\npath=\"A/B\"\n" + predicate,
            "o.toml:8: \"A/B\" is already a name"},
           {subject + predicate + "[[subject]]\npath=\"c/d\"\nsynonyms=[\"a/b\"]\n" + predicate,
            "o.toml:9: \"a/b\" is already a name of \"a/b\""},
           {subject + "synonyms=[\"x\",\"x\"]\n" + predicate, "o.toml:4: \"x\" is already a name"},
           {subject + predicate + predicate, "o.toml:8: \"p\" is already a name of \"p\""},
       }) {
    const auto parsed = Ontology::parse(c.text, "o.toml");
    ASSERT_FALSE(parsed) << c.text;
    EXPECT_EQ(parsed.error().reason, Reason::settings_invalid);
    EXPECT_EQ(parsed.error().message.rfind("o.toml:", 0), 0u) << parsed.error().message;
    EXPECT_NE(parsed.error().message.find(c.message), std::string::npos) << parsed.error().message;
  }
}

TEST(ShippedOntology, EveryNameLeadsHome) {
  const auto parsed = Ontology::parse(embedded::ontology, "config/ontology.toml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_FALSE(parsed->subjects().empty());
  for (const OntologySubject& subject : parsed->subjects()) {
    for (const OntologyPredicate& predicate : subject.predicates) {
      const FinalClaim exact = resolved(*parsed, subject.path, predicate.name);
      EXPECT_TRUE(exact.matched_ontology && !exact.fuzzy_matched) << subject.path;
      for (const std::string& synonym : subject.synonyms) {
        const FinalClaim near = resolved(*parsed, synonym, predicate.name);
        EXPECT_EQ(near.concept_path, subject.path) << synonym;
        EXPECT_TRUE(near.fuzzy_matched) << synonym;
      }
      for (const std::string& synonym : predicate.synonyms) {
        EXPECT_EQ(resolved(*parsed, subject.path, synonym).predicate, predicate.name)
            << subject.path << synonym;
      }
    }
  }
}

ExpectedClaim expectation(std::string subject, std::string predicate, ClaimValue value) {
  return {std::move(subject), std::move(predicate), std::move(value), "why"};
}

TEST(Ontology, TakesExpectationsAsItTakesClaims) {
  const Ontology words = ontology();
  EXPECT_EQ(words.canonical(expectation("ssl/certificate_check", "verified", false)),
            expectation("tls/cert_verification", "enabled", false));
  EXPECT_EQ(words.canonical(expectation("tls/cert_verification", "enabled", false)),
            expectation("tls/cert_verification", "enabled", false));
  EXPECT_EQ(words.canonical(expectation("own/words", "p", std::string("off"))),
            expectation("own/words", "p", std::string("off")))
      << "outside of the ontology nothing is known";
}

TEST(Ontology, TakesAnExpectedValueInThePredicatesType) {
  const Ontology words = ontology();
  const auto value = [&](std::string subject, std::string predicate, ClaimValue written) {
    return words.canonical(expectation(std::move(subject), std::move(predicate), std::move(written))).value;
  };
  using Text = std::string;
  EXPECT_EQ(value("tls/verify", "enabled", Text("Off")), ClaimValue(false));
  EXPECT_EQ(value("tls/verify", "enabled", Text("maybe")), ClaimValue(Text("maybe")));
  EXPECT_EQ(value("tls/verify", "enabled", Text("1")), ClaimValue(Text("1")))
      << "agrees with a true and with a 1 as it stands";
  EXPECT_EQ(value("tls/verify", "depth", Text("2.0")), ClaimValue(2.0));
  EXPECT_EQ(value("tls/verify", "depth", Text("-0")), ClaimValue(0.0));
  EXPECT_EQ(value("tls/verify", "depth", Text("2 levels")), ClaimValue(Text("2 levels")));
  EXPECT_EQ(value("tls/min_version", "value", Text("1.0")), ClaimValue(Text("1.0")));
  EXPECT_EQ(value("tls/min_version", "value", 1.0), ClaimValue(1.0)) << "1 or 1.0? The matcher takes both";
}

TEST(Ontology, KnowsTheTypeOfItsOwnNamesAlone) {
  const Ontology words = ontology();
  EXPECT_EQ(words.type_of("tls/cert_verification", "depth"), ValueType::number);
  EXPECT_EQ(words.type_of("tls/verify", "depth"), std::nullopt);
  EXPECT_EQ(words.type_of("tls/cert_verification", "verified"), std::nullopt);
  EXPECT_EQ(Ontology().type_of("tls/cert_verification", "depth"), std::nullopt);
}

}  // namespace
}  // namespace sluice
