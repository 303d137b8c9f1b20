#include "coordinator/cli/run/watched_files.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice::watched_files_test {

namespace fs = std::filesystem;

class WatchedFilesTest : public ::testing::Test {
 protected:
  WatchedFilesTest() {
    fs::create_directories(root / "suite" / "prompts");
    fs::create_directories(root / "suite" / ".git");
    write("suite/suite.yaml");
  }

  /// Each time with another size.
  void write(const std::string& name) { std::ofstream(root / name, std::ios::app) << "text\n"; }
  void watch(const fs::path& path) {
    files.add(path);
    EXPECT_TRUE(files.take_changes().empty()) << "the first look";
  }
  /// Empty: nothing has changed.
  std::string changed() {
    const auto paths = files.take_changes();
    EXPECT_TRUE(files.take_changes().empty()) << "it is known now";
    return paths.empty() ? "" : paths.front().lexically_proximate(root).string();
  }

  support::TemporaryFolder folder;
  fs::path root = fs::canonical(folder.path());
  WatchedFiles files;
};

TEST_F(WatchedFilesTest, AFileBelowCounts) {
  watch(root / "suite");
  EXPECT_EQ(changed(), "");
  write("suite/prompts/refund.txt");
  EXPECT_EQ(changed(), "suite/prompts/refund.txt");
  fs::rename(root / "suite/prompts/refund.txt", root / "elsewhere.txt");
  EXPECT_EQ(changed(), "suite/prompts/refund.txt");
  fs::rename(root / "elsewhere.txt", root / "suite/suite.yaml");
  EXPECT_EQ(changed(), "suite/suite.yaml") << "editors write a file beside it and put it in its place";
  fs::remove(root / "suite/suite.yaml");
  EXPECT_EQ(changed(), "suite/suite.yaml");
  fs::create_directories(root / "suite" / "more");
  EXPECT_EQ(changed(), "") << "there is nothing in it";
  write("suite/more/new.yaml");
  EXPECT_EQ(changed(), "suite/more/new.yaml");
}

TEST_F(WatchedFilesTest, SeveralAreNamed) {
  watch(root / "suite");
  write("suite/suite.yaml");
  write("suite/b.txt");
  write("suite/a.txt");
  const auto changed = files.take_changes();
  EXPECT_EQ(changed,
            (std::vector<fs::path>{root / "suite/a.txt", root / "suite/b.txt", root / "suite/suite.yaml"}));
}

TEST_F(WatchedFilesTest, AFolderThatIsReplacedIsSeenAnew) {
  watch(root / "suite");
  fs::rename(root / "suite", root / "old");
  EXPECT_EQ(changed(), "suite/suite.yaml");
  fs::rename(root / "old", root / "suite");
  EXPECT_EQ(changed(), "suite/suite.yaml");
  write("suite/suite.yaml");
  EXPECT_EQ(changed(), "suite/suite.yaml");
}

TEST_F(WatchedFilesTest, WhatALinkLeadsToCounts) {
  write("data.jsonl");
  watch(root / "suite");
  fs::create_symlink(root / "data.jsonl", root / "suite/data.jsonl");
  EXPECT_EQ(changed(), "suite/data.jsonl");
  write("data.jsonl");
  EXPECT_EQ(changed(), "suite/data.jsonl");
  fs::create_directory_symlink(root, root / "suite/up");
  EXPECT_EQ(changed(), "") << "a link to a folder is not followed: it may lead round";
}

TEST_F(WatchedFilesTest, WhatIsHiddenOrIgnoredDoesNotCount) {
  files.ignore(root / "suite/report.json");
  files.ignore((root / "suite/home/").string());
  watch(root / "suite");
  fs::create_directories(root / "suite" / "home");
  for (const char* name :
       {"suite/.suite.yaml.swp", "suite/suite.yaml~", "suite/.git/index", "suite/watch.log",
        "suite/report.json", "suite/.sluice.x7Gh2k", "suite/home/ledger.db"}) {
    write(name);
    EXPECT_EQ(changed(), "") << name;
  }
  for (const char* name : {"suite/report.jsonl", "suite/report.json.yaml", "suite/home.yaml"}) {
    write(name);
    EXPECT_EQ(changed(), name);
  }
}

TEST_F(WatchedFilesTest, AFileThatOutputGoesIntoDoesNotCount) {
  write("suite/out.txt");
  const int out = ::open((root / "suite/out.txt").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  files.ignore_open(out);
  watch(root / "suite");
  ASSERT_EQ(::write(out, "more", 4), 4);
  ::close(out);
  EXPECT_EQ(changed(), "");
}

TEST_F(WatchedFilesTest, OfAFileItsNeighboursDoNotCount) {
  watch(root / "suite" / "suite.yaml");
  write("suite/other.yaml");
  EXPECT_EQ(changed(), "");
  write("suite/suite.yaml");
  EXPECT_EQ(changed(), "suite/suite.yaml");
}

TEST_F(WatchedFilesTest, WhatIsIgnoredMustNotHoldWhatIsWatched) {
  files.add(root / "suite");
  EXPECT_FALSE(files.ignores_a_root());
  files.ignore(root / "suite/home");
  EXPECT_FALSE(files.ignores_a_root());
  files.ignore(root);
  EXPECT_TRUE(files.ignores_a_root());
}

TEST_F(WatchedFilesTest, WhatIsNotThereYetCountsWhenItComes) {
  watch(root / "later");
  fs::create_directories(root / "later");
  write("later/suite.yaml");
  EXPECT_EQ(changed(), "later/suite.yaml");
}

}  // namespace sluice::watched_files_test
