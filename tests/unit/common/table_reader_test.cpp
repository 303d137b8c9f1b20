#include "common/documents/table_reader.hpp"

#include "common/documents/toml_document.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string belongs_elsewhere(std::string_view key) {
  return key == "colour" ? "it belongs in [paint]" : "";
}

/// What is reported of a table "[t]" with the line, if these keys are known and "old" is refused by its
/// reader.
std::string findings(const std::string& line, const std::vector<std::string_view>& known,
                     std::string_view listed_in = {}) {
  const auto document = parse_toml(line);
  EXPECT_TRUE(document);
  const std::string file = "f.toml";
  std::vector<Finding> found;
  TableReader reader(*document, "[t]", file, found);
  for (const std::string_view key : known) reader.entry(key);
  reader.refused_entry("old");
  reader.finish(belongs_elsewhere, listed_in);
  return join_findings(found);
}

TEST(TableReader, NamesTheKeyThatWasMeantOrElseAllThatThereAre) {
  EXPECT_EQ(findings("nam = 1\n", {"id", "name"}),
            "f.toml:1: unknown key \"nam\" in [t]; did you mean \"name\"?");
  EXPECT_EQ(findings("severity = 1\n", {"id", "name", "id"}),
            "f.toml:1: unknown key \"severity\" in [t]; valid here: id, name");
  EXPECT_EQ(findings("severity = 1\n", {}), "f.toml:1: unknown key \"severity\" in [t]");
}

// Three letters are too many for a slip of so short a word.
TEST(TableReader, NamesTheKeyOfWhichLettersAreLeftOut) {
  EXPECT_EQ(findings("expct = 1\n", {"text", "expected"}),
            "f.toml:1: unknown key \"expct\" in [t]; did you mean \"expected\"?");
  for (const char* other : {"xpectd", "expcetd2", "exd", "expt_other"}) {
    EXPECT_EQ(findings(std::string(other) + " = 1\n", {"expected_of_all"}),
              "f.toml:1: unknown key \"" + std::string(other) + "\" in [t]; valid here: expected_of_all");
  }
}

TEST(TableReader, OffersNoKeyThatSaysTheOpposite) {
  const std::vector<std::string_view> keys{"must_contain", "must_not_contain", "notes"};
  EXPECT_EQ(
      findings("not_must_contain = 1\n", keys),
      "f.toml:1: unknown key \"not_must_contain\" in [t]; valid here: must_contain, must_not_contain, notes");
  EXPECT_EQ(findings("mustnt_contain = 1\n", keys),
            "f.toml:1: unknown key \"mustnt_contain\" in [t]; did you mean \"must_not_contain\"?");
  EXPECT_EQ(findings("note = 1\n", keys), "f.toml:1: unknown key \"note\" in [t]; did you mean \"notes\"?");
}

TEST(TableReader, NamesTheTableIntoWhichAKeyBelongs) {
  EXPECT_EQ(findings("colour = 1\n", {"color", "name"}),
            "f.toml:1: unknown key \"colour\" in [t]; it belongs in [paint]")
      << "that it exists says more than that it looks like another";
}

TEST(TableReader, AKeyByAnotherNameIsNotMissing) {
  const auto document = parse_toml("value = \"a\"\n");
  ASSERT_TRUE(document);
  const std::string file = "f.toml";
  std::vector<Finding> found;
  TableReader reader(*document, "[t]", file, found);
  reader.refuse_other_name("value", "text");
  reader.refuse_other_name("threshold", "min_score");
  EXPECT_EQ(reader.text("text", Need::required), std::nullopt);
  reader.number("min_score", Need::required);
  reader.finish();
  EXPECT_EQ(join_findings(found),
            "f.toml:1: \"value\" in [t] is called \"text\"; f.toml:1: missing \"min_score\" in [t]: expected "
            "a number");
}

TEST(TableReader, OffersNoKeyThatIsRefused) {
  EXPECT_EQ(findings("old = 1\n", {"name"}), "");
  EXPECT_EQ(findings("olds = 1\n", {"name"}), "f.toml:1: unknown key \"olds\" in [t]; valid here: name");
}

TEST(TableReader, AMisspeltKeyAndTheMissingOneAreOneFinding) {
  const std::string file = "f.toml";
  const auto found_in = [&](const std::string& text) {
    const auto document = parse_toml(text);
    std::vector<Finding> found;
    TableReader reader(*document, "[t]", file, found);
    reader.word("name", Need::required);
    reader.word("id", Need::required);
    reader.finish();
    return join_findings(found);
  };
  EXPECT_EQ(found_in("\nnmae = \"a\"\nid = \"b\"\n"),
            "f.toml:2: unknown key \"nmae\" in [t]; did you mean \"name\", which is missing?");
  EXPECT_EQ(found_in("\nnmae = \"a\"\nnam = \"a\"\nid = \"b\"\n"),
            "f.toml:3: unknown key \"nam\" in [t]; did you mean \"name\", which is missing?; "
            "f.toml:2: unknown key \"nmae\" in [t]; did you mean \"name\"?")
      << "one key is missing, not two";
  EXPECT_EQ(found_in("\nname = \"a\"\nnam = 1\nid = \"b\"\n"),
            "f.toml:3: unknown key \"nam\" in [t]; did you mean \"name\"?");
  EXPECT_EQ(found_in("\nname = \"a\"\nseverity = 1\n"),
            "f.toml:1: missing \"id\" in [t]: expected a string; f.toml:3: unknown key \"severity\" in [t]; "
            "valid here: name, id");
}

TEST(TableReader, ListsNoMoreThanALineOfKeys) {
  std::vector<std::string_view> keys{"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh",
                                     "ii", "jj", "kk", "ll", "mm", "nn", "oo", "pp"};
  EXPECT_EQ(findings("severity = 1\n", keys, "see the list"),
            "f.toml:1: unknown key \"severity\" in [t]; valid here: aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, "
            "kk, ll, mm, nn, oo, pp");
  keys.push_back("qq");
  EXPECT_EQ(findings("severity = 1\n", keys, "see the list"),
            "f.toml:1: unknown key \"severity\" in [t]; see the list");
  EXPECT_EQ(findings("severity = 1\n", keys), "f.toml:1: unknown key \"severity\" in [t]");
}

}  // namespace
}  // namespace sluice
