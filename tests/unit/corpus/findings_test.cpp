#include "coordinator/corpus/findings.hpp"

#include "common/checks/redactor.hpp"
#include "common/documents/toml_document.hpp"
#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/corpus/fixture_file.hpp"
#include "coordinator/corpus/review_page.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/toml_string.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::findings_test {

const Ontology& ontology() {
  static const Ontology shipped = *Ontology::parse(embedded::ontology, "ontology.toml");
  return shipped;
}

Case file(const std::string& content, const std::string& path = "src/net.py") {
  Case asked;
  asked.id = path;
  asked.source = path;
  asked.language = "python";
  asked.content = content;
  return asked;
}

FinalClaim claim(const std::string& subject, const std::string& predicate, ClaimValue value,
                 double confidence, std::optional<std::uint32_t> line) {
  return {subject, predicate, std::move(value), confidence, line, true, false};
}
FinalClaim unverified(std::optional<std::uint32_t> line, double confidence = 0.9) {
  return claim("tls/cert_verification", "enabled", false, confidence, line);
}
FinalClaim hardcoded(std::optional<std::uint32_t> line) {
  return claim("secrets/password", "hardcoded", true, 0.9, line);
}

Findings findings(MaskText mask = {}) {
  return Findings(ontology(), {0.7, "2026-02-05", std::move(mask)});
}

