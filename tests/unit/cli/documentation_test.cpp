// docs/commands.md names every command, and the pages every flag: what a help says stands in the
// documentation.
#include "common/manual/command_text.hpp"
#include "coordinator/cli/cli.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::documentation_test {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The word stands there, and not as the beginning of a longer one.
bool names(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const char next = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-' && next != '_') return true;
  }
  return false;
}

void collect(const CommandText& command, std::vector<const CommandText*>& leaves) {
  if (command.commands.empty()) leaves.push_back(&command);
  for (const CommandText& below : command.commands) collect(below, leaves);
}

class CommandsDocument : public ::testing::Test {
 protected:
  CommandsDocument() : program(describe_cli()) { collect(program, commands); }

  CommandText program;
  std::vector<const CommandText*> commands;
};

TEST_F(CommandsDocument, HasARowForEachCommand) {
  ASSERT_GT(commands.size(), 20u);
  const auto lines = lines_of(text_of(support::source_path("docs/commands.md")));
  for (const CommandText* command : commands) {
    // `sluice cache export` stands in a row as it is, or as `export` in the row of `sluice cache ...`.
    const auto second = command->name.find(' ') + 1;
    const auto third = command->name.find(' ', second);
    const std::string first_words = command->name.substr(0, third);
    const bool is_there = std::ranges::any_of(lines, [&](const std::string& line) {
      const bool is_row = line.starts_with("| `" + first_words) || line.starts_with("| [`" + first_words);
      return is_row && (third == std::string::npos || names(line, command->name.substr(third + 1)));
    });
    EXPECT_TRUE(is_there) << command->name;
  }
}

TEST_F(CommandsDocument, NamesEachFlagSomewhere) {
  std::string pages;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(support::source_path("docs"))) {
    if (entry.path().extension() == ".md") pages += text_of(entry.path());
  }
  std::size_t flags = 0;
  for (const CommandText* command : commands) {
    for (const FlagGroup& group : command->groups) {
      for (const FlagText& flag : group.flags) {
        for (const std::string& name : flag.names) {
          if (!name.starts_with("--")) continue;
          ++flags;
          EXPECT_TRUE(names(pages, name)) << command->name << " " << name;
        }
      }
    }
  }
  EXPECT_GT(flags, 200u);
}

}  // namespace sluice::documentation_test
