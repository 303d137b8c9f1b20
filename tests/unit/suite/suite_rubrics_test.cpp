// The rubrics of a suite: which one a metric is judged by, and the folders of its own ones.
#include "coordinator/defaults.hpp"
#include "tests/unit/suite/judge_suite.hpp"

#include <algorithm>
#include <string>

namespace sluice::judge_suite_test {

TEST_F(JudgeSuite, HoldsTheRubricsThatItsTestsUseAlone) {
  write_rubric("tone", "v1");
  write_rubric("unused", "v1");
  const std::string test = "    input: {prompt: p}\n    expected: ";
  const Suite suite =
      load("suite: s\nrubrics: r\ntests:\n  - id: a\n" + test + "{type: relevancy}\n  - id: b\n" + test +
           "{type: rubric, rubric: tone}\n  - id: c\n" + test + "{type: relevancy}\n")
          .suite;
  ASSERT_EQ(suite.rubrics.size(), 2u);
  EXPECT_EQ(suite.rubrics[0].id, "relevancy");
  EXPECT_EQ(suite.rubrics[1], (Rubric{"tone", "v1", "s", "{{answer}}"}));
  EXPECT_EQ((*suite.cases.read(2))->expectations[0].judge->rubric, 0u);
  EXPECT_TRUE(load(with_keys("type: must_contain, text: a")).suite.rubrics.empty());
}

TEST_F(JudgeSuite, TheNewestVersionIsTakenWhereNoneIsNamed) {
  EXPECT_EQ(rubric_of(with_keys("type: relevancy")), "relevancy v1");
  for (const char* version : {"v9", "v10", "v2"}) write_rubric("tone", version);
  EXPECT_EQ(rubric_of(with_rubrics("type: rubric, rubric: tone")), "tone v10");
  EXPECT_EQ(rubric_of(with_rubrics("type: rubric, rubric: tone, rubric_version: v2")), "tone v2");
}

TEST_F(JudgeSuite, TheUsersVersionsGoBeforeShippedOnes) {
  write_rubric("relevancy", "acme-2");
  write_rubric("relevancy", "acme-10");
  EXPECT_EQ(rubric_of(with_rubrics("type: relevancy")), "relevancy acme-10");
  EXPECT_EQ(rubric_of(with_rubrics("type: relevancy, rubric_version: v1")), "relevancy v1");
  EXPECT_EQ(rubric_of(with_rubrics("type: faithfulness")), "faithfulness v1");
}

TEST_F(JudgeSuite, EverythingThatIsWrongInAFolderOfRubricsIsNamed) {
  write("r/tone/v1.toml", rubric_toml("tune", "v1", "{{anser}} {{answer}}"));
  write("r/relevancy/v1.toml", "# Mine.\n" + rubric_toml("relevancy", "v1"));
  write("r/.hidden/v1.toml", "x");
  write("r/tone/.v2.toml", "x");
  write("r/tone/readme.txt", "x");
  write("r/loose.toml", rubric_toml("loose", "v1"));
  write("r/large/v1.toml", std::string(defaults::max_rubric_bytes + 1, '#'));
  write("other/tone/v3.toml", rubric_toml("tone", "v3"));
  write("another/tone/v3.toml", rubric_toml("tone", "v3"));
  std::filesystem::create_directories(folder_ / "empty/tone");
  const std::string test = "tests: [{id: t, input: {prompt: p}, expected: {type: relevancy}}]\n";
  EXPECT_EQ(
      findings("suite: s\nrubrics: [r, other, another, empty, none, '', ../x]\n" + test),
      "another/tone/v3.toml:2: \"version\" is that of other/tone/v3.toml with the same id: give it another\n"
      "empty: there is no rubric (ID/VERSION.toml) in the folder\n"
      "r/large/v1.toml: the rubric is too large: at most 65536 bytes are read\n"
      "r/loose.toml: must stand in a folder of the rubric's id: rubrics are files ID/VERSION.toml\n"
      "r/relevancy/v1.toml:3: \"version\" is that of a shipped rubric with the same id: give it another\n"
      "r/tone/v1.toml:1: \"id\" must be \"tone\", as the folder is named, not \"tune\"\n"
      "r/tone/v1.toml:5: \"user\" has the unknown placeholder {{anser}}; there are "
      "{{prompt}}, {{answer}}, {{context}}, {{reference}}, {{criteria}}; did you mean \"answer\"?\n"
      "suite.yaml:2: \"rubrics\" names \"none\", which cannot be read: No such file or directory\n"
      "suite.yaml:2: \"rubrics\" must not be empty\n"
      "suite.yaml:2: \"rubrics\" names \"../x\", which lies outside of the suite's folder: move it there, or "
      "allow its folder with --allow-path DIR\n");
}

TEST_F(JudgeSuite, ARubricThatLeadsOutOfTheSuitesFolderIsRefused) {
  write("secret.toml", rubric_toml("tone", "v1"));
  write("suite/r/tone/keep.txt", "x");
  std::filesystem::create_symlink("../../../secret.toml", folder_ / "suite/r/tone/v1.toml");
  const auto path = write("suite/suite.yaml", with_rubrics("type: rubric, rubric: tone"));
  const auto loaded = load_any_suite(path);
  ASSERT_FALSE(loaded);
  EXPECT_TRUE(shown(loaded.error())
                  .starts_with("suite/r/tone/v1.toml: the rubric lies outside of the suite's folder: "))
      << shown(loaded.error());
  EXPECT_TRUE(load_any_suite(path, {folder_.string()}));
}

TEST_F(JudgeSuite, RubricFilesAreFilesOfTheSuite) {
  write_rubric("tone", "v1");
  const Suite suite = load(with_rubrics("type: rubric, rubric: tone")).suite;
  const auto rubric = identity_of(folder_ / "r/tone/v1.toml");
  ASSERT_TRUE(rubric);
  EXPECT_TRUE(std::ranges::binary_search(suite.input_files, *rubric));
}

TEST_F(JudgeSuite, TheFingerprintCoversTheRubricsTextsAndNotTheirComments) {
  const std::string yaml = with_rubrics("type: rubric, rubric: tone");
  const auto fingerprint = [&] { return load(yaml).suite.content_fingerprint; };
  write_rubric("tone", "v1");
  const Digest first = fingerprint();
  write("r/tone/v1.toml", "# A comment.\n" + rubric_toml("tone", "v1"));
  EXPECT_EQ(fingerprint(), first);
  write_rubric("other", "v1");
  EXPECT_EQ(fingerprint(), first) << "A rubric that nobody uses.";
  write_rubric("tone", "v1", "Now: {{answer}}");
  const Digest reworded = fingerprint();
  EXPECT_NE(reworded, first);
  write_rubric("tone", "v2");
  EXPECT_NE(fingerprint(), first);
  EXPECT_NE(fingerprint(), reworded);
}

}  // namespace sluice::judge_suite_test
