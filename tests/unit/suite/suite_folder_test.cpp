#include "coordinator/suite/suite_folder.hpp"

#include "tests/unit/suite/suite_files.hpp"

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

const std::string outside =
    "lies outside of the suite's folder: move it there, or allow its folder with --allow-path DIR";

/// A suite's folder beside a secret.
class SuiteFolderTest : public SuiteFiles, public testing::WithParamInterface<SuiteFolder::Opening> {
 protected:
  void SetUp() override {
    SuiteFiles::SetUp();
    write("secret.txt", "secret");
    write("suite/a.txt", "a");
    write("suite/sub/b.txt", "b");
    write("shared/c.txt", "c");
  }

  /// The file's text, or why it is refused.
  std::string read(const fs::path& name, const std::vector<std::string>& allowed = {}) const {
    const auto folder = SuiteFolder::open(folder_ / "suite", allowed, GetParam());
    EXPECT_TRUE(folder) << folder.error().message;
    if (!folder) return "";
    const auto text = (*folder)->read(name, 1000);
    EXPECT_TRUE(text || text.error().reason == Reason::file_unreadable);
    return text ? *text : text.error().message;
  }
  void link(const fs::path& target, const std::string& name) const {
    fs::create_symlink(target, folder_ / "suite" / name);
  }
};

TEST_P(SuiteFolderTest, ReadsWhatLiesBelow) {
  EXPECT_EQ(read("a.txt"), "a");
  EXPECT_EQ(read("sub/b.txt"), "b");
  EXPECT_EQ(read("./sub/../a.txt"), "a");
  EXPECT_EQ(read("none.txt"), "cannot be read: No such file or directory");
  EXPECT_EQ(read("sub"), "cannot be read: Is a directory");
  EXPECT_EQ(read("."), "cannot be read: Is a directory");
  EXPECT_EQ(read(""), "cannot be read: No such file or directory");
}

TEST_P(SuiteFolderTest, SaysWhichFileWasReadAndStopsAtALimit) {
  const auto folder = SuiteFolder::open(folder_ / "suite", {}, GetParam());
  ASSERT_TRUE(folder);
  write("suite/long.txt", std::string(1000, 'x'));
  std::vector<FileIdentity> opened;
  EXPECT_TRUE((*folder)->read("long.txt", 1000, &opened));
  EXPECT_EQ(opened, std::vector{*identity_of(folder_ / "suite/long.txt")});
  EXPECT_EQ((*folder)->read("long.txt", 999).error(),
            (Error{Reason::file_too_large, "is too large: at most 999 bytes are read"}));
}

