#include "common/manual/command_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

FlagText flag_text(const CLI::Option& option) {
  FlagText flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_positional()) flag.names = {option.get_name(true, false)};
  const bool takes_value = option.get_type_size() != 0;
  if (takes_value && !option.get_positional()) flag.value = option.get_type_name();
  flag.meaning = meaning_of(option);
  flag.is_required = option.get_required();
  flag.is_repeatable = takes_value && option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return flag;
}

std::string whole_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : whole_name(*app.get_parent()) + " " + app.get_name();
}

std::string usage_of(const CommandText& command) {
  std::string usage = "[OPTIONS]";
  if (!command.commands.empty()) usage += " COMMAND";
  for (const FlagText& argument : command.arguments) {
    const std::string words = argument.names.front() + (argument.is_repeatable ? "..." : "");
    usage += argument.is_required ? " " + words : " [" + words + "]";
  }
  return usage;
}

/// As `--flag=`, or as `--flag ""` where a value is optional. CLI11 takes the next word for the first, and
/// the second for no value.
bool is_given_empty(const CLI::Option& option, std::span<const std::string> words) {
  const bool may_stand_alone = option.get_items_expected_min() == 0 && option.get_items_expected_max() > 0;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with("--")) continue;
    const std::string name = words[i].substr(2);
    if (name.ends_with('=') && option.check_lname(name.substr(0, name.size() - 1))) return true;
    const bool is_empty_next = i + 1 < words.size() && words[i + 1].empty();
    if (may_stand_alone && is_empty_next && option.check_lname(name)) return true;
  }
  return false;
}

/// `--flag is given an empty value: write --flag NAME, or --flag alone`.
std::string empty_value(const CLI::Option& option) {
  const std::string flag = option.get_name();
  const std::string message = flag + " is given an empty value: write ";
  if (option.get_items_expected_max() == 0) return message + flag + " alone, or leave it out";
  const std::string with_value = flag + " " + option.get_type_name();
  return message + with_value + (option.get_items_expected_min() == 0 ? ", or " + flag + " alone" : "");
}

}  // namespace

std::vector<std::string> FlagText::choices() const {
  std::vector<std::string> words;
  std::istringstream parts(value);
  for (std::string word; std::getline(parts, word, '|');) words.push_back(word);
  const auto is_literal = [](const std::string& word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char one) {
      return std::islower(one) != 0 || std::isdigit(one) != 0 || one == '-' || one == '_';
    });
  };
  if (words.size() < 2 || !std::ranges::all_of(words, is_literal)) return {};
  return words;
}

bool FlagText::takes_path() const {
  constexpr std::string_view path_words[] = {"FILE",     "DIR",    "SUITE",  "FOLDER", "PATH",    "CASSETTE",
                                             "FIXTURES", "CONFIG", "PLUGIN", "BASE",   "CURRENT", "MORE"};
  const std::string& word = value.empty() ? names.front() : value;
  return std::ranges::any_of(path_words, [&](std::string_view path) {
    return word == path || (value.empty() && word.ends_with(path));
  });
}

std::string meaning_of(const CLI::Option& option) {
  std::string meaning = option.get_description();
  if (option.get_required() && !option.get_positional()) meaning += " (required)";
  for (const CLI::Option* needed : option.get_needs()) meaning += " (with " + needed->get_name() + ")";
  for (const CLI::Option* other : option.get_excludes()) meaning += " (not with " + other->get_name() + ")";
  return meaning;
}

std::string problem_with_empty_values(const CLI::App& app, std::span<const std::string> words) {
  for (const CLI::Option* option : app.get_options()) {
    if (is_given_empty(*option, words)) return empty_value(*option);
    // The results of `--flag ""` and of `--flag` alone are the same.
    if (option->get_items_expected_min() == 0 ||
        std::ranges::find(option->results(), "") == option->results().end())
      continue;
    if (option->get_positional()) return option->get_name(true, false) + " is empty";
    const std::string flag = option->get_name();
    const std::string& value = option->get_type_name();
    if (value == "FILE") return flag + " must name a file";
    if (value == "DIR") return flag + " must name a folder";
    constexpr std::string_view names[] = {"ID", "NAME", "ARM", "MODEL", "METRIC"};
    if (std::ranges::find(names, value) != std::end(names)) return flag + " must not be empty";
  }
  return "";
}

CommandText command_text(const CLI::App& app) {
  CommandText command;
  command.name = whole_name(app);
  command.summary = app.get_description();
  command.notes = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Hidden.
    if (option->get_positional()) {
      command.arguments.push_back(flag_text(*option));
      continue;
    }
    auto group = std::ranges::find(command.groups, option->get_group(), &FlagGroup::heading);
    if (group == command.groups.end()) group = command.groups.insert(group, {option->get_group(), {}});
    group->flags.push_back(flag_text(*option));
  }
  for (const CLI::App* below : app.get_subcommands(nullptr)) command.commands.push_back(command_text(*below));
  command.usage = usage_of(command);
  return command;
}

}  // namespace sluice
