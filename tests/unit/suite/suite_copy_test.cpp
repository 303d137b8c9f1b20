// A suite that is read from a copy of its files is the one that was read from the disk.
#include "coordinator/defaults.hpp"
#include "coordinator/suite/suite_copier.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::suite_copy_test {

class SuiteCopyTest : public SuiteFiles {
 protected:
  static constexpr const char* fixture =
      "[metadata]\nid = \"tls-1\"\nname = \"a fixture\"\ncategory = \"tls\"\nlanguage = \"python\"\n"
      "[input]\ncontent = 'requests.get(url, verify=False)'\n"
      "[expected]\nmust_contain = [{ subject = \"tls/cert_verification\", predicate = \"enabled\", value = "
      "false, rationale = \"verify=False\" }]\n";

  /// What is read of the path, and its copy.
  std::pair<LoadedSuite, std::shared_ptr<const SuiteCopy>> read(
      const std::filesystem::path& path, const std::vector<std::string>& allowed = {}) {
    auto loaded = load_any_suite(path, allowed);
    EXPECT_TRUE(loaded) << join_findings(loaded.error());
    if (!loaded) return {};
    auto copy = loaded->suite.copier->take();
    EXPECT_TRUE(copy);
    return {std::move(*loaded), std::move(copy)};
  }

  void expect_same(const std::filesystem::path& path, const std::vector<std::string>& allowed = {}) {
    const auto [then, copy] = read(path, allowed);
    ASSERT_TRUE(copy);
    std::vector<Case> cases;
    for (std::size_t i = 0; i < then.suite.cases.size(); ++i) cases.push_back(**then.suite.cases.read(i));
    std::filesystem::remove_all(folder_);
    const auto now = load_any_suite(path, allowed, copy);
    ASSERT_TRUE(now) << join_findings(now.error());
    EXPECT_EQ(now->suite.content_fingerprint, then.suite.content_fingerprint);
    EXPECT_EQ(now->suite.judging_fingerprint, then.suite.judging_fingerprint);
    EXPECT_EQ(now->suite.name, then.suite.name);
    EXPECT_EQ(now->suite.prompts.size(), then.suite.prompts.size());
    EXPECT_EQ(now->suite.rubrics, then.suite.rubrics);
    EXPECT_EQ(now->suite.fixture_folders, then.suite.fixture_folders);
    EXPECT_EQ(now->settings.size(), then.settings.size());
    ASSERT_EQ(now->suite.cases.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto one = now->suite.cases.read(i);
      ASSERT_TRUE(one) << one.error().message;
      EXPECT_EQ((*one)->id, cases[i].id);
      EXPECT_EQ((*one)->source, cases[i].source);
      EXPECT_EQ((*one)->content, cases[i].content);
    }
    EXPECT_FALSE(now->suite.copier) << "of a copy there is no other";
  }
};

TEST_F(SuiteCopyTest, HoldsWhateverASuiteNames) {
  write("prompts/a.txt", "Ask {{city}}");
  write("prompts/b.txt", "Please ask {{city}}");
  write("more/one.csv", "city,__expected\nRome,contains: Italy\nOslo,contains: Norway\n");
  write("more/two.jsonl",
        "{\"id\": \"x-1\", \"vars\": {\"city\": \"Bern\"}, \"expected\": {\"type\": \"must_contain\", "
        "\"text\": "
        "\"CH\"}}\n");
  write("ask.txt", "Where is Wien?");
  write("solved/one.jsonl", "{\"id\": \"a\", \"input\": \"Raise jackson.\", \"answer\": \"2.9\"}\n");
  write("set/deep/FX-0001.toml", fixture);
  write("set/.hidden/FX-0002.toml", "no fixture");
  const auto path = write("suite.yaml",
                          "suite: s\nmodel: gpt-x\nsettings: {repeat: 2}\n"
                          "prompts: [{file: \"prompts/*.txt\"}]\n"
                          "examples: [solved]\nfixtures: [set]\n"
                          "tests_file: [\"more/*.csv\", more/two.jsonl]\n"
                          "tests:\n  - {id: t, vars: {city: Wien}, expected: {type: exact_match, text: A}}\n"
                          "  - {id: u, input: {file: ask.txt}, expected: {type: exact_match, text: A}}\n");
  expect_same(path);
}

