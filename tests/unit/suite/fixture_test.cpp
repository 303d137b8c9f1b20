#include "coordinator/suite/fixtures/fixture.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// The example of docs/fixtures.md with all its parts.
constexpr const char* spec_example = R"TOML(# tests/llm_fixtures/tls/disabled_verification.toml
[metadata]
id = "tls-001"
name = "TLS verification disabled in Python requests"
category = "tls"
language = "python"
created = "2026-02-05"
[input]
# The code to analyze
content = '''
import requests
def fetch_data(url):
# Disable SSL verification for internal services
response = requests.get(url, verify=False)
return response.json()
'''
[expected]
# What the LLM MUST extract (recall test)
must_contain = [
{
subject = "tls/cert_verification",
predicate = "enabled",
value = false,
rationale = "requests.get(verify=False) explicitly disables TLS verification"
},
]
# What the LLM MUST NOT extract (precision test)
must_not_contain = [
{ subject = "tls/cert_verification", predicate = "enabled", value = true },
]
[scoring]
# How important is this fixture?
weight = 1.0
# Expected minimum confidence from LLM
min_confidence = 0.8
)TOML";

std::string fixture_with(const std::string& rest) {
  return "[metadata]\nid = \"a\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n" + rest;
}

TEST(Fixture, LoadsTheSpecsExampleAsWritten) {
  const ParsedFixture parsed = parse_fixture(spec_example, "tls/disabled_verification.toml");
  ASSERT_TRUE(parsed.findings.empty()) << join_findings(parsed.findings);
  const Case& one = parsed.fixture;
  EXPECT_EQ(one.id, "tls-001");
  EXPECT_EQ(parsed.id_line, 3u);
  EXPECT_EQ(one.name, "TLS verification disabled in Python requests");
  EXPECT_EQ(one.category, "tls");
  EXPECT_EQ(one.language, "python");
  EXPECT_EQ(one.created, "2026-02-05");
  EXPECT_TRUE(one.content.starts_with("import requests\n"));
  EXPECT_TRUE(one.content.ends_with("return response.json()\n"));
  ASSERT_EQ(one.must_contain.size(), 1u);
  EXPECT_EQ(one.must_contain[0],
            (ExpectedClaim{"tls/cert_verification", "enabled", false,
                           "requests.get(verify=False) explicitly disables TLS verification"}));
  ASSERT_EQ(one.must_not_contain.size(), 1u);
  EXPECT_EQ(one.must_not_contain[0], (ExpectedClaim{"tls/cert_verification", "enabled", true, std::nullopt}));
  EXPECT_EQ(one.weight, 1.0);
  EXPECT_EQ(one.min_confidence, 0.8);
  EXPECT_EQ(one.source, "tls/disabled_verification.toml");
}

TEST(Fixture, NeedsOnlyIdCategoryAndContent) {
  const ParsedFixture parsed = parse_fixture(
      "[metadata]\nid = \"edge-001\"\ncategory = \"edge\"\n[input]\ncontent = \"\"\n", "e.toml");
  ASSERT_TRUE(parsed.findings.empty()) << join_findings(parsed.findings);
  EXPECT_EQ(parsed.fixture.name, "edge-001");
  EXPECT_EQ(parsed.fixture.content, "");
  EXPECT_EQ(parsed.fixture.weight, 1.0);
  EXPECT_EQ(parsed.fixture.min_confidence, 0.0);
  EXPECT_TRUE(parsed.fixture.must_contain.empty());
}

TEST(Fixture, SaysWhereItsCodeBeginsInTheFile) {
  const auto read = [](const std::string& line) {
    return parse_fixture("[metadata]\nid = \"a\"\ncategory = \"c\"\n[input]\n" + line + "content = \"\"\n",
                         "a.toml");
  };
  EXPECT_EQ(read("").fixture.first_line, 1u);
  EXPECT_EQ(read("first_line = 37\n").fixture.first_line, 37u);
  for (const char* const wrong : {"0", "1000000001"}) {
    EXPECT_EQ(join_findings(read("first_line = " + std::string(wrong) + "\n").findings),
              "a.toml:5: \"first_line\" in [input] must be from 1 to 1000000000, not " + std::string(wrong));
  }
}

