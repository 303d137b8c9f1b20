#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sluice {

/// A flag, or an argument without one, as its command's help describes it.
struct FlagText {
  std::vector<std::string> names;  ///< `--format`, `-h`; of an argument its name alone.
  std::string value;               ///< `FILE`, `table|json`; empty of a switch.
  std::string meaning;
  bool is_repeatable = false;
  bool is_required = false;

  /// What may stand for the value, if the help names it all: `table|json` is two.
  std::vector<std::string> choices() const;
  /// The value is a file or folder, so that a shell completes paths.
  bool takes_path() const;
};

/// Flags that stand together under a heading: `Options`, `Settings`.
struct FlagGroup {
  std::string heading;
  std::vector<FlagText> flags;
};

/// A command with all that its help says. The source of manual pages and completions, so that these say
/// nothing else than the help does.
struct CommandText {
  std::string name;  ///< With the program's: `sluice cache export`.
  std::string summary;
  std::string usage;  ///< Behind the name: `[OPTIONS] [SUITE]`.
  std::vector<FlagText> arguments;
  std::vector<FlagGroup> groups;
  std::vector<CommandText> commands;
  std::string notes;  ///< Explanations and examples, in lines as they are to be shown.

  /// `export` of `sluice cache export`.
  std::string last_word() const { return name.substr(name.rfind(' ') + 1); }
};

/// What an option means, with what it needs and excludes.
std::string meaning_of(const CLI::Option& option);

/// What is wrong if a value of a parsed command was given as an empty text, as a shell's variable that is not
/// set comes to: the default, everything, or the next word would be taken for it. `words`: those of the
/// command line. Empty if nothing is wrong; a value that may be any text may be an empty one.
std::string problem_with_empty_values(const CLI::App& app, std::span<const std::string> words);

/// Reads a program, or a command of one, with all commands below it.
CommandText command_text(const CLI::App& app);

}  // namespace sluice