TEST_F(SuiteCopyTest, HoldsAFolderOfFixtures) {
  write("set/a/FX-0001.toml", fixture);
  write("set/manifest.toml", "[corpus]\ntotal_fixtures = 1\n");
  expect_same(folder_ / "set");
}

TEST_F(SuiteCopyTest, HoldsFilesOfAllowedFoldersAndLinks) {
  write("elsewhere/tests.csv", "question,__expected\nx,contains: y\n");
  write("real/prompt.txt", "Ask {{question}}");
  write("suite/keep.txt", "");
  std::filesystem::create_symlink("../real/prompt.txt", folder_ / "suite/prompt.txt");
  const auto path =
      write("suite/suite.yaml", "suite: s\nmodel: gpt-x\nprompts: [{file: prompt.txt}]\ntests_file: " +
                                    (folder_ / "elsewhere/tests.csv").string() + "\n");
  expect_same(path, {folder_.string()});
}

// Folders behind links are not walked through, and may be named.
TEST_F(SuiteCopyTest, HoldsFoldersAsTheyWereListed) {
  write("set/FX-0001.toml", fixture);
  write("other/tests.jsonl",
        "{\"id\": \"x-1\", \"input\": {\"prompt\": \"x\"}, \"expected\": {\"type\": \"must_contain\", "
        "\"text\": "
        "\"CH\"}}\n");
  write("extra/README.md", "no example");
  write("solved.jsonl", "{\"id\": \"a\", \"input\": \"Raise jackson.\", \"answer\": \"2.9\"}\n");
  std::filesystem::create_directory_symlink("../other", folder_ / "set/linked");
  std::filesystem::create_directories(folder_ / "g/deep");
  std::filesystem::create_directory_symlink("../other", folder_ / "g/link");
  std::filesystem::copy(folder_ / "set/FX-0001.toml", folder_ / "other/FX.toml");
  expect_same(write("suite.yaml",
                    "suite: s\nmodel: gpt-x\nfixtures: [set]\nexamples: [extra, solved.jsonl]\n"
                    "tests_file: [g/link/tests.jsonl]\n"));
}

TEST_F(SuiteCopyTest, OfTwoFilesThatLookAlikeThereIsNone) {
  SuiteCopier copier;
  copier.add("/a", "one");
  copier.add("/a", "another");
  EXPECT_FALSE(copier.take());
}

TEST_F(SuiteCopyTest, WhatIsNotInItIsNotReadFromTheDisk) {
  const auto path = write("suite.yaml",
                          "suite: s\nmodel: gpt-x\nprompts: [{file: p.txt}]\ntests:\n"
                          "  - {id: a, expected: {type: must_contain, text: y}}\n");
  write("p.txt", "Ask");
  auto copy = std::make_shared<SuiteCopy>(*read(path).second);
  copy->files.erase((folder_ / "p.txt").string());
  const auto loaded = load_any_suite(path, {}, copy);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(shown(loaded.error()),
            "suite.yaml:3: \"file\" in prompts[0] names \"p.txt\", which cannot be read: No such file or "
            "directory\n");
}

TEST_F(SuiteCopyTest, ALargeSuiteHasNone) {
  const std::string line =
      "{\"id\": \"x-1\", \"input\": {\"prompt\": \"x\"}, \"expected\": {\"type\": "
      "\"must_contain\", \"text\": \"CH\"}}\n";
  write("tests.jsonl", line + std::string(defaults::max_copied_suite_bytes, '\n'));
  auto loaded = load_any_suite(write("suite.yaml", "suite: s\nmodel: gpt-x\ntests_file: tests.jsonl\n"));
  ASSERT_TRUE(loaded) << join_findings(loaded.error());
  EXPECT_FALSE(loaded->suite.copier->take());
}

TEST_F(SuiteCopyTest, ACopierTakesNoMoreThanItMay) {
  SuiteCopier copier;
  copier.add("/a", std::string(defaults::max_copied_suite_bytes - 2, 'x'));
  copier.add("/a", std::string(defaults::max_copied_suite_bytes - 2, 'x'));
  SuiteCopier fuller;
  fuller.add("/a", std::string(defaults::max_copied_suite_bytes - 1, 'x'));
  EXPECT_FALSE(fuller.take());
  const auto copy = copier.take();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->files.size(), 1u);
  copier.add("/b", "later");
  EXPECT_FALSE(copier.take()) << "what is read later is none of it";
}

}  // namespace sluice::suite_copy_test