/// `line 1`, `line 2` and so on.
std::string numbered(std::size_t lines) {
  std::string text;
  for (std::size_t i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(CorpusFindings, BecomeFixturesOfWhatTheyShow) {
  Findings made = findings();
  made.add(file("import requests\nget(url, verify=False)\n"), std::vector{unverified(2)});
  const auto fixtures = made.take();
  ASSERT_EQ(fixtures.size(), 1u);
  const Case& one = fixtures[0];
  EXPECT_TRUE(one.id.starts_with("auto-"));
  EXPECT_EQ(one.category, "tls");
  EXPECT_EQ(one.language, "python");
  EXPECT_EQ(one.created, "2026-02-05");
  EXPECT_EQ(one.content, "import requests\nget(url, verify=False)\n");
  EXPECT_EQ(one.name, "tls/cert_verification/enabled = false in src/net.py:2");
  ASSERT_EQ(one.must_contain.size(), 1u);
  EXPECT_EQ(one.must_contain[0].subject, "tls/cert_verification");
  EXPECT_EQ(one.must_contain[0].rationale, std::string(asks_for_review));
  EXPECT_DOUBLE_EQ(one.min_confidence, 0.7);
}

TEST(CorpusFindings, LeaveOutWhatCannotBeReliedOn) {
  Findings made = findings();
  FinalClaim invented = unverified(1);
  invented.matched_ontology = false;
  made.add(file("one\n\nthree\n"),
           std::vector{unverified(1, 0.69), invented, claim("tls/cert_verification", "enabled", 3.0, 0.9, 1),
                       unverified(2), unverified(4), hardcoded(0), hardcoded(3), hardcoded(1)});
  const ClaimCounts& counts = made.counts();
  EXPECT_EQ(counts.claims, 8u);
  EXPECT_EQ(counts.unsure, 1u);
  EXPECT_EQ(counts.outside_ontology, 2u);
  EXPECT_EQ(counts.unsupported, 3u) << "a blank line, one behind the last, and line 0";
  EXPECT_EQ(counts.repeated, 1u) << "the same fact of one file";
  EXPECT_EQ(counts.findings, 1u);
}

TEST(CorpusFindings, HaveTheSameIdInEachGenerationWhereverTheCodeLies) {
  const auto id_of = [](const std::string& text, const std::string& path, FinalClaim one) {
    Findings made = findings();
    made.add(file(text, path), std::vector{std::move(one)});
    return made.take().at(0).id;
  };
  const std::string id = id_of("a\nb\n", "a.py", unverified(1));
  EXPECT_EQ(id, id_of("a\nb\n", "moved/b.py", unverified(2, 0.8)));
  EXPECT_NE(id, id_of("a\nc\n", "a.py", unverified(1)));
  EXPECT_NE(id, id_of("a\nb\n", "a.py", hardcoded(1)));
  Findings made = findings();
  made.add(file("a\nb\n", "a.py"), std::vector{unverified(1)});
  made.add(file("a\nb\n", "copy.py"), std::vector{unverified(1)});
  EXPECT_EQ(made.counts().repeated, 1u);
  const auto fixtures = made.take();
  ASSERT_EQ(fixtures.size(), 1u);
  EXPECT_NE(fixtures[0].name.find("in a.py:1"), std::string::npos);
}

TEST(CorpusFindings, ShowWhatStandsAroundTheLineAndExpectAllOfItsFacts) {
  Findings made = findings();
  const std::size_t around = defaults::lines_around_claim;
  made.add(file(numbered(200)),
           std::vector{unverified(100), hardcoded(static_cast<std::uint32_t>(100 + around)),
                       claim("jwt/expiry", "enabled", false, 0.9, 150)});
  auto fixtures = made.take();
  ASSERT_EQ(fixtures.size(), 3u);
  const auto of = [&](const std::string& category) {
    return *std::ranges::find(fixtures, category, &Case::category);
  };
  const Case tls = of("tls");
  EXPECT_TRUE(tls.content.starts_with("line 80\n")) << tls.content;
  EXPECT_TRUE(tls.content.ends_with("line 120\n"));
  ASSERT_EQ(tls.must_contain.size(), 2u) << "the other fact in the excerpt is no false positive";
  EXPECT_EQ(tls.must_contain[0].subject, "tls/cert_verification") << "its own fact first";
  EXPECT_EQ(of("jwt").must_contain.size(), 1u);
}

// A review numbered the lines of the excerpt, which lead nowhere in the file.
TEST(CorpusFindings, AnExcerptKnowsItsPlaceInTheFile) {
  Findings made = findings();
  made.add(file(numbered(200)), std::vector{unverified(100)});
  const ParsedFixture read = parse_fixture(sealed_fixture(made.take().at(0)), "f");
  ASSERT_TRUE(read.findings.empty()) << join_findings(read.findings);
  EXPECT_EQ(read.fixture.first_line, 80u);
  const std::string page = review_page(read.fixture, "1 of 1", "f.toml", 80);
  EXPECT_NE(page.find("\n 80 | line 80\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\n100 | line 100\n"), std::string::npos) << page;
  EXPECT_EQ(sealed_fixture(file("a\n")).find("first_line"), std::string::npos) << "1 says nothing";
}

TEST(CorpusFindings, KeepTheWholeFileWhereNoLineIsNamed) {
  Findings made = findings();
  made.add(file(numbered(200)), std::vector{unverified(std::nullopt), hardcoded(3)});
  const auto fixtures = made.take();
  const auto tls = std::ranges::find(fixtures, "tls", &Case::category);
  EXPECT_EQ(tls->content, numbered(200));
  EXPECT_EQ(tls->must_contain.size(), 2u);
  EXPECT_EQ(std::ranges::find(fixtures, "secrets", &Case::category)->must_contain.size(), 1u);
}

TEST(CorpusFindings, ExcerptsAreBounded) {
  const std::string long_line(defaults::max_excerpt_bytes / 4, 'x');
  std::string text;
  for (int i = 0; i < 100; ++i) text += long_line + "\n";
  const auto lines = lines_of(text);
  const LineRange range = excerpt_around(lines, 50);
  EXPECT_EQ(range, (LineRange{49, 51}));
  const std::string line(2 * defaults::max_excerpt_bytes, 'x');
  const auto bundle = lines_of(line);
  EXPECT_EQ(excerpt_around(bundle, 1), (LineRange{1, 1})) << "a line is not cut";
  EXPECT_EQ(excerpt_around(lines, 1).first, 1u);
  EXPECT_EQ(excerpt_around(lines, 100).last, 100u);
}

// The canary stands where an excerpt would cut a pattern that spans lines: masked first, it is gone whole.
TEST(CorpusFindings, ReplaceSecretsBeforeTheyCutTheCode) {
  const std::string begin = "-----BEGIN KEY-----\n";
  std::string secret = begin;
  for (int i = 0; i < 30; ++i) secret += "canary" + std::to_string(i) + "\n";
  secret += "-----END KEY-----";
  const MaskText mask = [&](std::string& text) {
    const auto at = text.find(secret);
    if (at == std::string::npos) return false;
    text.replace(at, secret.size(), "[redacted]");
    return true;
  };
  const std::string content = numbered(100) + secret + "\n" + numbered(100);
  for (const std::uint32_t line : {5u, 95u, 110u, 131u, 150u, 230u}) {
    Findings made = findings(mask);
    made.add(file(content), std::vector{unverified(line)});
    const auto fixtures = made.take();
    ASSERT_EQ(fixtures.size(), 1u) << line;
    EXPECT_EQ(fixtures[0].content.find("canary"), std::string::npos) << line;
  }
  Findings made = findings(mask);
  made.add(file(content), std::vector{unverified(200)});
  EXPECT_EQ(made.counts().masked, 0u) << "none is near";
  // 100 lines before, 32 of the secret: line 200 is the 68th behind it.
  EXPECT_NE(made.take()[0].content.find("line 68\n"), std::string::npos) << "lines are counted as they were";
}

TEST(CorpusFindings, LeaveOutNumbersThatAreSecrets) {
  const MaskText mask = [](std::string& text) {
    bool any = false;
    for (const std::string secret : {"4111111111111111", "4000000000000000"}) {
      for (auto at = text.find(secret); at != text.npos; at = text.find(secret)) {
        text.replace(at, secret.size(), "[redacted]");
        any = true;
      }
    }
    return any;
  };
  Findings made = findings(mask);
  // The shortest form of the second has no digits to find.
  made.add(file("a\n"), std::vector{unverified(1), claim("jwt/expiry", "seconds", 4111111111111111.0, 0.9, 1),
                                    claim("jwt/expiry", "seconds", 4000000000000000.0, 0.9, 1)});
  EXPECT_EQ(made.counts().secret, 2u);
  const auto fixtures = made.take();
  ASSERT_EQ(fixtures.size(), 1u);
  EXPECT_EQ(fixtures[0].must_contain.size(), 1u);
}

// Zeros that were only written behind the point looked like six digits in a row.
TEST(CorpusFindings, KeepNumbersThatHaveNoSuchDigits) {
  const std::vector<RedactionPattern> patterns{{"customer", "\\b[0-9]{6}\\b"}};
  const Redactor redactor = *Redactor::make(patterns);
  Findings made = findings([&](std::string& text) { return redactor.apply(text); });
  made.add(file("a\n"), std::vector{claim("auth/password_hashing", "iterations", 4096.0, 0.9, 1),
                                    claim("jwt/expiry", "seconds", 604800.0, 0.9, 1)});
  EXPECT_EQ(made.counts().secret, 1u) << "604800";
  EXPECT_EQ(made.take().size(), 1u);
}

TEST(CorpusFindings, LeaveOutNumbersThatWorkersHaveReplaced) {
  Findings made = findings();
  made.add(file("a\n"),
           std::vector{claim("jwt/expiry", "seconds", std::string("[redacted customer]"), 0.9, 1),
                       claim("jwt/expiry", "seconds", std::string("a day"), 0.9, 1)});
  EXPECT_EQ(made.counts().secret, 1u);
  EXPECT_EQ(made.counts().outside_ontology, 1u);
}

TEST(FixtureFiles, ReadBackNumbersOfAnySize) {
  for (const double number : {0.0, 2048.0, -3.0, 0.5, 1.2345678901234567e19, -9.3e18, 1e300, 5e-324}) {
    Case one;
    one.id = "auto-1";
    one.category = "tls";
    one.must_contain = {{"a/b", "c", number, std::nullopt}};
    const ParsedFixture read = parse_fixture(sealed_fixture(one), "f");
    EXPECT_TRUE(read.findings.empty()) << join_findings(read.findings);
    EXPECT_EQ(read.fixture.must_contain, one.must_contain) << number;
  }
}

TEST(CorpusFindings, LeaveOutLongTextsAndCutNames) {
  const Ontology wide = *Ontology::parse(
      "version = \"1\"\n[[subject]]\npath = \"a/b\"\ndescription = \"d\"\n"
      "[[subject.predicate]]\nname = \"text\"\ntype = \"text\"\ndescription = \"d\"\n",
      "wide");
  Findings made(wide, {0.7, "2026-02-05", {}});
  made.add(file("a\n"),
           std::vector{claim("a/b", "text", std::string(defaults::max_claim_text_bytes, 'x'), 0.9, 1),
                       claim("a/b", "text", std::string(defaults::max_claim_text_bytes + 1, 'y'), 0.9, 1)});
  EXPECT_EQ(made.counts().too_long, 1u);
  const auto fixtures = made.take();
  ASSERT_EQ(fixtures.size(), 1u);
  EXPECT_LE(fixtures[0].name.size(), defaults::fact_name_bytes + 40);
  EXPECT_TRUE(fixtures[0].name.ends_with(" in src/net.py:1")) << fixtures[0].name;
}

TEST(CorpusFindings, AreBoundedForAFile) {
  std::vector<FinalClaim> claims;
  for (std::size_t i = 0; i < defaults::max_findings_per_file + 5; ++i)
    claims.push_back(claim("auth/password_hashing", "iterations", static_cast<double>(i), 0.9, 1));
  Findings made = findings();
  made.add(file("a\n"), claims);
  EXPECT_EQ(made.counts().beyond_file, 5u);
  EXPECT_EQ(made.counts().findings, defaults::max_findings_per_file);
  for (const Case& one : made.take()) EXPECT_EQ(one.must_contain.size(), defaults::max_findings_per_file);
}

TEST(FixtureFiles, ReadBackAsTheyWereWritten) {
  for (const std::string content :
       {"plain\n", "", "no end", "ends in '", "has ''' in it\n", "a\\b \"quoted\" \"\"\" \t tab\n",
        "bell \x07 and \x7f\r\r\n", "\nfirst line is empty", "umlaut \xc3\xa4\n"}) {
    Case one;
    one.id = "auto-1";
    one.name = "a \"name\" \\ with all";
    one.category = "tls";
    one.language = "c";
    one.created = "2026-02-05";
    one.content = content;
    one.min_confidence = 0.7;
    one.must_contain = {
        {"a/b", "c", std::string("x\"y"), "why"}, {"a/b", "d", 2048.0, std::nullopt}, {"a/b", "e", true, ""}};
    const std::string text = sealed_fixture(one);
    const ParsedFixture read = parse_fixture(text, "f");
    EXPECT_TRUE(read.findings.empty()) << join_findings(read.findings) << text;
    EXPECT_EQ(read.fixture.content, content);
    EXPECT_EQ(read.fixture.name, one.name);
    EXPECT_EQ(read.fixture.must_contain, one.must_contain);
    EXPECT_EQ(read.fixture.created, one.created);
    EXPECT_DOUBLE_EQ(read.fixture.min_confidence, 0.7);
    EXPECT_TRUE(is_sealed(text));
    EXPECT_FALSE(is_sealed(text + "\n"));
    EXPECT_FALSE(is_sealed("# a comment\n" + text));
  }
}

TEST(FixtureFiles, ReadBackWhateverQuotesStandWhere) {
  const std::string characters = "'\"\\\n\ra";
  std::vector<std::string> texts{""};
  for (std::size_t from = 0, length = 0; length < 5; ++length) {
    const std::size_t to = texts.size();
    for (; from < to; ++from) {
      for (const char c : characters) texts.push_back(texts[from] + c);
    }
  }
  for (const std::string& text : texts) {
    const auto read = parse_toml("a = " + toml_long_string(text) + "\nb = " + toml_string(text) + "\n");
    ASSERT_TRUE(read) << json_string(text) << read.error().message;
    for (const char* const key : {"a", "b"})
      ASSERT_EQ(std::get<std::string>(find_entry(*read, key)->value.value), text) << key;
  }
}

TEST(FixtureFiles, AreAcceptedWithTheirCommentsAndTheirCode) {
  Case one;
  one.id = "auto-1";
  one.category = "tls";
  // The words that mark an expectation, in the code itself.
  one.content = "rationale = \"" + std::string(asks_for_review) + "\"\n";
  one.must_contain = {{"a/b", "c", true, std::string(asks_for_review)}, {"a/b", "d", false, "mine"}};
  const std::string text = sealed_fixture(one) + "# a comment of somebody\n";
  EXPECT_TRUE(awaits_review(one));
  const auto accepted = accepted_fixture(text, "f.toml");
  ASSERT_TRUE(accepted) << accepted.error().message;
  const ParsedFixture read = parse_fixture(*accepted, "f");
  EXPECT_TRUE(read.findings.empty());
  EXPECT_FALSE(awaits_review(read.fixture));
  EXPECT_EQ(read.fixture.content, one.content);
  EXPECT_EQ(read.fixture.must_contain[1].rationale, "mine");
  EXPECT_NE(accepted->find("# a comment of somebody"), std::string::npos);
  EXPECT_FALSE(is_sealed(*accepted)) << "no generation writes over it";
  EXPECT_FALSE(accepted_fixture("[metadata", "f.toml"));
}

}  // namespace sluice::findings_test
