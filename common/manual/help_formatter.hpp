#pragma once

#include "common/manual/command_text.hpp"

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {

/// A program's help on 80 columns: flags and commands in one column, what they mean wrapped in another.
/// Options name their values themselves (`type_name`, and `description("")` for their checks), since the
/// library's words for types and conditions are not a user's. Footers are printed as they are written.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0) + "\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return row(command->get_name(), command->get_description());
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string names =
        CLI::detail::find_and_replace(option->get_name(is_positional, !is_positional), ",", ", ");
    const bool takes_value = option->get_type_size() != 0;
    const std::string value = takes_value ? option->get_type_name() : "";
    if (!value.empty()) names += " " + value;
    if (takes_value && option->get_expected_max() == CLI::detail::expected_max_vector_size) names += " ...";
    return row(names, meaning_of(*option));
  }

 private:
  static constexpr std::size_t width = 80;

  std::string row(const std::string& name, const std::string& meaning) const {
    const std::size_t column = get_column_width();
    std::string line = "  " + name;
    if (meaning.empty()) return line + "\n";
    line += line.size() < column ? std::string(column - line.size(), ' ') : "\n" + std::string(column, ' ');
    return line + wrapped(meaning, column) + "\n";
  }

  /// Lines of whole words, all but the first after so many blanks.
  static std::string wrapped(const std::string& text, std::size_t indent) {
    std::istringstream words(text);
    std::string lines;
    std::size_t column = indent;
    for (std::string word; words >> word; column += word.size()) {
      if (!lines.empty() && column + 1 + word.size() > width) {
        lines += "\n" + std::string(indent, ' ');
        column = indent;
      } else if (!lines.empty()) {
        lines += ' ';
        ++column;
      }
      lines += word;
    }
    return lines;
  }
};

}  // namespace sluice
