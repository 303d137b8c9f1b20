#include "coordinator/suite/fingerprint.hpp"

#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/selection.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck.h>

namespace sluice {
namespace {

Case text_case() {
  Case one;
  one.id = "q";
  one.category = "tests";
  one.kind = CaseKind::text;
  one.content = "What?";
  one.context = "c";
  one.system = "s";
  one.expectations = {
      {{MetricId::must_contain, {"a", "b"}}, {}, {}},
      {{MetricId::semantic_similarity_to, {"r"}}, {ThresholdMode::relative, 0.1, 0.8, std::nullopt}, 0.5}};
  return one;
}

Case claims_case() {
  Case one;
  one.id = "f";
  one.category = "tls";
  one.language = "go";
  one.content = "x";
  one.must_contain = {{"a/b", "p", true, "why"}, {"a/c", "p", 1.5, std::nullopt}};
  one.must_not_contain = {{"a/d", "p", std::string("t"), std::nullopt}};
  one.min_confidence = 0.5;
  return one;
}

Case judged_case() {
  Case one = text_case();
  one.expectations = {{{MetricId::rubric, {}}, {}, 0.5, JudgeQuestion{7, {}, 5, "r", "c"}}};
  return one;
}

TEST(Fingerprint, HasAGoldenForm) {
  EXPECT_EQ(
      canonical_case(text_case()),
      R"({"category":"tests","content":"What?","context":"c","expectations":[{"metric":"must_contain","texts":)"
      R"(["a","b"],"thresholding":{}},{"metric":"semantic_similarity_to","min_score":0.5,"texts":["r"],)"
      R"("thresholding":{"max_drop":0.1,"min_floor":0.8,"mode":"relative"}}],"id":"q","kind":"text",)"
      R"("system":"s","weight":1})");
  EXPECT_EQ(
      canonical_case(claims_case()),
      R"({"category":"tls","content":"x","expectations":[],"id":"f","kind":"claims","language":"go",)"
      R"("min_confidence":0.5,"must_contain":[{"predicate":"p","subject":"a/b","value":true},)"
      R"({"predicate":"p","subject":"a/c","value":1.5}],"must_not_contain":[{"predicate":"p","subject":"a/d",)"
      R"("value":"t"}],"weight":1})");
}

TEST(Fingerprint, OfAJudgedCaseHasAGoldenForm) {
  EXPECT_EQ(canonical_case(judged_case()),
            R"({"category":"tests","content":"What?","context":"c","expectations":[{"judge":{"criteria":"c",)"
            R"("reference":"r","rubric":"0000000000000000000000000000000000000000000000000000000000000000",)"
            R"("samples":5},"metric":"rubric","min_score":0.5,"texts":[],"thresholding":{}}],"id":"q",)"
            R"("kind":"text","system":"s","weight":1})");
  Case own = judged_case();
  own.expectations[0].judge->context = "o";
  EXPECT_NE(canonical_case(own).find(R"("expectations":[{"judge":{"context":"o","criteria":"c",)"),
            std::string::npos);
  EXPECT_NE(check_digest(own.expectations[0]), check_digest(judged_case().expectations[0]));
}

TEST(Fingerprint, EveryFieldOfAJudgesQuestionChangesItAndThePlaceOfTheRubricDoesNot) {
  const std::vector<std::function<void(JudgeQuestion&)>> changes{
      [](JudgeQuestion& q) { q.rubric_hash[0] = 1; }, [](JudgeQuestion& q) { q.samples = 3; },
      [](JudgeQuestion& q) { q.samples.reset(); },    [](JudgeQuestion& q) { q.reference = "z"; },
      [](JudgeQuestion& q) { q.criteria = "z"; },     [](JudgeQuestion& q) { q.context = "z"; },
  };
  std::set<std::string> seen{canonical_case(judged_case())};
  for (const auto& change : changes) {
    Case one = judged_case();
    change(*one.expectations[0].judge);
    EXPECT_TRUE(seen.insert(canonical_case(one)).second) << canonical_case(one);
  }
  Case one = judged_case();
  one.expectations[0].judge->rubric = 0;
  EXPECT_EQ(canonical_case(one), canonical_case(judged_case()));
}

TEST(Fingerprint, EveryFieldThatChangesResultsChangesIt) {
  const std::vector<std::function<void(Case&)>> changes{
      [](Case& c) { c.id = "z"; },
      [](Case& c) { c.category = "z"; },
      [](Case& c) { c.content = "z"; },
      [](Case& c) { c.context = "z"; },
      [](Case& c) { c.system = "z"; },
      [](Case& c) { c.weight = 2; },
      [](Case& c) { c.kind = CaseKind::claims; },
      [](Case& c) { c.expectations.pop_back(); },
      [](Case& c) { c.expectations[0].what.texts[0] = "z"; },
      [](Case& c) { c.expectations[0].what.metric = MetricId::must_not_contain; },
      [](Case& c) { c.expectations[1].min_score = 0.6; },
      [](Case& c) { c.expectations[1].min_score.reset(); },
      [](Case& c) { c.expectations[1].thresholding.max_drop = 0.2; },
      [](Case& c) { c.expectations[1].thresholding.min_floor = 0.2; },
      [](Case& c) { c.expectations[1].thresholding.min_score = 0.2; },
      [](Case& c) { c.expectations[1].thresholding.mode = ThresholdMode::absolute; },
  };
  std::set<std::string> seen{canonical_case(text_case())};
  for (const auto& change : changes) {
    Case one = text_case();
    change(one);
    EXPECT_TRUE(seen.insert(canonical_case(one)).second) << canonical_case(one);
  }
  const std::vector<std::function<void(Case&)>> claims_changes{
      [](Case& c) { c.language = "z"; },
      [](Case& c) { c.min_confidence = 0.6; },
      [](Case& c) { c.must_contain.pop_back(); },
      [](Case& c) { c.must_contain[0].subject = "z"; },
      [](Case& c) { c.must_contain[0].value = std::string("true"); },
      [](Case& c) { std::swap(c.must_contain, c.must_not_contain); },
  };
  seen.insert(canonical_case(claims_case()));
  for (const auto& change : claims_changes) {
    Case one = claims_case();
    change(one);
    EXPECT_TRUE(seen.insert(canonical_case(one)).second) << canonical_case(one);
  }
}

TEST(Fingerprint, WhatDoesNotChangeResultsLeavesIt) {
  Case one = text_case();
  one.name = one.created = one.source = one.language = "z";
  std::swap(one.expectations[0], one.expectations[1]);
  std::swap(one.expectations[1].what.texts[0], one.expectations[1].what.texts[1]);
  EXPECT_EQ(case_fingerprints(one).whole, case_fingerprints(text_case()).whole);
  Case other = claims_case();
  other.must_contain[0].rationale = "z";
  std::swap(other.must_contain[0], other.must_contain[1]);
  EXPECT_EQ(case_fingerprints(other).whole, case_fingerprints(claims_case()).whole);
}

// Nothing depends on the order of prompts, but arms name them by position, and the form stays what it is
// (docs/baselines.md).
TEST(Fingerprint, TheOrderOfPromptsIsInItAndThatOfArmsIsNot) {
  Case one = text_case();
  one.prompts = {{"", "short"}, {"", "polite"}};
  Case swapped = one;
  std::swap(swapped.prompts[0], swapped.prompts[1]);
  EXPECT_NE(case_fingerprints(one).whole, case_fingerprints(swapped).whole);
  EXPECT_EQ(case_fingerprints(one).judging, case_fingerprints(swapped).judging);
  FingerprintSettings settings;
  settings.arms = {{"m/short", ProviderKind::openai, "m", {}, 0, {}, 0, {}},
                   {"m/polite", ProviderKind::openai, "m", {}, 0, {}, 1, {}}};
  const Digest before = config_fingerprint({}, settings);
  std::swap(settings.arms[0], settings.arms[1]);
  EXPECT_EQ(config_fingerprint({}, settings), before);
  std::swap(settings.arms[0].prompt, settings.arms[1].prompt);
  EXPECT_NE(config_fingerprint({}, settings), before);
}

TEST(Fingerprint, OfOneCaseOthersOfItsSuiteHaveNoPartInWhatJudgesIt) {
  Suite suite;
  suite.name = "demo";
  suite.metrics = {MetricId::must_contain};
  Case one;
  one.id = "a";
  one.kind = CaseKind::text;
  one.context = "x";
  one.expectations.push_back(
      {.what = {.metric = MetricId::must_contain, .texts = {"y"}}, .thresholding = {}, .min_score = {}});
  FingerprintSettings settings;
  settings.arms = {{"one", ProviderKind::openai, "m", {}, 0, {}, {}, {}}};
  const Digest before = CaseJudging(suite, settings).of(one);
  Suite larger = suite;
  larger.metrics.push_back(MetricId::faithfulness);
  larger.content_fingerprint[0] = 1;
  larger.judging_fingerprint[0] = 1;
  FingerprintSettings more = settings;
  more.judge.model = "a judge of others";
  more.arms.push_back({"two", ProviderKind::openai, "n", {}, 0, {}, {}, {}});
  EXPECT_EQ(CaseJudging(larger, more).of(one), before);
  Case asked = one;
  asked.context = "z";
  EXPECT_EQ(CaseJudging(suite, settings).of(asked), before) << "what is asked judges nothing";
  Case offered = one;
  offered.extras.tools.push_back({"look_up", "", "{}"});
  EXPECT_EQ(CaseJudging(suite, settings).of(offered), before) << "tools are what is asked";
  offered.expectations.front().what = {.metric = MetricId::tool_calls_valid};
  Case refunds = offered;
  refunds.extras.tools.push_back({"refund", "", "{}"});
  EXPECT_NE(CaseJudging(suite, settings).of(refunds), CaseJudging(suite, settings).of(offered))
      << "calls are held against them";
  Case checked = one;
  checked.expectations.front().what.texts = {"z"};
  EXPECT_NE(CaseJudging(suite, settings).of(checked), before);
  more.arms.front().model = "another";
  EXPECT_NE(CaseJudging(suite, more).of(one), before);
  Suite strict = suite;
  strict.thresholding.min_score = 0.5;
  EXPECT_NE(CaseJudging(strict, settings).of(one), before);
}

TEST(Fingerprint, ItsPartsSayWhereTwoDiffer) {
  Suite suite;
  suite.metrics = {MetricId::must_contain};
  suite.prompts = {{"polite", "", "Please: {{q}}"}, {"short", "", "{{q}}"}};
  FingerprintSettings settings;
  settings.model = "m";
  const FingerprintParts base = fingerprint_parts(suite, settings);
  const auto names = [](const FingerprintParts& parts) {
    std::vector<std::string> all;
    for (const auto& [name, digest] : parts) all.push_back(name);
    return all;
  };
  EXPECT_EQ(names(base), (std::vector<std::string>{"checks", "metrics", "model", "prompt polite",
                                                   "prompt short", "requests"}));
  EXPECT_EQ(base.at("model").size(), 16u);
  const auto changed = [&](const Suite& other, const FingerprintSettings& by) {
    std::vector<std::string> all;
    for (const auto& [name, digest] : fingerprint_parts(other, by)) {
      const auto found = base.find(name);
      if (found == base.end() || found->second != digest) all.push_back(name);
    }
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(changed(suite, settings), Names{});
  FingerprintSettings warmer = settings;
  warmer.temperature = 0.5;
  EXPECT_EQ(changed(suite, warmer), Names{"model"});
  FingerprintSettings unused = settings;
  unused.judge.model = "j";
  unused.ontology[0] = 1;
  unused.embedding_model = "e";
  EXPECT_EQ(changed(suite, unused), Names{}) << "no metric of the suite needs them";
  FingerprintSettings arms = settings;
  arms.arms = {{"a", ProviderKind::openai, "m", {}, 0, {}, {}, {}}};
  EXPECT_EQ(changed(suite, arms), Names{"arm a"});
  Suite other = suite;
  other.prompts[0].system = "Be kind.";
  other.content_fingerprint[0] = 1;
  EXPECT_EQ(changed(other, settings), (Names{"prompt polite", "requests"}));
  Suite more = suite;
  more.metrics = {MetricId::claims_f1, MetricId::semantic_similarity_to, MetricId::rubric};
  EXPECT_EQ(changed(more, settings), (Names{"claims", "embeddings", "judge", "metrics"}));
}

TEST(Fingerprint, CallsInAnyOrderAreTheSameInEachThatTheyAreWrittenIn) {
  const auto of = [](std::vector<std::string> calls, double order) {
    Case one = text_case();
    one.expectations.front().what = {
        .metric = MetricId::tool_calls, .texts = std::move(calls), .numbers = {order}};
    return canonical_case(one);
  };
  EXPECT_EQ(of({"a", "{}", "b", "{}"}, 0), of({"b", "{}", "a", "{}"}, 0));
  EXPECT_NE(of({"a", "{}", "b", "{}"}, 1), of({"b", "{}", "a", "{}"}, 1));
  EXPECT_NE(of({"a", "{}", "b", "{}"}, 0), of({"a", "{}", "b", "{}"}, 1));
}

TEST(Fingerprint, OfAConfigurationHasAGoldenValueAndCoversEverySetting) {
  Suite suite;
  suite.metrics = {MetricId::claims_f1, MetricId::semantic_similarity_to};
  FingerprintSettings base;
  base.model = "m";
  base.temperature = 0.1;
  base.max_tokens = 10;
  base.embedding_provider = ProviderKind::openai;
  base.embedding_model = "e";
  EXPECT_EQ(to_hex(config_fingerprint(suite, base)),
            "5f7de97852c6b0c77ea5a13f1780bfbccdb19bcc68f4524733a0a87a262348f6");
  const std::vector<std::function<void(FingerprintSettings&)>> changes{
      [](auto& s) { s.provider = ProviderKind::gemini; },
      [](auto& s) { s.model = "z"; },
      [](auto& s) { s.temperature = 0.2; },
      [](auto& s) { s.temperature.reset(); },
      [](auto& s) { s.max_tokens = 11; },
      [](auto& s) { s.seed = 0; },
      [](auto& s) { s.embedding_provider.reset(); },
      [](auto& s) { s.embedding_model = "z"; },
      [](auto& s) { s.prompt[0] = 1; },
      [](auto& s) { s.ontology[0] = 1; },
  };
  std::set<Digest> seen{config_fingerprint(suite, base)};
  for (const auto& change : changes) {
    FingerprintSettings settings = base;
    change(settings);
    EXPECT_TRUE(seen.insert(config_fingerprint(suite, settings)).second);
  }
  Suite other = suite;
  other.content_fingerprint[0] = 1;
  EXPECT_TRUE(seen.insert(config_fingerprint(other, base)).second);
  other = suite;
  other.metrics.push_back(MetricId::regex_match);
  EXPECT_TRUE(seen.insert(config_fingerprint(other, base)).second);
  // What only decides the answers judges none.
  FingerprintSettings otherwise = base;
  otherwise.temperature = 0.2;
  otherwise.max_tokens = 11;
  otherwise.seed = 0;
  otherwise.prompt[0] = 1;
  EXPECT_EQ(judging_fingerprint(suite, otherwise), judging_fingerprint(suite, base));
  otherwise.model = "z";
  EXPECT_NE(judging_fingerprint(suite, otherwise), judging_fingerprint(suite, base)) << "who was asked";
  Suite judging = suite;
  judging.content_fingerprint[0] = 1;
  EXPECT_EQ(judging_fingerprint(judging, base), judging_fingerprint(suite, base));
  judging.judging_fingerprint[0] = 1;
  EXPECT_NE(judging_fingerprint(judging, base), judging_fingerprint(suite, base));
  // The judge counts where there is one.
  Suite judged = suite;
  judged.metrics.push_back(MetricId::faithfulness);
  const std::vector<std::function<void(FingerprintJudge&)>> judges{
      [](auto&) {},
      [](auto& j) { j.provider = ProviderKind::gemini; },
      [](auto& j) { j.model = "z"; },
      [](auto& j) { j.temperature = 0.5; },
      [](auto& j) { j.max_tokens = 1; },
      [](auto& j) { j.samples = 5; },
  };
  for (const auto& change : judges) {
    FingerprintSettings settings = base;
    change(settings.judge);
    EXPECT_TRUE(seen.insert(config_fingerprint(judged, settings)).second);
  }
  // What no metric uses does not count.
  other.metrics = {MetricId::must_contain};
  const Digest plain = config_fingerprint(other, base);
  FingerprintSettings unused = base;
  unused.embedding_model = unused.judge.model = "z";
  unused.prompt[0] = unused.ontology[0] = 1;
  EXPECT_EQ(config_fingerprint(other, unused), plain);
}

class SuiteFingerprint : public SuiteFiles {
 protected:
  Digest of(const std::string& yaml) const { return load(yaml).suite.content_fingerprint; }
};

constexpr const char* two_tests =
    "suite: s\nsettings: {thresholding: {mode: relative, max_drop: 0.1}}\ntests:\n"
    "- id: a\n  input: {prompt: p}\n  expected: {type: json_schema, schema: {type: object, minProperties: "
    "1}}\n"
    "- id: b\n  input:\n    prompt: |\n      x\n      y\n  expected:\n"
    "  - {type: semantic_similarity_to, text: t, min_score: 0.50}\n  - {type: must_contain, text: [u, v]}\n";

TEST_F(SuiteFingerprint, HasAGoldenValue) {
  EXPECT_EQ(to_hex(of(two_tests)), "3afe36ed7d4617890383259d5c5d1d519b815e54427faa778c07e731ef21fba7");
}

TEST_F(SuiteFingerprint, IgnoresOrderCommentsLineEndsAndPlace) {
  const Digest wanted = of(two_tests);
  const std::string reordered =
      "# comment\ntests:\n"
      "- expected:\n  - {text: [u, v], type: must_contain}\n  - {min_score: 0.5, text: t, type: "
      "semantic_similarity_to}\n"
      "  input: {prompt: \"x\\ny\\n\"}\n  name: other\n  id: b\n"
      "- {expected: {schema: {minProperties: 1.0, type: object}, type: json_schema}, input: {prompt: p}, id: "
      "a}\n"
      "settings:\n  thresholding: {max_drop: 1e-1, mode: relative}\nsuite: s\n";
  EXPECT_EQ(of(reordered), wanted);
  std::string crlf;
  for (const char c : std::string(two_tests)) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(of(crlf), wanted);
  EXPECT_EQ(load_any_suite(write("elsewhere/renamed.yml", two_tests))->suite.content_fingerprint, wanted);
  EXPECT_NE(of(std::string(two_tests).replace(7, 1, "t")), wanted);
  std::string other_drop = two_tests;
  other_drop.replace(other_drop.find("0.1"), 3, "0.2");
  EXPECT_NE(of(other_drop), wanted);
}

TEST_F(SuiteFingerprint, CoversTheRepeatsAndTheLeastStabilityOfTheFile) {
  const auto with = [&](const std::string& settings) {
    std::string yaml = two_tests;
    yaml.insert(yaml.find("thresholding"), settings);
    return of(yaml);
  };
  const std::vector<Digest> different{of(two_tests),
                                      with("repeat: 1, "),
                                      with("repeat: 3, "),
                                      with("min_stability: 0.9, "),
                                      with("min_stability: 1, "),
                                      with("repeat: 1, min_stability: 1, ")};
  EXPECT_EQ(std::set<Digest>(different.begin(), different.end()).size(), different.size());
  EXPECT_EQ(with("min_stability: 0.90, repeat: 3, "), with("repeat: 3, min_stability: 9e-1, "));
  EXPECT_EQ(with("timeout_seconds: 5, "), of(two_tests));
}

TEST_F(SuiteFingerprint, OfFixturesIgnoresLineEnds) {
  const std::string fixture =
      "[metadata]\nid = \"f\"\ncategory = \"c\"\n[input]\ncontent = '''\nx = 1\n  "
      "y\n'''\n[expected]\nmust_contain = "
      "[\n{subject = \"a/b\", predicate = \"p\", value = 1}]\n";
  std::string crlf;
  for (const char c : fixture) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  write("one/fix/a.toml", fixture);
  write("two/fix/renamed.toml", crlf);
  const auto one = load_any_suite(folder_ / "one/fix");
  const auto two = load_any_suite(folder_ / "two/fix");
  ASSERT_TRUE(one && two);
  EXPECT_EQ((*two->suite.cases.read(0))->content, "x = 1\n  y\n");
  EXPECT_EQ(one->suite.content_fingerprint, two->suite.content_fingerprint);
  EXPECT_EQ(one->suite.metrics.size(), 6u);
}

TEST_F(SuiteFingerprint, IsThatOfTheWholeSuiteWhateverIsSelected) {
  const Suite whole = load(two_tests).suite;
  const auto part = select(whole, {.max_cases = 1});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->content_fingerprint, whole.content_fingerprint);
}

}  // namespace
}  // namespace sluice
