#include "coordinator/suite/expectations/command_reader.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

constexpr std::string_view wanted_command = "a list: the program, then each of its arguments";

std::vector<std::string> read_arguments(TableReader& reader) {
  const DocumentEntry* entry = reader.entry("command", Need::required, wanted_command);
  if (entry == nullptr) return {};
  if (std::holds_alternative<std::string>(entry->value.value)) {
    reader.add_wrong("command", "must be " + std::string(wanted_command) +
                                    ", as [python3, check.py]; no shell reads it, so a text is no command");
    return {};
  }
  auto arguments = reader.texts("command");
  if (!arguments) return {};
  if (arguments->front().empty()) reader.add_wrong("command", "must begin with a program");
  for (const std::string& one : *arguments) {
    if (one.find('\0') != std::string::npos) reader.add_wrong("command", "holds a null character");
    const std::string_view variable = first_variable(one);
    if (variable.empty()) continue;
    reader.add_wrong("command",
                     "uses {{" + excerpt(variable, defaults::quoted_bytes) +
                         "}}, which is not filled in here: the program reads the test's variables from its "
                         "standard input");
  }
  return std::move(*arguments);
}

/// Of the files of the suite's folder, and of folders that the command line allows, among the arguments;
/// empty if there is none.
std::string hash_of_files(TableReader& reader, const TestSource& source,
                          const std::vector<std::string>& arguments) {
  FieldHasher hasher;
  bool any = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!may_be_file(arguments, i)) continue;
    std::vector<FileIdentity> opened;
    const auto text = source.read_file(name, &opened);
    if (source.opened != nullptr) source.opened->insert(source.opened->end(), opened.begin(), opened.end());
    if (text) {
      any = true;
      hasher.field(*text);
      continue;
    }
    // A program of the machine, or a word that looks like a path; the run says which it cannot see change.
    if (name.front() == '/') continue;
    const bool is_there = !opened.empty() || text.error().message == unreadable_file(EACCES).message;
    if (i == 0) {
      reader.add_wrong("command", names_file(name) + text.error().message);
    } else if (is_there) {
      reader.add_wrong("command", names_file(name) + text.error().message +
                                      ", so that nobody would see it change: name it under \"parameters\"");
    }
  }
  return any ? to_hex(hasher.finish()) : "";
}

std::string read_parameters(TableReader& reader) {
  const DocumentNode* parameters = reader.table("parameters");
  if (parameters == nullptr) return "{}";
  if (!has_only_json_values(*parameters)) reader.add_wrong("parameters", "hold a number that is not finite");
  return canonical_json(*parameters);
}

}  // namespace

TextExpectation read_command(TableReader& reader, const TestSource& source, MetricId metric) {
  const std::vector<std::string> arguments = read_arguments(reader);
  std::string list = "[";
  for (const std::string& one : arguments) list += (list.size() > 1 ? "," : "") + json_string(one);
  const double seconds = reader.number_in("timeout_seconds", 0.001, defaults::most_check_seconds)
                             .value_or(defaults::check_seconds);
  TextExpectation what{metric, {list + "]", read_parameters(reader), ""}, {seconds}};
  if (!arguments.empty()) what.texts.back() = hash_of_files(reader, source, arguments);
  return what;
}

std::vector<std::string> command_arguments(const std::string& json) {
  std::vector<std::string> arguments;
  for (const auto& one : nlohmann::json::parse(json, nullptr, false))
    arguments.push_back(one.get<std::string>());
  return arguments;
}

CommandCheck command_check(const TextExpectation& what) {
  CommandCheck check;
  check.arguments = command_arguments(what.texts[0]);
  check.parameters = what.texts[1];
  check.time_limit = std::chrono::milliseconds(std::llround(what.numbers[0] * 1000.0));
  return check;
}

void visit_commands(const TextExpectation& what, const std::function<void(const TextExpectation&)>& visit) {
  if (is_command_metric(what.metric)) return visit(what);
  for (const TextExpectation& part : what.parts) visit_commands(part, visit);
}

void visit_commands(const Case& test_case, const std::function<void(const TextExpectation&)>& visit) {
  for (const Expectation& expectation : test_case.expectations) visit_commands(expectation.what, visit);
}

bool runs_commands(const Case& test_case) {
  return std::ranges::any_of(test_case.expectations,
                             [](const Expectation& one) { return has_command(one.what); });
}

bool may_be_file(const std::vector<std::string>& arguments, std::size_t n) {
  const std::string& name = arguments.at(n);
  const bool is_looked_for = n == 0 && name.find('/') == std::string::npos;
  return !name.empty() && name.front() != '-' && !is_looked_for;
}

}  // namespace sluice
