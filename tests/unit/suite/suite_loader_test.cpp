#include "coordinator/suite/suite_loader.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/suite/selection.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

class SuiteLoader : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sluice_suite_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base_ = pattern;
    folder_ = base_ / "my_suite";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file, std::ios::binary) << text;
  }
  void write_fixture(const std::string& file, const std::string& id, const std::string& category) {
    write(file,
          "[metadata]\nid = \"" + id + "\"\ncategory = \"" + category + "\"\n[input]\ncontent = \"x\"\n");
  }
  std::string path(const std::string& file) const { return (folder_ / file).generic_string(); }
  std::vector<Finding> findings() const {
    const auto suite = load_suite(folder_);
    return suite ? std::vector<Finding>{} : suite.error();
  }

  fs::path base_;
  fs::path folder_;
};

TEST_F(SuiteLoader, LoadsFoldersInIdOrderWithTheManifest) {
  write_fixture("z/first.toml", "a-1", "z");
  write_fixture("a/last.toml", "b-1", "a");
  write_fixture("top.toml", "B-0", "a");
  write_fixture(".hidden.toml", "a-1", "z");
  write_fixture(".git/x.toml", "a-1", "z");
  write("README.md", "no fixture");
  write("manifest.toml",
        "[corpus]\nversion = \"1.0.0\"\ntotal_fixtures = 3\n[baseline]\nprecision = 0.85\nrecall = 0.78\nf1 "
        "= 0.81\n"
        "prompt_version = \"1.0.0\"\nmodel = \"m\"\nmeasured_at = 2026-02-05T10:30:00Z\n");
  const auto suite = load_suite(folder_);
  ASSERT_TRUE(suite) << join_findings(suite.error());
  EXPECT_EQ(suite->name, "my_suite");
  ASSERT_EQ(suite->cases.size(), 3u);
  EXPECT_EQ(suite->cases.id(0), "B-0");
  EXPECT_EQ(suite->cases.id(1), "a-1");
  EXPECT_EQ((*suite->cases.read(1))->source, "z/first.toml");
  EXPECT_EQ(suite->cases.id(2), "b-1");
  ASSERT_TRUE(suite->manifest && suite->manifest->baseline);
  EXPECT_EQ(suite->manifest->corpus_version, "1.0.0");
  EXPECT_EQ(suite->manifest->baseline->recall, 0.78);
  EXPECT_EQ(suite->manifest->baseline->measured_at, "2026-02-05T10:30:00Z");
}

TEST_F(SuiteLoader, CollectsTheFindingsOfAllFiles) {
  write_fixture("a.toml", "same", "c");
  write_fixture("b.toml", "same", "c");
  write("c.toml", "[metadata]\nid = 1\n");
  write("manifest.toml",
        "[corpus]\nversion = \"1\"\n\ntotal_fixtures = 35\n[baseline]\nf2 = 1\nprecision = 1.5\n");
  const std::vector<Finding> expected{
      {path("b.toml"), 2, "the id \"same\" is already used in " + path("a.toml") + ":2"},
      {path("c.toml"), 1, "missing \"category\" in [metadata]: expected a string"},
      {path("c.toml"), 1, "missing \"input\": expected a table"},
      {path("c.toml"), 2, "\"id\" in [metadata] must be a string, not a whole number"},
      {path("manifest.toml"), 4,
       "\"total_fixtures\" in [corpus] is 35, but there are 3 fixtures in the folder"},
      {path("manifest.toml"), 6, "unknown key \"f2\" in [baseline]; did you mean \"f1\"?"},
      {path("manifest.toml"), 7, "\"precision\" in [baseline] must be from 0 to 1, not 1.5"}};
  auto found = findings();
  ASSERT_EQ(found.size(), expected.size()) << join_findings(found);
  for (const Finding& finding : expected) {
    EXPECT_NE(std::find(found.begin(), found.end(), finding), found.end())
        << to_text(finding) << " not in " << join_findings(found);
  }
}

TEST_F(SuiteLoader, NamesWhatIsNoFolderOrEmpty) {
  const auto missing = load_suite(folder_ / "nope");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().front().message,
            "there is no such folder; name the fixtures' folder with --fixtures");
  write("file.txt", "");
  const auto file = load_suite(folder_ / "file.txt");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().front().message, "is not a folder; --fixtures takes the folder of the fixtures");
  ASSERT_EQ(findings().size(), 1u);
  EXPECT_EQ(findings().front().message,
            "there is no fixture (*.toml) in the folder; of a suite name the file (.yaml)");
  write("suite.yaml", "suite: a\n");
  EXPECT_EQ(findings().front().message,
            "there is no fixture (*.toml) in the folder; of a suite name the file (" +
                (folder_ / "suite.yaml").generic_string() + ")");
  write("sluice.toml", "[eval]\n");
  ASSERT_EQ(findings().size(), 1u) << "settings are no fixture";
  EXPECT_NE(findings().front().message.find("of a suite name the file ("), std::string::npos);
}