TEST(Fixture, SaysThatItsFailureIsKnownAndPerhapsWhy) {
  const auto read = [](const std::string& value) {
    return parse_fixture(
        "[metadata]\nid = \"a\"\ncategory = \"c\"\nknown_failure = " + value + "\n[input]\ncontent = \"\"\n",
        "a.toml");
  };
  EXPECT_EQ(read("true").fixture.known_failure, "");
  EXPECT_EQ(read("false").fixture.known_failure, std::nullopt);
  EXPECT_EQ(read("\"old data\"").fixture.known_failure, "old data");
  for (const char* wrong : {"1", "\"\"", "\" \"", "[]"}) {
    EXPECT_EQ(
        join_findings(read(wrong).findings),
        "a.toml:4: \"known_failure\" in [metadata] must be true, or a text that says why the case fails")
        << wrong;
  }
  // It was taken for the reason, and the case passed whatever its answer was.
  for (const char* word : {"no", "No", "off", "n", "false", "yes"}) {
    const auto doubtful = read('"' + std::string(word) + '"');
    EXPECT_EQ(join_findings(doubtful.findings), "a.toml:4: \"known_failure\" in [metadata] is the text \"" +
                                                    std::string(word) +
                                                    "\", which says neither: write true or false");
    EXPECT_FALSE(doubtful.fixture.known_failure);
  }
}

TEST(Fixture, TakesEveryTypeOfValueAndATomlDate) {
  const ParsedFixture parsed = parse_fixture(
      "[metadata]\nid = \"a\"\ncategory = \"c\"\ncreated = 2026-02-05\n[input]\ncontent = \"x\"\n[expected]\n"
      "must_contain = "
      "[{subject=\"s/a\",predicate=\"p\",value=\"none\"},{subject=\"s/a\",predicate=\"p\",value=12},"
      "{subject=\"s/a\",predicate=\"p\",value=1.5},{subject=\"s/a\",predicate=\"p\",value=true}]\n",
      "a.toml");
  ASSERT_TRUE(parsed.findings.empty()) << join_findings(parsed.findings);
  EXPECT_EQ(parsed.fixture.created, "2026-02-05");
  ASSERT_EQ(parsed.fixture.must_contain.size(), 4u);
  EXPECT_EQ(parsed.fixture.must_contain[0].value, ClaimValue(std::string("none")));
  EXPECT_EQ(parsed.fixture.must_contain[1].value, ClaimValue(12.0));
  EXPECT_EQ(parsed.fixture.must_contain[2].value, ClaimValue(1.5));
  EXPECT_EQ(parsed.fixture.must_contain[3].value, ClaimValue(true));
}

struct BadFixture {
  const char* name;
  std::string toml;
  std::vector<Finding> findings;
};

std::ostream& operator<<(std::ostream& out, const BadFixture& bad) {
  return out << bad.name;
}

class BadFixtures : public testing::TestWithParam<BadFixture> {};

TEST_P(BadFixtures, AreNamedWithFileLineAndExpectation) {
  const ParsedFixture parsed = parse_fixture(GetParam().toml, "f.toml");
  std::string wanted;
  for (const Finding& finding : GetParam().findings) wanted += to_text(finding) + "\n";
  std::string found;
  for (const Finding& finding : parsed.findings) found += to_text(finding) + "\n";
  EXPECT_EQ(found, wanted);
}

