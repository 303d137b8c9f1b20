#include "coordinator/corpus/scan.hpp"

#include "common/model/token_bound.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

namespace sluice::scan_test {

namespace fs = std::filesystem;
using support::TemporaryFolder;
using support::write_text;

class Texts final : public TreeReader {
 public:
  std::map<std::string, std::string> files;
  Result<std::optional<std::string>> read(const std::string& path, std::size_t max_bytes) const override {
    const auto found = files.find(path);
    if (found == files.end()) return fail(Reason::file_unreadable, "is not there");
    if (found->second.size() > max_bytes) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> names;
    for (const auto& [path, text] : files) names.push_back(path);
    return names;
  }
};

TriggerRules rules() {
  return *TriggerRules::parse(
      "version = \"1\"\nexcluded_folders = [\"built\"]\n[any]\nwords = [\"secret\"]\nnames = [\"*key*\"]\n"
      "[[language]]\nname = \"c\"\nextensions = [\"c\"]\n",
      "rules");
}

std::vector<std::string> paths_of(const Scan& scan) {
  std::vector<std::string> paths;
  for (const ScannedFile& file : scan.files) paths.push_back(file.path);
  return paths;
}

using Paths = std::vector<std::string>;

TEST(Scan, LeavesOutWhatIsNotWorthIt) {
  Texts tree;
  tree.files = {{"a.c", "a secret\r\n"},   {"b.c", "nothing\n"},
                {"c.txt", "secret"},       {"d.c", std::string("secret\0x", 8)},
                {"e.c", "secret \xff"},    {"f.c", std::string(300, '.') + "secret"},
                {"bad\nname.c", "secret"}, {"\xff.c", "secret"}};
  auto paths = tree.paths();
  paths.emplace_back("gone.c");
  const Scan scan = scan_tree(paths, tree, rules(), {100, 1000});
  EXPECT_EQ(paths_of(scan), Paths{"a.c"});
  EXPECT_EQ(scan.files[0].text, "a secret\n") << "with the line ends of Unix";
  EXPECT_EQ(scan.left_out.without_trigger, 1u);
  EXPECT_EQ(scan.left_out.other_languages, 1u);
  EXPECT_EQ(scan.left_out.not_text, 4u);
  EXPECT_EQ(scan.left_out.unreadable, 1u);
  EXPECT_EQ(scan.left_out.too_long, 1u);
  EXPECT_EQ(scan.left_out.longest, Paths{"f.c"});
}

TEST(Scan, AsksAboutEqualTextsOnce) {
  Texts tree;
  tree.files = {{"a.c", "a secret\n"}, {"b.c", "a secret\r\n"}, {"c.c", "another secret\n"}};
  const Scan scan = scan_tree(tree.paths(), tree, rules(), {100, 1000});
  EXPECT_EQ(paths_of(scan), (Paths{"a.c", "c.c"}));
  EXPECT_EQ(scan.left_out.same_text, 1u);
}

TEST(Scan, SpendsItsBudgetOnFilesWithMoreKindsOfTriggersFirst) {
  Texts tree;
  tree.files = {
      {"a.c", "secret"}, {"key.c", "SECRET"}, {"long.c", "secret" + std::string(20, '.')}, {"z.c", "Secret"}};
  const std::uint64_t each = token_bound("secret");
  const Scan scan = scan_tree(tree.paths(), tree, rules(), {100, 3 * each});
  EXPECT_EQ(paths_of(scan), (Paths{"a.c", "key.c", "z.c"})) << "what does not fit leaves its place";
  EXPECT_EQ(scan.left_out.beyond_scan, 1u);
  EXPECT_EQ(scan.tokens, 3 * each);
  EXPECT_EQ(paths_of(scan_tree(tree.paths(), tree, rules(), {100, each})), Paths{"key.c"});
}

TEST(Scan, MakesCasesThatAskForClaims) {
  Texts tree;
  tree.files = {{"src/b.c", "secret"}, {"a.c", "a secret"}};
  const Suite suite = suite_of(scan_tree(tree.paths(), tree, rules(), {100, 1000}), "corpus of x");
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases.id(0), "a.c");
  const auto one = suite.cases.read(1);
  EXPECT_EQ((*one)->kind, CaseKind::claims);
  EXPECT_EQ((*one)->language, "c");
  EXPECT_EQ((*one)->content, "secret");
}

class Trees : public ::testing::Test {
 protected:
  const fs::path& root() const { return folder_.path(); }
  int git(const std::string& command) const {
    return std::system(("cd '" + root().string() + "' && git " + command + " > git.log 2>&1").c_str());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Trees, AreWalkedWithoutExcludedFoldersWhereGitSaysNothing) {
  write_text(root() / "a.c", "");
  write_text(root() / "sub" / "b.c", "");
  write_text(root() / "built" / "c.c", "");
  fs::create_directory_symlink(root(), root() / "sub" / "loop");
  const std::vector<std::string> excluded{"built"};
  const auto list = list_files(root(), excluded);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->paths, (Paths{"a.c", "sub/b.c"}));
  EXPECT_NE(list->without_git.find("git"), std::string::npos) << "it says why";
}

TEST_F(Trees, LeaveOutWhatGitIgnores) {
  ASSERT_EQ(git("init -q ."), 0);
  write_text(root() / ".gitignore", "*.log\nhidden/\n");
  write_text(root() / "tracked.c", "");
  write_text(root() / "new file.c", "");
  write_text(root() / "hidden" / "c.c", "");
  write_text(root() / "built" / "d.c", "");
  ASSERT_EQ(git("add tracked.c"), 0);
  const std::vector<std::string> excluded{"built"};
  const auto list = list_files(root(), excluded);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->without_git, "");
  EXPECT_EQ(list->paths, (Paths{".gitignore", "built/d.c", "new file.c", "tracked.c"}));
  const auto below = list_files(root() / "built", {});
  EXPECT_EQ(below->paths, Paths{"d.c"}) << "relative to the folder that is scanned";
}

TEST_F(Trees, AreNotWalkedWhereGitFailsInARepository) {
  ASSERT_EQ(git("init -q ."), 0);
  write_text(root() / ".gitignore", "secret.c\n");
  write_text(root() / "secret.c", "");
  write_text(root() / "sub" / "a.c", "");
  write_text(root() / ".git" / "index", "no index");
  for (const fs::path& folder : {root(), root() / "sub"}) {
    const auto list = list_files(folder, {});
    ASSERT_FALSE(list) << "ignored files would go to the provider";
    EXPECT_EQ(list.error().reason, Reason::file_unreadable);
    EXPECT_NE(list.error().message.find("index"), std::string::npos) << list.error().message;
    EXPECT_NE(list.error().message.find("ls-files"), std::string::npos) << list.error().message;
  }
}

TEST_F(Trees, AreNotLeftThroughLinks) {
  write_text(root() / "tree" / "in.c", "inside");
  write_text(root() / "out.c", "outside");
  fs::create_symlink("../out.c", root() / "tree" / "leaves.c");
  fs::create_symlink("in.c", root() / "tree" / "stays.c");
  const auto tree = open_tree(root() / "tree");
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->read("in.c", 100).value(), "inside");
  EXPECT_EQ((*tree)->read("stays.c", 100).value(), "inside");
  EXPECT_FALSE((*tree)->read("leaves.c", 100));
  EXPECT_FALSE((*tree)->read("../out.c", 100));
  EXPECT_EQ((*tree)->read("in.c", 3).value(), std::nullopt) << "longer than may be read";
}

}  // namespace sluice::scan_test
