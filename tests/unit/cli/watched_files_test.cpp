#include "coordinator/cli/watched_files.hpp"

#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice::watched_files_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Waits end at once: what was done before is there to be read, or nothing is.
class WatchedFilesTest : public ::testing::Test {
 protected:
  WatchedFilesTest() {
    fs::create_directories(root / "suite" / "prompts");
    fs::create_directories(root / "suite" / ".git");
    write("suite/suite.yaml");
    EXPECT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
  }
  ~WatchedFilesTest() override {
    for (const int end : pipe_) ::close(end);
  }

  void write(const std::string& name) { std::ofstream(root / name) << "text\n"; }
  WatchedFiles watch(const fs::path& path) {
    auto files = WatchedFiles::open();
    EXPECT_TRUE(files && files->add(path));
    return std::move(*files);
  }
  /// Empty: nothing has changed.
  std::string changed(WatchedFiles& files) {
    // The end is asked for once a change that counts was looked for: a file that always does comes last.
    write("suite/last");
    const auto path = files.wait(pipe_[0], 1ms);
    EXPECT_TRUE(path && *path);
    const auto name = (*path)->filename().string();
    return name == "last" ? "" : name;
  }

  support::TemporaryFolder folder;
  fs::path root = folder.path();
  int pipe_[2] = {-1, -1};
};

TEST_F(WatchedFilesTest, AFileBelowCounts) {
  auto files = watch(root / "suite");
  EXPECT_EQ(changed(files), "");
  write("suite/prompts/refund.txt");
  EXPECT_EQ(changed(files), "refund.txt");
  fs::rename(root / "suite/prompts/refund.txt", root / "elsewhere.txt");
  EXPECT_EQ(changed(files), "refund.txt");
  fs::rename(root / "elsewhere.txt", root / "suite/suite.yaml");
  EXPECT_EQ(changed(files), "suite.yaml") << "editors write a file beside it and put it in its place";
  fs::remove(root / "suite/suite.yaml");
  EXPECT_EQ(changed(files), "suite.yaml");
}

TEST_F(WatchedFilesTest, AFolderThatComesLaterCounts) {
  auto files = watch(root / "suite");
  fs::create_directories(root / "suite" / "more");
  EXPECT_EQ(changed(files), "more") << "there may be files in it already";
  write("suite/more/new.yaml");
  EXPECT_EQ(changed(files), "new.yaml");
}

TEST_F(WatchedFilesTest, WhatIsHiddenOrIgnoredDoesNotCount) {
  auto files = watch(root / "suite");
  files.ignore(root / "suite/report.json");
  files.ignore(root / "suite/home");
  fs::create_directories(root / "suite" / "home");
  for (const char* name : {"suite/.suite.yaml.swp", "suite/suite.yaml~", "suite/.git/index",
                           "suite/report.json", "suite/report.json.x7Gh2k", "suite/home/ledger.db"}) {
    write(name);
    EXPECT_EQ(changed(files), "") << name;
  }
  write("suite/report.jsonl");
  EXPECT_EQ(changed(files), "report.jsonl");
}

TEST_F(WatchedFilesTest, OfAFileItsNeighboursDoNotCount) {
  auto files = watch(root / "suite" / "suite.yaml");
  write("suite/other.yaml");
  write("suite/suite.yaml");
  const auto path = files.wait(pipe_[0], 1ms);
  ASSERT_TRUE(path && *path);
  EXPECT_EQ((*path)->filename(), "suite.yaml");
}

TEST_F(WatchedFilesTest, TheEndIsNotAChange) {
  auto files = watch(root / "suite");
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  const auto path = files.wait(pipe_[0], 1ms);
  ASSERT_TRUE(path);
  EXPECT_FALSE(*path);
}

TEST_F(WatchedFilesTest, WhatIsNotThereIsNamed) {
  auto files = WatchedFiles::open();
  ASSERT_TRUE(files);
  const auto added = files->add(root / "nowhere" / "suite.yaml");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("nowhere"), std::string::npos) << added.error().message;
}

}  // namespace sluice::watched_files_test