TEST_F(SuiteLoader, RefusesWhatIsTooLargeOrNoRegularFile) {
  write("large.toml", std::string(defaults::max_fixture_bytes + 1, '#'));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.toml").c_str(), 0600), 0);
  fs::create_symlink(folder_ / "gone", folder_ / "dangling.toml");
  const auto found = findings();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(to_text(found[0]),
            path("dangling.toml") + ": the fixture cannot be read: No such file or directory");
  EXPECT_EQ(to_text(found[1]),
            path("large.toml") + ": the fixture is too large: at most 4194304 bytes are read");
  EXPECT_EQ(to_text(found[2]), path("pipe.toml") + ": the fixture cannot be read: not a regular file");
}

// Folders of one name counted as one suite.
TEST_F(SuiteLoader, AFolderIsKnownByItsPathInTheCheckout) {
  write_fixture("repo/s1/fix/a.toml", "a", "c");
  EXPECT_EQ(load_suite(folder_ / "repo/s1/fix")->path_in_checkout, "");
  fs::create_directory(folder_ / "repo/.git");
  EXPECT_EQ(load_suite(folder_ / "repo/s1/fix")->path_in_checkout, "s1/fix");
  EXPECT_EQ(load_suite(folder_ / "repo/s1/../s1/fix/")->path_in_checkout, "s1/fix");
  fs::create_directory_symlink("repo", folder_ / "link");
  EXPECT_EQ(load_suite(folder_ / "link/s1/fix")->path_in_checkout, "s1/fix");
  EXPECT_EQ(path_in_checkout(folder_ / "repo"), ".");
  EXPECT_EQ(path_in_checkout(folder_ / "repo/gone/fix"), "gone/fix");
  fs::copy(folder_ / "repo", folder_ / "elsewhere", fs::copy_options::recursive);
  EXPECT_EQ(load_suite(folder_ / "elsewhere/s1/fix")->path_in_checkout, "s1/fix") << "another checkout";
}

TEST_F(SuiteLoader, DoesNotFollowLinksToFolders) {
  write_fixture("a/a.toml", "a", "c");
  fs::create_directory_symlink(folder_, folder_ / "a" / "loop");
  const auto suite = load_suite(folder_);
  ASSERT_TRUE(suite) << join_findings(suite.error());
  EXPECT_EQ(suite->cases.size(), 1u);
}

TEST_F(SuiteLoader, FindsTheSameWithTwoThreads) {
  for (int i = 0; i < 600; ++i) {
    const std::string number = std::to_string(1000 + i);
    write_fixture("f" + number + ".toml", i % 100 == 99 ? "twice" : "id-" + number, "c");
  }
  const auto found = findings();
  ASSERT_EQ(found.size(), 5u);
  for (const Finding& finding : found) {
    EXPECT_EQ(finding.message, "the id \"twice\" is already used in " + path("f1099.toml") + ":2");
  }
}

TEST_F(SuiteLoader, SelectsCategoriesAndTheFirstById) {
  write_fixture("1.toml", "c", "tls");
  write_fixture("2.toml", "a", "jwt");
  write_fixture("3.toml", "b", "tls");
  const auto suite = load_suite(folder_);
  ASSERT_TRUE(suite) << join_findings(suite.error());
  const auto tls = select(*suite, {.categories = {"tls"}, .max_cases = 1});
  ASSERT_TRUE(tls);
  ASSERT_EQ(tls->cases.size(), 1u);
  EXPECT_EQ(tls->cases.id(0), "b");
  EXPECT_EQ(select(*suite, {})->cases.size(), 3u);
  EXPECT_EQ(select(*suite, {.categories = {"jwt", "tls"}, .max_cases = 10})->cases.size(), 3u);
  const auto unknown = select(*suite, {.categories = {"jwr"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error(), (Error{Reason::usage_invalid,
                                    "the suite \"my_suite\" has no category \"jwr\"; it has "
                                    "\"jwt\" and \"tls\"; did you mean \"jwt\"?"}));
}

}  // namespace
}  // namespace sluice
