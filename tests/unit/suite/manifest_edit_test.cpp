#include "coordinator/suite/fixtures/manifest_edit.hpp"

#include "coordinator/suite/fixtures/manifest.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice {
namespace {

AggregateBaseline sample() {
  return {0.87, 0.76, 0.8125, "2.0", "new-model", "2026-03-01T12:00:00Z"};
}

std::string edited(std::string_view manifest, const AggregateBaseline& baseline = sample()) {
  const auto text = with_baseline(manifest, baseline, "manifest.toml");
  return text ? *text : "refused: " + text.error().message;
}

constexpr const char* all_keys =
    "precision = 0.87\nrecall = 0.76\nf1 = 0.8125\nprompt_version = \"2.0\"\nmodel = \"new-model\"\n"
    "measured_at = \"2026-03-01T12:00:00Z\"\n";

struct Layout {
  const char* name;
  std::string before;
  std::string after;
};

class Layouts : public ::testing::TestWithParam<Layout> {};

TEST_P(Layouts, OnlyTheBaselineChanges) {
  EXPECT_EQ(edited(GetParam().before), GetParam().after);
  EXPECT_EQ(edited(GetParam().after), GetParam().after) << "once more changes nothing";
}

const std::array layouts{
    Layout{"Empty", "", std::string("[baseline]\n") + all_keys},
    Layout{"NoTable", "# mine\n[corpus]\nversion = \"1\"\n",
           std::string("# mine\n[corpus]\nversion = \"1\"\n\n[baseline]\n") + all_keys},
    Layout{"NoTableAndNoLineEnd", "[corpus]\nversion = '1' # one",
           std::string("[corpus]\nversion = '1' # one\n\n[baseline]\n") + all_keys},
    Layout{"OfTheSpec",
           "# tests/llm_fixtures/manifest.toml\n[corpus]\nversion = \"1.0.0\"\ntotal_fixtures = 35\n"
           "[baseline]\n# Known-good metrics from last successful run\nprecision = 0.85\nrecall = 0.78\n"
           "f1 = 0.81\nprompt_version = \"1.0.0\"\nmodel = \"gemini-2.0-flash\"\n"
           "measured_at = \"2026-02-05T10:30:00Z\"\n",
           std::string("# tests/llm_fixtures/manifest.toml\n[corpus]\nversion = \"1.0.0\"\n"
                       "total_fixtures = 35\n[baseline]\n# Known-good metrics from last successful run\n") +
               all_keys},
    Layout{"TableFirst", "[baseline]\nrecall = 0.1\n\n# about the corpus\n[corpus]\nversion = \"1\"\n",
           "[baseline]\nrecall = 0.76\nprecision = 0.87\nf1 = 0.8125\nprompt_version = \"2.0\"\n"
           "model = \"new-model\"\nmeasured_at = \"2026-03-01T12:00:00Z\"\n\n# about the corpus\n[corpus]\n"
           "version = \"1\"\n"},
    Layout{"EmptyTableBeforeAnother", "[baseline] # soon\n[corpus]\n",
           std::string("[baseline] # soon\n") + all_keys + "[corpus]\n"},
    Layout{"EmptyTableAtTheEnd", "[baseline]", std::string("[baseline]\n") + all_keys},
    Layout{"CommentsAndOrder",
           "[baseline] # mine\n  # first\n  f1=0.1# why\n\n  precision  =  0.2   # how\n  recall = 0\n"
           "  measured_at = 2026-01-01 00:00:00Z  # when\n  model = 'old ] # [x]'\n"
           "  prompt_version = \"1 # \\\" ]\" # last\n  # end\n",
           "[baseline] # mine\n  # first\n  f1=0.8125# why\n\n  precision  =  0.87   # how\n  recall = 0.76\n"
           "  measured_at = \"2026-03-01T12:00:00Z\"  # when\n  model = \"new-model\"\n"
           "  prompt_version = \"2.0\" # last\n  # end\n"},
    Layout{"IndentationIsKept", "[baseline]\n\trecall = 0.1 # r\n",
           "[baseline]\n\trecall = 0.76 # r\n\tprecision = 0.87\n\tf1 = 0.8125\n\tprompt_version = \"2.0\"\n"
           "\tmodel = \"new-model\"\n\tmeasured_at = \"2026-03-01T12:00:00Z\"\n"},
    Layout{"CarriageReturns", "[corpus]\r\nversion = \"1\"\r\n[baseline]\r\nf1 = 0.5\r\nrecall = 1\r\n",
           "[corpus]\r\nversion = \"1\"\r\n[baseline]\r\nf1 = 0.8125\r\nrecall = 0.76\r\nprecision = 0.87\r\n"
           "prompt_version = \"2.0\"\r\nmodel = \"new-model\"\r\nmeasured_at = \"2026-03-01T12:00:00Z\"\r\n"},
    Layout{"NoLineEndAfterTheLastKey", "[baseline]\nf1 = 0.5",
           "[baseline]\nf1 = 0.8125\nprecision = 0.87\nrecall = 0.76\nprompt_version = \"2.0\"\n"
           "model = \"new-model\"\nmeasured_at = \"2026-03-01T12:00:00Z\"\n"},
    Layout{"ABaselineInAComment",
           "# [baseline]\n# f1 = 0.5\n[corpus]\nversion = \"\"\"\n[baseline]\nf1 = 1\"\"\"\n",
           std::string("# [baseline]\n# f1 = 0.5\n[corpus]\nversion = \"\"\"\n[baseline]\nf1 = 1\"\"\"\n\n"
                       "[baseline]\n") +
               all_keys},
};

INSTANTIATE_TEST_SUITE_P(ManifestEdit, Layouts, ::testing::ValuesIn(layouts),
                         [](const auto& layout) { return layout.param.name; });

TEST(ManifestEdit, WhatHasNoValueAnyMoreGoesWithItsLine) {
  AggregateBaseline baseline;
  baseline.recall = 0.0;
  EXPECT_EQ(edited("[baseline]\nprecision = 0.5 # p\n# about recall\nrecall = 0.5\nf1 = 0.4\nmodel = \"m\"",
                   baseline),
            "[baseline]\n# about recall\nrecall = 0\n");
  EXPECT_EQ(edited("[baseline]\nf1 = 0.4", baseline), "[baseline]\nrecall = 0\n");
}

TEST(ManifestEdit, NumbersStandInTheirShortestForm) {
  AggregateBaseline baseline;
  baseline.precision = 1.0;
  baseline.recall = 2.0 / 3.0;
  baseline.f1 = 1e-9;
  EXPECT_EQ(edited("", baseline), "[baseline]\nprecision = 1\nrecall = 0.6666666666666666\nf1 = 1e-09\n");
}

TEST(ManifestEdit, TextsAreEscaped) {
  AggregateBaseline baseline;
  baseline.model = "a \"b\"\\ \n\x7f é";
  EXPECT_EQ(edited("", baseline), "[baseline]\nmodel = \"a \\\"b\\\"\\\\ \\u000A\\u007F é\"\n");
}

TEST(ManifestEdit, WhatCannotBeEditedIsRefusedWithItsPlace) {
  const struct {
    const char* manifest;
    const char* message;
  } cases[] = {
      {"[baseline]\nf1 = \"x\"\n", "manifest.toml:2: "},
      {"[baseline]\nf1 = 0.5\nmood = 1\n", "manifest.toml:3: "},
      {"[baseline\n", "manifest.toml:1: "},
      {"\n[baseline.deep]\nf1 = 1\n", "manifest.toml:"},
  };
  for (const auto& one : cases) {
    const auto text = with_baseline(one.manifest, sample(), "manifest.toml");
    ASSERT_FALSE(text) << one.manifest;
    EXPECT_EQ(text.error().reason, Reason::fixture_invalid);
    EXPECT_TRUE(text.error().message.starts_with(one.message)) << text.error().message;
  }
}

TEST(ManifestEdit, OnlyAPlainTableIsEditedAndAnythingElseSaysWhatToWrite) {
  for (const std::string manifest :
       {"baseline = { f1 = 0.5 }\n", "baseline = {\n  f1 = 0.5 # why\n}\n", "baseline.f1 = 0.5\n",
        "[ baseline ]\nf1 = 0.5\n", "[\"baseline\"]\nf1 = 0.5\n", "[\"base\\u006Cine\"]\nf1 = 0.5\n",
        "[baseline]\n\"f1\" = 0.5\n", "[baseline]\nmodel = '''\nold\n'''\n",
        "[baseline]\nmodel = \"\"\"old\"\"\"\n", "[baseline]\nf1 = [\n",
        "[baseline]\nf1 = 0.5\n[corpus]\nversion = \"\"\"\n[baseline]\nf1 = 1\"\"\"\n"}) {
    const auto text = with_baseline(manifest, sample(), "manifest.toml");
    ASSERT_FALSE(text) << manifest;
    EXPECT_EQ(text.error().reason, Reason::fixture_invalid);
    if (manifest.ends_with("[\n")) continue;  // No TOML at all.
    EXPECT_EQ(text.error().message,
              "manifest.toml: only a plain [baseline] table with a key a line is edited; write by hand, a "
              "line each below [baseline]: precision = 0.87; recall = 0.76; f1 = 0.8125; prompt_version = "
              "\"2.0\"; model = \"new-model\"; measured_at = \"2026-03-01T12:00:00Z\"")
        << manifest;
  }
}

// --- Properties: manifests of any layout ---

/// A manifest in three parts: what stands before the baseline, the baseline, and what follows it.
struct Parts {
  std::string before;
  std::string baseline;
  std::string after;
  std::string whole() const { return before + baseline + after; }
};

std::string one_of(const std::vector<std::string>& choices) {
  return *rc::gen::elementOf(choices);
}

std::string any_comment(const std::string& line_end) {
  return one_of({"", "# a comment" + line_end, line_end, "  # [baseline] = \"\"\"" + line_end + line_end});
}

std::string any_corpus(const std::string& line_end) {
  std::string text = one_of({"[corpus]", "[ 'corpus' ] # the corpus"}) + line_end;
  if (*rc::gen::arbitrary<bool>()) {
    text += one_of({"version = \"1 # [x] \\\\\"", "version='''a\n[x]\nf1 = 2'''",
                    "version = \"\"\"x\"\"\"\"\""}) +
            one_of({"", " # v"}) + line_end;
  }
  text += any_comment(line_end);
  if (*rc::gen::arbitrary<bool>()) text += "total_fixtures = 3" + line_end;
  return text + any_comment(line_end);
}

std::string any_members(const std::string& prefix, const std::string& line_end) {
  const std::vector<std::string> lines{"precision = 0.5",     "recall=1",
                                       "f1 = 0.25 # why",     "prompt_version = '1'",
                                       "model = \"m # ] }\"", "measured_at = 2026-01-01"};
  std::string text;
  for (const auto& line : lines) {
    if (*rc::gen::arbitrary<bool>()) text += prefix + line + line_end;
  }
  return text;
}

Parts any_manifest() {
  const std::string line_end = one_of({"\n", "\r\n"});
  const bool has_table = *rc::gen::arbitrary<bool>();
  Parts parts;
  if (has_table) {  // A table between or behind others.
    const bool first = *rc::gen::arbitrary<bool>();
    parts.before = any_comment(line_end) + (first ? "" : any_corpus(line_end));
    parts.baseline = one_of({"[baseline]", "[baseline] # b"}) + line_end + any_members("", line_end);
    parts.after = any_comment(line_end) + (first ? any_corpus(line_end) : "");
  } else {
    parts.before = any_comment(line_end) + any_corpus(line_end);
  }
  return parts;
}

AggregateBaseline any_baseline() {
  const auto score = [] {
    return *rc::gen::maybe(rc::gen::map(rc::gen::inRange(0, 1'000'001), [](int n) { return n / 1e6; }));
  };
  const auto to_optional = [](const rc::Maybe<double>& maybe) {
    return maybe ? std::optional<double>(*maybe) : std::nullopt;
  };
  AggregateBaseline baseline;
  baseline.precision = to_optional(score());
  baseline.recall = to_optional(score());
  baseline.f1 = to_optional(score());
  const auto word = [] { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); };
  baseline.prompt_version = word();
  baseline.model = word();
  baseline.measured_at = "2026-03-01T12:00:00Z";
  return baseline;
}