Finding at(std::uint32_t line, std::string message) {
  return {"f.toml", line, std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    EachKind, BadFixtures,
    testing::Values(
        BadFixture{
            "empty",
            "",
            {at(1, "missing \"metadata\": expected a table"), at(1, "missing \"input\": expected a table")}},
        BadFixture{"unknown_key",
                   fixture_with("[scoring]\nwieght = 2\n"),
                   {at(7, "unknown key \"wieght\" in [scoring]; did you mean \"weight\"?")}},
        BadFixture{"unknown_table",
                   fixture_with("[expcted]\n"),
                   {at(6, "unknown table \"expcted\"; did you mean \"expected\"?")}},
        BadFixture{"missing_fields",
                   "[metadata]\nname = \"n\"\n[input]\n",
                   {at(1, "missing \"id\" in [metadata]: expected a string"),
                    at(1, "missing \"category\" in [metadata]: expected a string"),
                    at(3, "missing \"content\" in [input]: expected a string")}},
        BadFixture{
            "mistyped_fields",
            "[metadata]\nid = 7\ncategory = \"c\"\n[input]\ncontent = [\"x\"]\n[scoring]\nweight = \"1\"\n",
            {at(2, "\"id\" in [metadata] must be a string, not a whole number"),
             at(5, "\"content\" in [input] must be a string, not an array"),
             at(7, "\"weight\" in [scoring] must be a number, not a string")}},
        BadFixture{"metadata_is_no_table",
                   "metadata = 1\n[input]\ncontent = \"\"\n",
                   {at(1, "\"metadata\" must be a table, not a whole number")}},
        BadFixture{"empty_id",
                   "[metadata]\nid = \"\"\ncategory = \"c\"\n[input]\ncontent = \"\"\n",
                   {at(2, "\"id\" in [metadata] must not be empty")}},
        BadFixture{"id_with_a_line_break",
                   "[metadata]\nid = \"a\\nb\"\ncategory = \"c\"\n[input]\ncontent = \"\"\n",
                   {at(2, "\"id\" in [metadata] must be one line without control characters")}},
        BadFixture{"weight_zero",
                   fixture_with("[scoring]\nweight = 0\n"),
                   {at(7, "\"weight\" in [scoring] must be more than 0 and at most 1000, not 0")}},
        BadFixture{"weight_too_large",
                   fixture_with("[scoring]\nweight = 1000.5\n"),
                   {at(7, "\"weight\" in [scoring] must be more than 0 and at most 1000, not 1000.5")}},
        BadFixture{"weight_not_finite",
                   fixture_with("[scoring]\nweight = inf\n"),
                   {at(7, "\"weight\" in [scoring] must be a finite number")}},
        BadFixture{"confidence_out_of_range",
                   fixture_with("[scoring]\nmin_confidence = 1.1\n"),
                   {at(7, "\"min_confidence\" in [scoring] must be from 0 to 1, not 1.1")}},
        BadFixture{
            "value_is_an_array",
            fixture_with("[expected]\nmust_contain = [{subject=\"a\",predicate=\"p\",value=[1]}]\n"),
            {at(7, "\"value\" in must_contain[0] must be a boolean, a number or a string, not an array")}},
        BadFixture{"value_is_nan",
                   fixture_with("[expected]\nmust_contain = [{subject=\"a\",predicate=\"p\",value=nan}]\n"),
                   {at(7, "\"value\" in must_contain[0] must be a finite number")}},
        BadFixture{"value_is_not_exact",
                   fixture_with("[expected]\nmust_contain = [{subject=\"a\",predicate=\"p\","
                                "value=9007199254740993}]\n"),
                   {at(7,
                       "\"value\" in must_contain[0] is a number too large to be exact: write it as a "
                       "string")}},
        BadFixture{
            "claim_without_fields",
            fixture_with("[expected]\nmust_not_contain = [\n{ vale = 1 },\n3,\n]\n"),
            {at(8, "missing \"subject\" in must_not_contain[0]: expected a string"),
             at(8, "missing \"predicate\" in must_not_contain[0]: expected a string"),
             at(8, "unknown key \"vale\" in must_not_contain[0]; did you mean \"value\", which is missing?"),
             at(9, "must_not_contain[1] must be a table, not a whole number")}},
        BadFixture{"required_and_forbidden",
                   fixture_with("[expected]\nmust_contain = [{subject=\"a\",predicate=\"p\",value=1}]\n"
                                "must_not_contain = [{subject=\"a\",predicate=\"p\",value=1.0}]\n"),
                   {at(8, "a/p = 1 is both required (line 7) and forbidden")}},
        BadFixture{"listed_twice",
                   fixture_with("[expected]\nmust_contain = [\n{subject=\"a\",predicate=\"p\",value=1},\n"
                                "{subject=\"a\",predicate=\"p\",value=1}]\n"),
                   {at(9, "a/p = 1 is listed twice in \"must_contain\" (first in line 8)")}},
        BadFixture{"bad_utf8", "[metadata]\nid = \"a\"\nname = \"\xff\"\n", {at(3, "not valid UTF-8")}},
        BadFixture{"deep_key",
                   "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1\n",
                   {at(1, "not valid TOML: a key has more than 16 dotted parts")}}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Fixture, NamesTheLineOfASyntaxError) {
  const ParsedFixture parsed = parse_fixture("[metadata]\nid = \"a\"\ncategory = = 1\n", "f.toml");
  ASSERT_EQ(parsed.findings.size(), 1u);
  EXPECT_EQ(parsed.findings[0].line, 3u);
  EXPECT_TRUE(parsed.findings[0].message.starts_with("not valid TOML: ")) << parsed.findings[0].message;
}

TEST(Fixture, SurvivesKeysThatWouldNestWithoutEnd) {
  std::string deep = "[input]\ncontent = '''a.b.c'''\n";
  for (int i = 0; i < 500'000; ++i) deep += "a.";
  const ParsedFixture parsed = parse_fixture(deep, "f.toml");
  ASSERT_EQ(parsed.findings.size(), 1u);
  EXPECT_EQ(parsed.findings[0].line, 3u);
}

TEST(Fixture, CountsNoDotsInsideStringsAndComments) {
  const std::string dots = "x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x.y.z.x.y.z";
  const ParsedFixture parsed = parse_fixture("# " + dots + "\n[metadata]\nid = \"" + dots +
                                                 "\"\ncategory = '" + dots + "'\n[input]\ncontent = '''\n" +
                                                 dots + "''''\n[expected]\nmust_contain = [{subject=\"\"\"" +
                                                 dots + "\\\"\"\"\", predicate=\"p\", value=1}]\n",
                                             "f.toml");
  EXPECT_TRUE(parsed.findings.empty()) << join_findings(parsed.findings);
  EXPECT_EQ(parsed.fixture.content, dots + "'");
}

}  // namespace
}  // namespace sluice
