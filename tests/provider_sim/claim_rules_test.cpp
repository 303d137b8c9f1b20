#include "tests/provider_sim/claim_rules.hpp"

#include "tests/provider_sim/trigger_scanner.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

namespace sluice::sim {
namespace {

using Json = nlohmann::json;

Json claims_of(const std::string& message) {
  return Json::parse(extract_claims(message)).at("claims");
}

TEST(TriggerScanner, FindsOverlappingWordsWhateverTheirCase) {
  const std::string_view words[] = {"he", "she", "hers", "his"};
  const TriggerScanner scanner(words);
  std::multiset<std::pair<std::uint32_t, std::size_t>> found;
  for (const auto& hit : scanner.scan("uSHErs, his")) found.insert({hit.trigger, hit.end});
  const std::multiset<std::pair<std::uint32_t, std::size_t>> expected{{1, 4}, {0, 4}, {2, 6}, {3, 11}};
  EXPECT_EQ(found, expected);
}

TEST(ClaimRules, UseTheVocabularyOfTheOntology) {
  const auto ontology = toml::parse_file(support::source_path("config/ontology.toml"));
  ASSERT_TRUE(ontology) << ontology.error();
  std::map<std::pair<std::string, std::string>, std::string> types;
  for (const auto& subject : *ontology.table()["subject"].as_array()) {
    for (const auto& predicate : *(*subject.as_table())["predicate"].as_array()) {
      const auto& table = *predicate.as_table();
      types[{(*subject.as_table())["path"].value_or(std::string()), table["name"].value_or(std::string())}] =
          table["type"].value_or(std::string());
    }
  }
  for (const auto& rule : claim_rules()) {
    const auto type = types[{std::string(rule.subject), std::string(rule.predicate)}];
    const Json value = Json::parse(rule.value);
    const bool fits = type == "boolean" ? value.is_boolean()
                      : type == "text"  ? value.is_string()
                                        : value.is_number();
    EXPECT_TRUE(!type.empty() && fits) << rule.subject << '/' << rule.predicate << " = " << rule.value;
    EXPECT_TRUE(rule.confidence > 0 && rule.confidence <= 1) << rule.trigger;
    EXPECT_FALSE(rule.trigger.empty());
  }
}

TEST(ClaimRules, MakeACompleteClaim) {
  const Json expected = Json::parse(
      R"([{"subject":"tls/cert_verification","predicate":"enabled","value":false,"confidence":0.97,"line":3}])");
  const std::string code = "import requests\n\nr = requests.get(url, verify=False)\n";
  EXPECT_EQ(claims_of(code), expected);
  EXPECT_EQ(claims_of("Language: python\nThe file follows.\n----- FILE -----\n" + code), expected);
  EXPECT_EQ(claims_of("Review this:\n```python\n" + code + "```\nThank you."), expected);
}

TEST(ClaimRules, StateEachFactOnceAndInOrder) {
  const auto claims = claims_of("a = 'ghp_0123456789'\nget(u, verify=False)\nget(v, verify=False)\n");
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0]["subject"], "secrets/token");
  EXPECT_EQ(claims[1]["line"], 2);
}

TEST(ClaimRules, LookAtWhatStandsAroundATrigger) {
  EXPECT_EQ(claims_of("import jwt\njwt.decode(t, verify=False)")[0]["subject"], "jwt/signature_verification");
  EXPECT_EQ(claims_of("password = \"Winter2024!x\"").size(), 1u);
  EXPECT_TRUE(claims_of("password = \"<your password>\"").empty());
  EXPECT_TRUE(claims_of("password = \"changeme\"").empty());
  EXPECT_TRUE(claims_of("password = os.environ[\"PASSWORD\"]").empty());
  EXPECT_EQ(claims_of("url = \"postgres://app:s3cr3t@db/app\"").size(), 1u);
  EXPECT_TRUE(claims_of("url = \"postgres://db/app\"").empty());
  EXPECT_TRUE(claims_of("  # requests.get(url, verify=False)").empty());
  EXPECT_EQ(extract_claims(""), R"({"claims":[]})");
}

}  // namespace
}  // namespace sluice::sim