TEST(ManifestEditProperties, EverythingOutsideTheBaselineStaysByteByByte) {
  EXPECT_TRUE(rc::check([] {
    const Parts parts = any_manifest();
    const auto text = with_baseline(parts.whole(), any_baseline(), "manifest.toml");
    RC_ASSERT(text.has_value());
    RC_ASSERT(text->starts_with(parts.before));
    RC_ASSERT(text->ends_with(parts.after));
    RC_ASSERT(text->size() >= parts.before.size() + parts.after.size());
  }));
}

TEST(ManifestEditProperties, TheNewBaselineIsReadBackAndWrittenTwiceStaysTheSame) {
  EXPECT_TRUE(rc::check([] {
    const auto baseline = any_baseline();
    const auto text = with_baseline(any_manifest().whole(), baseline, "manifest.toml");
    RC_ASSERT(text.has_value());
    const auto parsed = parse_manifest(*text, "manifest.toml");
    RC_ASSERT(parsed.findings.empty());
    RC_ASSERT(parsed.manifest.baseline.has_value());
    RC_ASSERT(parsed.manifest.baseline->precision == baseline.precision);
    RC_ASSERT(parsed.manifest.baseline->f1 == baseline.f1);
    RC_ASSERT(parsed.manifest.baseline->model == baseline.model);
    const auto again = with_baseline(*text, baseline, "manifest.toml");
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *text);
  }));
}

}  // namespace
}  // namespace sluice