// What the system said of a file when it was opened is not asked for again: it may have grown since.
TEST(ReadFile, ReadsAFileWholeThatHasGrownSinceItWasChecked) {
  const FileDescriptor file(::memfd_create("grows", MFD_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  const auto write = [&](const std::string& text) {
    return ::pwrite(file.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  };
  ASSERT_TRUE(write("a"));
  const auto facts = check_regular(file);
  ASSERT_TRUE(facts);
  const std::string grown(5000, 'b');
  ASSERT_TRUE(write(grown));
  EXPECT_EQ(read_file(file, *facts, 5000).value(), grown);
  ASSERT_EQ(::lseek(file.number(), 0, SEEK_SET), 0);
  EXPECT_FALSE(read_file(file, *facts, 4999)) << "the limit holds all the same";
}

// Its letters were taken for a column that cannot be a variable's name.
TEST_P(SuiteFolderTest, ATextInUtf16IsRefused) {
  write("suite/little.csv", std::string("\xff\xfei\0d\0", 6));
  write("suite/big.csv", std::string("\xfe\xff\0i\0d", 6));
  for (const char* name : {"little.csv", "big.csv"})
    EXPECT_EQ(
        read(name),
        "cannot be read: it is in UTF-16, and texts must be in UTF-8 (`iconv -f UTF-16 -t UTF-8 OLD > NEW` "
        "converts it)");
}

TEST_P(SuiteFolderTest, APathThatClimbsOutIsRefused) {
  EXPECT_EQ(read("../secret.txt"), outside);
  EXPECT_EQ(read("sub/../../secret.txt"), outside);
  EXPECT_EQ(read("../none.txt"), outside);
  EXPECT_EQ(read("../suite-of-another/x"), outside);
  EXPECT_EQ(read((folder_ / "secret.txt").string()), "must be a path relative to the suite's folder");
  EXPECT_EQ(read((folder_ / "suite/a.txt").string()), "must be a path relative to the suite's folder");
}

TEST_P(SuiteFolderTest, ALinkThatLeadsOutIsRefused) {
  link(folder_ / "secret.txt", "whole");
  link("../secret.txt", "climbing");
  link("..", "up");
  link("whole", "twice");
  link("/proc/self/environ", "environ");
  link("/proc/self/root", "root");
  for (const char* name : {"whole", "climbing", "up/secret.txt", "twice", "environ"}) {
    EXPECT_EQ(read(name), outside) << name;
  }
  EXPECT_EQ(read("root" + (folder_ / "secret.txt").string()), outside);
}

TEST_P(SuiteFolderTest, ALinkThatStaysInsideIsFollowed) {
  link("sub/b.txt", "relative");
  link(folder_ / "suite/sub/b.txt", "absolute");
  link("sub", "folder");
  EXPECT_EQ(read("relative"), "b");
  EXPECT_EQ(read("absolute"), "b");
  EXPECT_EQ(read("folder/b.txt"), "b");
  EXPECT_EQ(read("sub/../folder/../a.txt"), "a");
}

TEST_P(SuiteFolderTest, LinksThatGoInCirclesOrNowhereAreUnreadable) {
  link("circle", "circle");
  link("none.txt", "nowhere");
  link(folder_ / "suite/none.txt", "nowhere-at-all");
  EXPECT_EQ(read("circle"), "cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(read("nowhere"), "cannot be read: No such file or directory");
  EXPECT_EQ(read("nowhere-at-all"), "cannot be read: No such file or directory");
}

TEST_P(SuiteFolderTest, AFurtherFolderIsAllowedByTheCommandLine) {
  link("../shared/c.txt", "linked");
  const std::string shared = (folder_ / "shared").string();
  EXPECT_EQ(read("../shared/c.txt"), outside);
  EXPECT_EQ(read("../shared/c.txt", {shared}), "c");
  EXPECT_EQ(read(shared + "/c.txt", {shared}), "c");
  EXPECT_EQ(read("linked", {shared}), "c");
  EXPECT_EQ(read("../shared/none.txt", {shared}), "cannot be read: No such file or directory");
  EXPECT_EQ(read("../secret.txt", {shared}), outside);
  EXPECT_EQ(read("../shared/../secret.txt", {shared}), outside);
  EXPECT_EQ(read((folder_ / "secret.txt").string(), {shared}),
            "must be a path relative to the suite's folder");
}

TEST_P(SuiteFolderTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo((folder_ / "suite/pipe").c_str(), 0600), 0);
  EXPECT_EQ(read("pipe"), "cannot be read: not a regular file");
  EXPECT_EQ(read("/dev/null", {"/dev"}), "cannot be read: not a regular file");
  EXPECT_EQ(read("/proc/self/environ", {"/proc"}), "cannot be read: not a regular file");
}

TEST_P(SuiteFolderTest, AFolderIsFoundBelowOnly) {
  link("../shared", "out");
  const auto folder = SuiteFolder::open(folder_ / "suite", {}, GetParam());
  ASSERT_TRUE(folder);
  EXPECT_EQ((*folder)->find_folder("sub").value_or(""), folder_ / "suite/sub");
  EXPECT_EQ((*folder)->find_folder("a.txt").error().message, "is no folder");
  EXPECT_EQ((*folder)->find_folder("../shared").error().message, outside);
  EXPECT_EQ((*folder)->find_folder("out").error().message, outside);
}

TEST_P(SuiteFolderTest, AnAllowedPathIsAFolder) {
  const auto none = SuiteFolder::open(folder_ / "suite", {(folder_ / "none").string()}, GetParam());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "--allow-path names \"" + (folder_ / "none").string() +
                                      "\", which cannot be read: No such file or directory");
  EXPECT_FALSE(SuiteFolder::open(folder_ / "suite", {(folder_ / "secret.txt").string()}, GetParam()));
}

// Somebody swaps a folder for a link while files are opened: none of them may come from outside.
TEST_P(SuiteFolderTest, ASwapWhileAFileIsOpenedNeverLeadsOut) {
  write("outside/b.txt", "secret");
  const fs::path inside = folder_ / "suite/sub";
  const fs::path aside = folder_ / "suite/aside";
  std::atomic<bool> ended = false;
  std::thread swapping([&] {
    while (!ended) {
      std::error_code ignored;
      fs::rename(inside, aside, ignored);
      fs::create_symlink("../outside", inside, ignored);
      fs::remove(inside, ignored);
      fs::rename(aside, inside, ignored);
    }
  });
  const auto folder = SuiteFolder::open(folder_ / "suite", {}, GetParam());
  int read_well = 0;
  // On a busy machine the folder may stand aside all the while.
  for (int i = 0; i < 3000 || (read_well == 0 && i < 3'000'000); ++i) {
    const auto text = (*folder)->read("sub/b.txt", 1000);
    if (!text) continue;
    EXPECT_EQ(*text, "b");
    ++read_well;
  }
  ended = true;
  swapping.join();
  EXPECT_GT(read_well, 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, SuiteFolderTest,
                         testing::Values(SuiteFolder::Opening::by_kernel, SuiteFolder::Opening::by_steps),
                         [](const auto& way) {
                           return way.param == SuiteFolder::Opening::by_kernel ? "ByKernel" : "BySteps";
                         });

using ConfinedSuite = SuiteFiles;

TEST_F(ConfinedSuite, WhateverASuiteNamesIsRefusedWithItsLineWhenItLiesOutside) {
  write("secret.txt", "secret");
  write("elsewhere/f.toml", "");
  write("suite/none.txt", "");
  fs::create_symlink("../secret.txt", folder_ / "suite/link.txt");
  const std::string which = ", which " + outside + "\n";
  const auto loaded = load_any_suite(
      write("suite/suite.yaml",
            "suite: s\n"
            "fixtures: ../elsewhere\n"
            "tests_file: ../tests.jsonl\n"
            "tests:\n"
            "- {id: a, input: {file: ../secret.txt}, expected: {type: exact_match, text: a}}\n"
            "- {id: b, input: {file: link.txt}, expected: {type: exact_match, text: a}}\n"
            "- {id: c, input: {prompt: p}, expected: {type: json_schema, schema: ../schema.json}}\n"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(shown(loaded.error()),
            "suite/suite.yaml:2: \"fixtures\" names \"../elsewhere\"" + which +
                "suite/suite.yaml:3: \"tests_file\" names \"../tests.jsonl\"" + which +
                "suite/suite.yaml:5: \"file\" in input names \"../secret.txt\"" + which +
                "suite/suite.yaml:6: \"file\" in input names \"link.txt\"" + which +
                "suite/suite.yaml:7: \"schema\" in expected names \"../schema.json\"" + which);
}

TEST_F(ConfinedSuite, ALineOfATestsFileIsConfinedToo) {
  write("secret.txt", "secret");
  write(
      "suite/tests.jsonl",
      R"({"id": "a", "input": {"file": "../secret.txt"}, "expected": {"type": "exact_match", "text": "a"}})");
  const auto loaded = load_any_suite(write("suite/suite.yaml", "suite: s\ntests_file: tests.jsonl\n"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(shown(loaded.error()),
            "suite/tests.jsonl:1: \"file\" in input names \"../secret.txt\", which " + outside + "\n");
}

TEST_F(ConfinedSuite, AFixtureThatIsALinkIsConfinedToo) {
  const std::string fixture =
      "[metadata]\nid = \"a\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n[expected]\n";
  write("shared/a.toml", fixture);
  write("suite/b.toml", "[metadata]\nid = \"b\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n[expected]\n");
  fs::create_symlink("../shared/a.toml", folder_ / "suite/a.toml");
  const auto loaded = load_any_suite(folder_ / "suite");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(shown(loaded.error()), "suite/a.toml: the fixture " + outside + "\n");
  const auto allowed = load_any_suite(folder_ / "suite", {(folder_ / "shared").string()});
  ASSERT_TRUE(allowed) << join_findings(allowed.error());
  EXPECT_EQ(allowed->suite.cases.size(), 2u);
}

TEST_F(ConfinedSuite, AllowedFoldersServeFixturesTestsAndInputs) {
  write(
      "shared/tests.jsonl",
      R"({"id": "j", "input": {"file": "../shared/c.txt"}, "expected": {"type": "exact_match", "text": "a"}})");
  write("shared/c.txt", "c");
  write("shared/fix/a.toml",
        "[metadata]\nid = \"a\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n[expected]\n");
  const auto loaded = load_any_suite(
      write("suite/suite.yaml", "suite: s\nfixtures: ../shared/fix\ntests_file: ../shared/tests.jsonl\n"),
      {(folder_ / "shared").string()});
  ASSERT_TRUE(loaded) << join_findings(loaded.error());
  ASSERT_EQ(loaded->suite.cases.size(), 2u);
  EXPECT_EQ((*loaded->suite.cases.read(0))->source, "../shared/fix/a.toml");
  EXPECT_EQ((*loaded->suite.cases.read(1))->content, "c");
}

}  // namespace
}  // namespace sluice
