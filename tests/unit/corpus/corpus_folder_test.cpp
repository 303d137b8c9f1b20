#include "coordinator/corpus/corpus_folder.hpp"

#include "coordinator/corpus/findings.hpp"
#include "coordinator/corpus/fixture_file.hpp"
#include "coordinator/defaults.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>

#include <gtest/gtest.h>

namespace sluice::corpus_folder_test {

namespace fs = std::filesystem;
using support::read_text;
using support::write_text;

class CorpusFolder : public ::testing::Test {
 protected:
  fs::path root() const { return folder_.path() / "out"; }
  fs::path file(const std::string& name) const { return root() / "tls" / (name + ".toml"); }

  static Case fixture(const std::string& id, const std::string& created = "2026-02-05") {
    Case one;
    one.id = id;
    one.category = "tls";
    one.created = created;
    one.content = "code of " + id + "\n";
    one.must_contain = {{"tls/cert_verification", "enabled", false, std::string(asks_for_review)}};
    return one;
  }
  Corpus corpus() const {
    auto read = read_corpus(root());
    EXPECT_TRUE(read) << join_findings(read.error());
    return read ? std::move(*read) : Corpus();
  }
  WrittenFixtures write(const std::vector<Case>& fixtures) const {
    auto written = write_fixtures(root(), corpus(), fixtures);
    EXPECT_TRUE(written) << written.error().message;
    return written ? std::move(*written) : WrittenFixtures();
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(CorpusFolder, IsEmptyUntilSomethingIsWritten) {
  EXPECT_TRUE(corpus().fixtures.empty());
  fs::create_directories(root() / "tls");
  EXPECT_TRUE(corpus().fixtures.empty());
  write_text(root() / "manifest.toml", "[corpus]\nversion = \"1.0.0\"\n");
  write_text(root() / "sluice.toml", "[eval]\n");
  EXPECT_TRUE(corpus().fixtures.empty());
  EXPECT_EQ(write({fixture("auto-1"), fixture("auto-2")}).added, 2u);
  const Corpus now = corpus();
  ASSERT_EQ(now.fixtures.size(), 2u);
  EXPECT_EQ(now.fixtures.at("auto-1").file, file("auto-1").generic_string());
}

TEST_F(CorpusFolder, IsWrittenAnewOnlyWhereNobodyHasBeen) {
  write({fixture("auto-1"), fixture("auto-2"), fixture("auto-3"), fixture("auto-4")});
  write_text(file("auto-2"), read_text(file("auto-2")) + "# mine\n");
  fs::create_directories(root() / "elsewhere");
  fs::rename(file("auto-3"), root() / "elsewhere" / "auto-3.toml");
  Case changed = fixture("auto-4", "2027-01-01");
  changed.name = "moved to another file";
  // On another day.
  const auto written =
      write({fixture("auto-1", "2027-01-01"), fixture("auto-2"), fixture("auto-3"), changed});
  EXPECT_EQ(written.added, 0u);
  EXPECT_EQ(written.unchanged, 1u) << "the date is that of its first day";
  EXPECT_EQ(written.renewed, 1u);
  EXPECT_EQ(written.kept,
            (std::vector<std::string>{file("auto-2").generic_string(),
                                      (root() / "elsewhere" / "auto-3.toml").generic_string()}));
  EXPECT_TRUE(read_text(file("auto-2")).ends_with("# mine\n"));
  EXPECT_NE(read_text(file("auto-4")).find("created = \"2026-02-05\""), std::string::npos);
  EXPECT_FALSE(fs::exists(file("auto-3"))) << "an id stands in one file";
}

TEST_F(CorpusFolder, KnowsWhatWasRejected) {
  write({fixture("auto-1"), fixture("auto-2")});
  ASSERT_TRUE(reject_fixture(root(), corpus().fixtures.at("auto-1")));
  const Corpus now = corpus();
  EXPECT_FALSE(now.fixtures.contains("auto-1"));
  EXPECT_TRUE(now.rejected.contains("auto-1"));
  EXPECT_FALSE(now.rejected.contains("auto-2"));
}

TEST_F(CorpusFolder, MovesNoFileToWhereAnIdLeads) {
  for (const std::string id : {"../escaped", "a/b", "..", ".", ""}) {
    write({fixture("auto-1")});
    CorpusFixture one = corpus().fixtures.at("auto-1");
    one.fixture.id = id;
    const auto moved = reject_fixture(root(), one);
    ASSERT_FALSE(moved) << id;
    EXPECT_EQ(moved.error().reason, Reason::output_failed);
    EXPECT_NE(moved.error().message.find("\"" + id + "\""), std::string::npos) << moved.error().message;
    EXPECT_TRUE(fs::exists(file("auto-1"))) << id;
    EXPECT_FALSE(fs::exists(root() / "escaped.toml"));
  }
}

TEST_F(CorpusFolder, RejectsNothingOverWhatWasRejectedBefore) {
  write({fixture("auto-1")});
  write_text(root() / ".rejected" / "auto-1.toml", "mine\n");
  const auto moved = reject_fixture(root(), corpus().fixtures.at("auto-1"));
  ASSERT_FALSE(moved);
  EXPECT_NE(moved.error().message.find(".rejected/auto-1.toml"), std::string::npos) << moved.error().message;
  EXPECT_EQ(read_text(root() / ".rejected" / "auto-1.toml"), "mine\n");
  EXPECT_TRUE(fs::exists(file("auto-1")));
}

TEST_F(CorpusFolder, LeavesAFileWhoseIdSomebodyChanged) {
  write({fixture("auto-1")});
  std::string mine = read_text(file("auto-1"));
  mine.replace(mine.find("id = \"auto-1\""), 13, "id = \"my-case\"");
  write_text(file("auto-1"), mine);
  const auto written = write({fixture("auto-1")});
  EXPECT_EQ(written.added, 0u);
  EXPECT_EQ(written.kept, std::vector<std::string>{file("auto-1").generic_string()});
  EXPECT_EQ(read_text(file("auto-1")), mine);
}

TEST_F(CorpusFolder, LeavesWhatChangesWhileItIsWritten) {
  write({fixture("auto-1"), fixture("auto-2"), fixture("auto-3")});
  const Corpus before = corpus();
  const std::string accepted = *accepted_fixture(before.fixtures.at("auto-1").text, "f");
  write_text(file("auto-1"), accepted);
  ASSERT_TRUE(reject_fixture(root(), before.fixtures.at("auto-2")));
  std::vector<Case> renewed{fixture("auto-1"), fixture("auto-2"), fixture("auto-3")};
  for (Case& one : renewed) one.name = "moved to another file";
  const auto written = write_fixtures(root(), before, renewed);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->renewed, 1u);
  EXPECT_EQ(written->kept.size(), 2u);
  EXPECT_EQ(read_text(file("auto-1")), accepted);
  EXPECT_FALSE(fs::exists(file("auto-2"))) << "what was rejected does not come back";
}

TEST_F(CorpusFolder, HoldsNothingThatWouldNotLoad) {
  Case large = fixture("auto-1");
  large.content = std::string(defaults::max_fixture_bytes, 'x');
  Case odd = fixture("auto-2");
  odd.must_not_contain = odd.must_contain;
  const auto written = write({large, odd, fixture("auto-3")});
  EXPECT_EQ(written.left_out, 2u);
  EXPECT_EQ(written.added, 1u);
  EXPECT_EQ(corpus().fixtures.size(), 1u) << "the folder loads";
}

TEST_F(CorpusFolder, IsReviewedOnlyAsItWasShown) {
  write({fixture("auto-1")});
  const CorpusFixture shown = corpus().fixtures.at("auto-1");
  EXPECT_TRUE(is_as_read(shown));
  write_text(file("auto-1"), shown.text + "# of another\n");
  EXPECT_FALSE(is_as_read(shown));
  const auto replaced = replace_fixture(shown, "mine");
  ASSERT_FALSE(replaced);
  EXPECT_NE(replaced.error().message.find(shown.file), std::string::npos) << replaced.error().message;
  EXPECT_FALSE(reject_fixture(root(), shown));
  EXPECT_EQ(read_text(file("auto-1")), shown.text + "# of another\n");
  fs::remove(file("auto-1"));
  EXPECT_FALSE(replace_fixture(shown, "mine")) << "somebody rejected it";
  EXPECT_FALSE(fs::exists(file("auto-1")));
}

TEST_F(CorpusFolder, SaysWhatCannotBeReadOrWritten) {
  write({fixture("auto-1")});
  write_text(root() / "broken.toml", "[metadata]\nid = 3\n");
  const auto broken = read_corpus(root());
  ASSERT_FALSE(broken);
  EXPECT_NE(join_findings(broken.error()).find("broken.toml:2"), std::string::npos);
  fs::remove(root() / "broken.toml");
  write_text(root() / ".rejected", "no folder");
  EXPECT_FALSE(read_corpus(root())) << "what was rejected would come back";
  fs::remove(root() / ".rejected");
  write_text(root() / "jwt", "no folder");
  Case other = fixture("auto-9");
  other.category = "jwt";
  const std::vector<Case> fixtures{other};
  const auto written = write_fixtures(root(), corpus(), fixtures);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, Reason::output_failed);
}

}  // namespace sluice::corpus_folder_test
