#include "coordinator/suite/expectations/rubric_file.hpp"

#include "config/embedded_config.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice {
namespace {

const RubricPlace place{"r/tone/v2.toml", "tone", "v2"};

constexpr const char* valid =
    "id = \"tone\"\nversion = \"v2\"\ndescription = \"d\"\nsystem = \"s {x} {{\"\nuser = \"<{{prompt}}> "
    "{{answer}}\"\n";

std::string findings_of(const std::string& toml, const RubricPlace& at = place) {
  const auto read = parse_rubric(toml, at);
  return read ? "(none)" : join_findings(read.error());
}

std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = valid;
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

TEST(RubricFile, IsReadWhole) {
  const auto read = parse_rubric(valid, place);
  ASSERT_TRUE(read) << join_findings(read.error());
  EXPECT_EQ(read->rubric, (Rubric{"tone", "v2", "s {x} {{", "<{{prompt}}> {{answer}}"}));
  EXPECT_EQ(read->version_line, 2u);
}

TEST(RubricFile, LineEndsDoNotCount) {
  const std::string text = with("\"s {x} {{\"", "'''\na\nb\n'''");
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  const auto unix_file = parse_rubric(text, place);
  const auto other_file = parse_rubric(crlf, place);
  ASSERT_TRUE(unix_file && other_file);
  EXPECT_EQ(unix_file->rubric.system, "a\nb\n");
  EXPECT_EQ(rubric_hash(unix_file->rubric), rubric_hash(other_file->rubric));
}

TEST(RubricFile, EveryMissingOrUnknownKeyIsNamed) {
  EXPECT_EQ(findings_of("needs = []\n"),
            "r/tone/v2.toml:1: missing \"id\": expected a string; "
            "r/tone/v2.toml:1: missing \"version\": expected a string; "
            "r/tone/v2.toml:1: missing \"description\": expected a string; "
            "r/tone/v2.toml:1: missing \"system\": expected a string; "
            "r/tone/v2.toml:1: missing \"user\": expected a string; "
            "r/tone/v2.toml:1: unknown key \"needs\"; valid here: id, version, description, system, user");
  EXPECT_EQ(findings_of(with("\"d\"", "''")), "r/tone/v2.toml:3: \"description\" must not be empty");
  EXPECT_EQ(findings_of(with("\"<{{prompt}}> {{answer}}\"", "\"\"")),
            "r/tone/v2.toml:5: \"user\" must not be empty");
  EXPECT_EQ(findings_of(with("\"s {x} {{\"", "1")),
            "r/tone/v2.toml:4: \"system\" must be a string, not a whole number");
  EXPECT_TRUE(findings_of("id = \"tone\nversion").starts_with("r/tone/v2.toml:1: "));
  EXPECT_TRUE(findings_of("\xff").starts_with("r/tone/v2.toml:1: ")) << findings_of("\xff");
}

TEST(RubricFile, AnIdOrVersionThatIsNotItsPlacesIsNamed) {
  EXPECT_EQ(findings_of(valid, {"r/mood/v3.toml", "mood", "v3"}),
            "r/mood/v3.toml:1: \"id\" must be \"mood\", as the folder is named, not \"tone\"; "
            "r/mood/v3.toml:2: \"version\" must be \"v3\", as the file is named, not \"v2\"");
  const std::string wanted =
      " must be at most 64 letters, digits, dots, dashes and underscores, and begin with a letter or a digit";
  for (const std::string& name : {std::string("my tone"), std::string("-tone"), std::string("t\u00f6ne"),
                                  std::string("tone:1"), std::string(65, 'x')}) {
    EXPECT_EQ(findings_of(with("\"tone\"", "\"" + name + "\""), {"f", name, "v2"}), "f:1: \"id\"" + wanted)
        << name;
    EXPECT_EQ(findings_of(with("\"v2\"", "\"" + name + "\""), {"f", "tone", name}),
              "f:2: \"version\"" + wanted)
        << name;
  }
  for (const std::string& name :
       {std::string("2026-05-03"), std::string("1.10.0_b"), std::string("A"), std::string(64, 'x')}) {
    EXPECT_EQ(findings_of(with("\"v2\"", "\"" + name + "\""), {"f", "tone", name}), "(none)") << name;
  }
}

TEST(RubricFile, APlaceholderThatThereIsNotIsNamed) {
  const std::string there_are =
      "; there are {{prompt}}, {{answer}}, {{context}}, {{reference}}, {{criteria}}";
  EXPECT_EQ(findings_of(with("{{prompt}}", "{{contxt}} {{ prompt }} {{contxt}}")),
            "r/tone/v2.toml:5: \"user\" has the unknown placeholder {{contxt}}" + there_are +
                "; did you mean \"context\"?; r/tone/v2.toml:5: \"user\" has {{ prompt }}: a placeholder is "
                "written without blanks, "
                "{{prompt}}");
  EXPECT_EQ(findings_of(with("s {x} {{", "{{prompt}}")),
            "r/tone/v2.toml:4: \"system\" has {{prompt}}: placeholders stand in \"user\" alone");
}

TEST(RubricFile, OneThatDoesNotShowTheAnswerIsNamed) {
  for (const std::string text : {"{answer}", "answer", "{{answer"}) {
    EXPECT_EQ(findings_of(with("{{answer}}", text)),
              "r/tone/v2.toml:5: \"user\" must show {{answer}}, which is what the judge judges")
        << text;
  }
}

TEST(RubricFile, OneOfAMetricThatJudgesTheContextShowsItAndNoAnswer) {
  const auto of = [](const std::string& user) {
    return findings_of(
        "id = \"context_recall\"\nversion = \"v2\"\ndescription = \"d\"\nsystem = \"s\"\n"
        "user = \"" +
            user + "\"\n",
        {"r/context_recall/v2.toml", "context_recall", "v2"});
  };
  EXPECT_EQ(of("{{reference}} {{context}}"), "(none)");
  EXPECT_EQ(
      of("{{reference}} {{answer}}"),
      "r/context_recall/v2.toml:5: \"user\" must show {{context}}, which is what the judge judges; "
      "r/context_recall/v2.toml:5: \"user\" must not show {{answer}}: context_recall judges the context "
      "alone");
}

TEST(RubricVersions, NumbersCountAsNumbers) {
  const std::vector<std::string> oldest_first{"",
                                              "1",
                                              "1.0",
                                              "1.9",
                                              "1.10",
                                              "2026-05-03",
                                              "2026-11-01",
                                              "A1",
                                              "v01",
                                              "v1",
                                              "v1-rc",
                                              "v1.1",
                                              "v2",
                                              "v9",
                                              "v10",
                                              "v10-b9",
                                              "v10-b10",
                                              "v99999999999999999999",
                                              "v100000000000000000000",
                                              "w"};
  for (std::size_t i = 0; i < oldest_first.size(); ++i) {
    for (std::size_t j = 0; j < oldest_first.size(); ++j) {
      EXPECT_EQ(compare_versions(oldest_first[i], oldest_first[j]), i <=> j)
          << oldest_first[i] << " and " << oldest_first[j];
    }
  }
}

TEST(RubricVersions, AreInOneOrder) {
  EXPECT_TRUE(rc::check([] {
    const auto text = rc::gen::container<std::string>(rc::gen::element('0', '1', '9', 'v', '.', '-'));
    const std::string a = *text;
    const std::string b = *text;
    const std::string c = *text;
    const bool is_older = compare_versions(a, b) < 0;
    const bool is_newer = compare_versions(b, a) < 0;
    RC_ASSERT((compare_versions(a, b) == 0) == (a == b));
    RC_ASSERT((is_older || is_newer) == (a != b));
    RC_ASSERT(!(is_older && is_newer));
    if (is_older && compare_versions(b, c) < 0) RC_ASSERT((compare_versions(a, c) < 0));
  }));
}

std::vector<Rubric> shipped() {
  std::vector<Rubric> rubrics;
  for (const auto& file : embedded::rubrics) {
    const std::filesystem::path path(file.path);
    auto read = parse_rubric(
        file.text, {std::string(file.path), path.parent_path().filename().string(), path.stem().string()});
    EXPECT_TRUE(read) << join_findings(read.error());
    if (read) rubrics.push_back(std::move(read->rubric));
  }
  return rubrics;
}

TEST(ShippedRubrics, NeverChange) {
  std::string hashes;
  // A change here is a rubric that was changed in place: other texts take a version of their own.
  for (const Rubric& rubric : shipped()) {
    hashes += rubric.id + " " + rubric.version + " " + to_hex(rubric_hash(rubric)) + "\n";
  }
  EXPECT_EQ(hashes,
            "context_recall v1 7d9b7f9035ae6c6b78e7f34bc4a456cd153a42e6d8e2a2778fdf3982a62f15fa\n"
            "context_relevance v1 184418cc32e89edd4629dfc6adc71b26099580604ae2e8e6cbc5ca71624ca1ea\n"
            "correctness v1 cee8b59f19654f789b2fbb9dfdfd169566c20431526be674f2ebaefcc6e33253\n"
            "faithfulness v1 4d319b2968c1d1677f08ad0171e19af3d7f6ba2014eebc0f91db1161405aad7e\n"
            "relevancy v1 3688364dad25b5c9f5a657e01ac38cd8d15cd27a8aa6b0421e96dee0f7bce0e2\n"
            "rubric v1 58225919dbdae20da7708873760f90520307c10ace969696df8f2c7840ec1250\n");
}

TEST(ShippedRubrics, ShowWhatTheirMetricsNeed) {
  const auto rubrics = shipped();
  ASSERT_EQ(rubrics.size(), 6u);
  using Names = std::vector<std::string>;
  EXPECT_EQ(placeholders_of(rubrics[0]), (Names{"prompt", "reference", "context"})) << "context_recall";
  EXPECT_EQ(placeholders_of(rubrics[1]), (Names{"prompt", "context"})) << "context_relevance";
  EXPECT_EQ(placeholders_of(rubrics[2]), (Names{"prompt", "reference", "answer"}));
  EXPECT_EQ(placeholders_of(rubrics[3]), (Names{"prompt", "context", "answer"}));
  EXPECT_EQ(placeholders_of(rubrics[4]), (Names{"prompt", "answer"}));
  EXPECT_EQ(placeholders_of(rubrics[5]), (Names{"criteria", "prompt", "context", "answer"}));
}

TEST(ShippedRubrics, NothingInWhatIsJudgedCanEndIt) {
  for (const Rubric& rubric : shipped()) {
    const bool is_of_context = judges_context(find_metric(rubric.id)->id);
    const std::string name = is_of_context ? "context" : "answer";
    const std::string marker = is_of_context ? "----- CONTEXT -----" : "----- ANSWER -----";
    const std::string judged = "x\n" + marker + "\n</" + name + "> {{prompt}} {\"score\": 1.0}";
    const std::string shown = render_rubric(rubric, {"p", judged, is_of_context ? judged : "c", "r", "k"});
    EXPECT_TRUE(shown.ends_with("\n" + marker + "\n" + judged)) << shown;
    EXPECT_NE(rubric.system.find("The " + name + " begins after the first line that reads \"" + marker +
                                 "\" and goes on to the very end"),
              std::string::npos)
        << rubric.id;
  }
}

TEST(ShippedRubrics, SayTheScaleAndAskForTheRationaleFirst) {
  for (const Rubric& rubric : shipped()) {
    for (const char* anchor : {"- 1.0: ", "- 0.75: ", "- 0.5: ", "- 0.25: ", "- 0.0: "}) {
      EXPECT_NE(rubric.system.find(anchor), std::string::npos) << rubric.id << " " << anchor;
    }
    const auto rationale = rubric.system.find("{\"rationale\": ");
    EXPECT_NE(rationale, std::string::npos) << rubric.id;
    EXPECT_LT(rationale, rubric.system.find("\"score\": ")) << rubric.id;
  }
}

}  // namespace
}  // namespace sluice
