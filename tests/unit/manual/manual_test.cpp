#include "common/manual/command_text.hpp"
#include "common/manual/completions.hpp"
#include "common/manual/man_page.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace sluice::manual_test {

class ManualTest : public ::testing::Test {
 protected:
  ManualTest() {
    program.set_help_flag("--help,-h", "Show this help");
    auto* run = program.add_subcommand("run", "Evaluate a suite");
    run->add_option("SUITE", suite, "A suite's file")->type_name("");
    run->add_option("--format", format, "Form of the report")->type_name("table|json");
    auto* output = run->add_option("--output", file, "Where the report goes")->type_name("FILE");
    run->add_option("--note", note, "What it's for")->type_name("TEXT")->needs(output)->group("Notes");
    run->footer("Examples:\n  tool run 'a b'.yaml\n.not a request");
    auto* cache = program.add_subcommand("cache", "Caches");
    cache->add_subcommand("export", "Write one file");
    cache->add_subcommand("import", "Read one file");
  }

  CommandText text() const { return command_text(program); }

  /// What the last line that a shell's `script` prints says; the test is skipped, by name, without the shell.
  std::string said_by(const std::string& shell, const std::string& script) const {
    const auto path = folder.path() / "script";
    std::ofstream(path) << script;
    std::string out;
    FILE* pipe = popen((shell + " " + path.string() + " 2>&1").c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    char buffer[4096];
    while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
    EXPECT_EQ(pclose(pipe), 0) << out;
    return out;
  }
  static bool is_there(const std::string& shell) {
    return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
  }

  support::TemporaryFolder folder;
  CLI::App program{"Does things", "tool"};
  std::string suite, format, file, note;
};

TEST_F(ManualTest, ACommandIsReadWithAllThatItsHelpSays) {
  const CommandText tool = text();
  ASSERT_EQ(tool.commands.size(), 2u);
  const CommandText& run = tool.commands[0];
  EXPECT_EQ(run.name, "tool run");
  EXPECT_EQ(run.usage, "[OPTIONS] [SUITE]");
  CLI::App compare{"Compares", "compare"};
  std::string base;
  std::vector<std::string> more;
  compare.add_option("BASE", base)->required();
  compare.add_option("MORE", more);
  EXPECT_EQ(command_text(compare).usage, "[OPTIONS] BASE [MORE...]");
  EXPECT_TRUE(command_text(compare).arguments[0].takes_path()) << "a run or a file";
  EXPECT_EQ(tool.commands[1].usage, "[OPTIONS] COMMAND");
  ASSERT_EQ(run.groups.size(), 2u);
  const auto& flags = run.groups[0].flags;
  ASSERT_EQ(flags.size(), 3u);
  EXPECT_EQ(flags[0].names, (std::vector<std::string>{"-h", "--help"}));
  EXPECT_EQ(flags[1].choices(), (std::vector<std::string>{"table", "json"}));
  EXPECT_TRUE(flags[2].choices().empty());
  EXPECT_TRUE(flags[2].takes_path());
  EXPECT_TRUE(run.arguments[0].takes_path());
  EXPECT_EQ(run.groups[1].heading, "Notes");
  EXPECT_EQ(run.groups[1].flags[0].meaning, "What it's for (with --output)");
}

TEST_F(ManualTest, APageShowsTextsAsTheyAre) {
  const std::string page = man_page(text().commands[0], "tool 1.0", "tool");
  EXPECT_NE(page.find(".TH \"TOOL\\-RUN\" 1"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-\\-format\\fR \\fItable|json\\fR"), std::string::npos) << page;
  EXPECT_NE(page.find("\n\\&.not a request\n"), std::string::npos) << "a line of its own, and no request";
  EXPECT_NE(page.find(".BR tool (1)\n"), std::string::npos) << page;
}

TEST_F(ManualTest, ManFindsNothingWrongWithAPage) {
  if (!is_there("groff")) GTEST_SKIP() << "there is no groff";
  std::ofstream(folder.path() / "page.1") << man_page(text().commands[0], "tool 1.0", "tool");
  const std::string shown =
      said_by("sh", "groff -man -ww -Tascii '" + (folder.path() / "page.1").string() + "' 2>&1");
  EXPECT_EQ(shown.find("warning"), std::string::npos) << shown;
  EXPECT_NE(shown.find("tool run 'a b'.yaml"), std::string::npos) << shown;
}

TEST_F(ManualTest, BashCompletesCommandsFlagsValuesAndPaths) {
  std::ofstream(folder.path() / "with blank.yaml") << "x";
  const std::string script =
      "cd '" + folder.path().string() + "'\n" + bash_completion(text()) +
      "compopt() { :; }\n"
      "t() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _tool; echo \"${COMPREPLY[*]}\"; }\n"
      "t tool c; t tool run --fo; t tool run --format ''; t tool run --format = j\n"
      "t tool cache ''; t tool run with; t tool run --note ''; t tool cache export --\n";
  if (!is_there("bash")) GTEST_SKIP() << "there is no bash";
  EXPECT_EQ(said_by("bash", script),
            "cache\n--format\ntable json\njson\nexport import\nwith blank.yaml\n\n--help\n");
}

TEST_F(ManualTest, FishCompletesCommandsFlagsAndValues) {
  if (!is_there("fish")) GTEST_SKIP() << "there is no fish";
  const std::string script = fish_completion(text()) +
                             "complete -C 'tool c'\ncomplete -C 'tool run --fo'\n"
                             "complete -C 'tool run --format '\ncomplete -C 'tool cache '\n";
  EXPECT_EQ(
      said_by("fish --no-config", script),
      "cache\tCaches\n--format\tForm of the report\njson\tForm of the report\ntable\tForm of the report\n"
      "export\tWrite one file\nimport\tRead one file\n");
}

// In a shell that somebody types into: what stands behind each key press is what its line has become.
TEST_F(ManualTest, ZshCompletesCommandsFlagsValuesAndPaths) {
  if (!is_there("zsh")) GTEST_SKIP() << "there is no zsh";
  const std::string home = folder.path().string();
  std::ofstream(folder.path() / "_tool") << zsh_completion(text());
  std::ofstream(folder.path() / "with blank.yaml") << "x";
  const std::string script =
      "zmodload zsh/zpty\nzpty z zsh -f -i\n"
      "zpty -w z \"PS1= ; cd '" +
      home + "'; fpath=('" + home +
      "' \\$fpath); autoload -Uz compinit; compinit -C -D; "
      "show() { print -r -- \\\"<\\$BUFFER>\\\"; BUFFER=; }; zle -N show; bindkey '^X' show; print "
      "READ''Y\"\n"
      "zpty -r z got '*READY*'\n"
      "for line in 'tool ca' 'tool run --fo' 'tool run --format j' 'tool run --format=t' 'tool cache im' "
      "'tool run wi' 'tool run --output=wi'; do\n"
      "  zpty -n -w z $line$'\\t\\x18'\n  zpty -r z got '*<*>*'\n  print -r -- "
      "\"${${got##*<}%%>*}|\"\ndone\n";
  EXPECT_EQ(said_by("TERM=dumb timeout 60 zsh -f", script),
            "tool cache |\ntool run --format |\ntool run --format json |\ntool run --format=table |\n"
            "tool cache import |\ntool run with\\ blank.yaml |\ntool run --output=with\\ blank.yaml |\n")
      << "the first key, too";
}

TEST_F(ManualTest, AnEmptyValueIsNotTakenForNone) {
  std::string folder_name, id, model;
  std::optional<std::string> bare;
  CLI::App* run = program.get_subcommand("run");
  run->add_option("--in", folder_name)->type_name("DIR");
  run->add_option("--run", id)->type_name("ID");
  run->add_option("--forget", bare)->type_name("NAME")->expected(0, 1);
  const auto problem_of = [&](const std::vector<std::string>& words) {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // As CLI11 takes them.
    program.clear();
    program.parse(reversed);
    return problem_with_empty_values(*run, words);
  };
  EXPECT_EQ(problem_of({"run", ""}), "SUITE is empty");
  EXPECT_EQ(problem_of({"run", "s.yaml", "--output", ""}), "--output must name a file");
  EXPECT_EQ(problem_of({"run", "--in", ""}), "--in must name a folder");
  EXPECT_EQ(problem_of({"run", "--run", ""}), "--run must not be empty");
  EXPECT_EQ(problem_of({"run", "--output", "r", "--note", ""}), "") << "a text may be";
  EXPECT_EQ(problem_of({"run", "s.yaml", "--forget"}), "") << "it may do without a value";
  EXPECT_EQ(problem_of({"run", "s.yaml", "--forget", "x"}), "");
  EXPECT_EQ(problem_of({"run", "s.yaml", "--run", "last"}), "");
  const std::string optional = "--forget is given an empty value: write --forget NAME, or --forget alone";
  EXPECT_EQ(problem_of({"run", "s.yaml", "--forget", ""}), optional);
  EXPECT_EQ(problem_of({"run", "--forget=", "s.yaml"}), optional) << "it took the suite for its value";
  EXPECT_EQ(problem_of({"run", "--run=", "s.yaml"}), "--run is given an empty value: write --run ID");
  EXPECT_EQ(problem_of({"run", "--", "--forget="}), "") << "an argument";
}

}  // namespace sluice::manual_test
