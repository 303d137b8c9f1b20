#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/suite/selection.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

struct ListFixtures {
  SettingFlags settings;
  std::string path;
  std::vector<std::string> categories;
  std::vector<std::string> filters;
  std::vector<std::string> allowed_paths;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    if (!path.empty() && effective->fixtures_dir.origin == Origin::flag) {
      return report_error("the suite is named twice: leave out --fixtures or \"" + path + "\"");
    }
    auto loaded = load_any_suite(path.empty() ? effective->fixtures_dir.value : path, allowed_paths);
    if (!loaded) return report_findings(loaded.error());
    Selection selection;
    auto named = names_of("--category", categories, "tls,jwt");
    if (!named) return report_error(named.error());
    selection.categories = std::move(*named);
    auto wanted = filters_of(filters);
    if (!wanted) return report_error(wanted.error());
    selection.filters = std::move(*wanted);
    const auto selected = select(std::move(loaded->suite), selection);
    if (!selected) {
      Error why = selected.error();
      if (!filters.empty() && why.reason == Reason::usage_invalid)
        why.message += "; without --filter all tests are listed";
      return report_error(why);
    }
    return print(*selected);
  }

  static int print(const Suite& suite) {
    using Row = std::array<std::string, 4>;
    std::vector<Row> rows{{"ID", "CATEGORY", "LANGUAGE", "NAME"}};
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
      const auto one = suite.cases.read(i);
      if (!one) return report_error(one.error());
      const Case& shown = **one;
      rows.push_back(
          {printable(shown.id), printable(shown.category), printable(shown.language), printable(shown.name)});
    }
    std::array<std::size_t, 3> widths{};
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (const Row& row : rows) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        text += padded_right(row[i], widths[i] + 2);
      }
      text += row.back() + "\n";
    }
    std::cout << text;
    return exit_ok;
  }
};

}  // namespace

Command add_list_fixtures_command(CLI::App& program) {
  auto command = std::make_shared<ListFixtures>();
  CLI::App* app = program.add_subcommand("list-fixtures", "List the fixtures by id");
  app->add_option("SUITE", command->path, "A YAML suite or a folder of fixtures (default: --fixtures)")
      ->type_name("");
  add_allow_path(*app, command->allowed_paths);
  command->settings.add_to(*app, {"fixtures_dir"});
  app->add_option("--category,--categories", command->categories,
                  "Only this category; may be repeated, or a list with commas")
      ->allow_extra_args(false)
      ->type_name("NAME");
  add_filter(*app, command->filters);
  app->footer(
      "Examples:\n"
      "  sluice list-fixtures\n"
      "  sluice list-fixtures suite.yaml\n"
      "  sluice list-fixtures --fixtures my_suite --category tls\n"
      "  sluice list-fixtures suite.yaml --filter tag=slow --filter 'id!~-old$'");
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
