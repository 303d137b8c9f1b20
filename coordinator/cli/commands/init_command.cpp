#include "common/settings/provider_presets.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/display.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/import/suite_yaml.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* init_examples =
    "Asks for a prompt, a model, and a text that one answer must contain. Return\n"
    "accepts the proposal in brackets; --yes accepts all proposals.\n"
    "Examples:\n"
    "  sluice init\n"
    "  sluice init evals/support.yaml --yes\n"
    "  sluice run suite.yaml --mode mock      # without a model: answers are empty\n"
    "  sluice run suite.yaml --mode live";

/// What the questions came to.
struct FirstSuite {
  std::string prompt = "What is the capital of {{country}}? Answer in one word.";
  std::string target;  ///< `PROVIDER:MODEL`
  std::string input = "France";
  std::string answer = "Paris";
};

/// Of the first provider whose key is set; of OpenAI without any.
std::string proposed_target(const Settings& settings) {
  const ExampleModels models = models_with_prices(settings);
  std::string first = "openai";
  for (const std::string name : {"openai", "anthropic", "gemini"}) {
    const auto preset = preset_provider(name);
    const char* const key = preset ? std::getenv(preset->api_key_env.value.c_str()) : nullptr;
    if (key == nullptr || *key == '\0') continue;
    first = name;
    break;
  }
  const auto preset = preset_provider(first);
  const auto names = models(preset->kind.value);
  return first + ":" + (names.empty() ? std::string("MODEL") : names.front());
}

/// The prompt's one variable, or why it cannot be used.
Result<std::string> variable_of(const std::string& prompt) {
  const auto parsed = Template::parse(prompt);
  if (!parsed) return fail(Reason::usage_invalid, "the prompt " + parsed.error().front().message);
  const auto names = parsed->variables();
  if (names.size() == 1) return names.front();
  return fail(Reason::usage_invalid,
              "the prompt needs one {{name}} where a test's own text stands, such as "
              "\"Translate into French: {{text}}\", and has " +
                  std::string(names.empty() ? "none" : "several"));
}

DocumentNode text_node(std::string text) {
  return {std::move(text), 1, {}};
}
DocumentNode table_node(std::vector<std::pair<std::string, DocumentNode>> entries) {
  DocumentNode::Table table;
  for (auto& [key, value] : entries) table.push_back({key, 1, std::move(value)});
  return {std::move(table), 1, {}};
}
DocumentNode list_node(DocumentNode one) {
  DocumentNode::Array list;
  list.push_back(std::move(one));
  return {std::move(list), 1, {}};
}

std::string suite_text(const FirstSuite& first, const std::string& name, const std::string& variable) {
  const auto prompt = table_node({{"id", text_node("first")}, {"prompt", text_node(first.prompt)}});
  const auto check = table_node({{"type", text_node("must_contain")}, {"text", text_node(first.answer)}});
  const auto test = table_node({{"id", text_node(to_lower(arm_name_of(first.input)))},
                                {"vars", table_node({{variable, text_node(first.input)}})},
                                {"expected", check}});
  const auto suite = table_node({{"suite", text_node(name)},
                                 {"prompts", list_node(prompt)},
                                 {"providers", list_node(text_node(first.target))},
                                 {"tests", list_node(test)}});
  return "# A first suite. Add tests, prompts and providers: each test is asked by each\n"
         "# prompt, of each provider. `sluice validate-fixtures` checks the file.\n" +
         suite_yaml(suite);
}

struct InitCommand {
  SettingFlags settings;
  std::string target = "suite.yaml";
  bool yes = false;
  bool force = false;

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    std::error_code error;
    const fs::path extension = fs::path(target).extension();
    if (extension != ".yaml" && extension != ".yml")
      return report_error("\"" + target + "\" is no name for a suite: it ends in .yaml or .yml");
    if (!force && fs::exists(target, error))
      return report_error(target + " is there already: name another file, or replace it with --force");
    if (const auto possible = check_output_path("suite", target); !possible)
      return report_error(possible.error());
    FirstSuite first;
    first.target = proposed_target(*effective);
    if (!yes) {
      if (const auto asked = ask(*effective, first); !asked) return report_error(asked.error());
    }
    return write(first);
  }

 private:
  using TakeAnswer = std::function<Result<void>(const std::string&)>;

  /// Hands on the answer, or what is proposed for an empty line and at the end of the input. Who sits at a
  /// terminal is asked again where it is not taken.
  static Result<void> ask_for(const std::string& question, const std::string& proposed,
                              const TakeAnswer& take) {
    while (true) {
      show(question + " [" + printable(proposed) + "]");
      std::string line;
      const bool is_given =
          std::getline(std::cin, line) && line.find_first_not_of(" \t\r") != std::string::npos;
      auto taken = take(is_given ? one_line(to_valid_utf8(line)) : proposed);
      if (taken || !is_given || ::isatty(STDIN_FILENO) == 0) return taken;
      report_error(taken.error());
    }
  }

  /// On a terminal in lines of whole words.
  static void show(const std::string& question) {
    const auto columns = detect_terminal(STDERR_FILENO).columns;
    if (!columns || log_format() == LogFormat::json) return write_stderr_line(question);
    for (const std::string& line : wrapped(question, *columns)) write_stderr_line(line);
  }

  static Result<void> take_prompt(const std::string& given, FirstSuite& first) {
    if (const auto variable = variable_of(given); !variable) return fail(variable.error());
    first.prompt = given;
    return {};
  }
  static Result<void> take_target(const std::string& given, const Settings& settings, FirstSuite& first) {
    const auto arm = parse_target(given);
    if (!arm) return fail(arm.error().reason, "the model " + arm.error().message);
    Settings named = settings;
    named.provider = {arm->provider, Origin::suite, given};
    if (auto known = check_provider(named); !known) return known;
    first.target = given;
    return {};
  }
  static Result<void> take_example(const std::string& given, FirstSuite& first) {
    const auto arrow = given.find("=>");
    first.input = one_line(given.substr(0, arrow));
    first.answer = arrow != std::string::npos ? one_line(given.substr(arrow + 2)) : "";
    if (!first.input.empty() && !first.answer.empty()) return check_text(first);
    return fail(Reason::usage_invalid, "the example must be EXAMPLE => TEXT, such as France => Paris");
  }
  /// The suite renders the text as it does the prompt.
  static Result<void> check_text(const FirstSuite& first) {
    const auto variable = variable_of(first.prompt);
    if (!variable) return fail(variable.error());
    const auto text = Template::parse(first.answer);
    if (!text) return fail(Reason::usage_invalid, "the text " + text.error().front().message);
    for (const std::string& name : text->variables()) {
      if (name == *variable) continue;
      return fail(Reason::usage_invalid, "the text uses {{" + name + "}}, and the prompt has {{" + *variable +
                                             "}} alone; write {{ '{{' }}" + name +
                                             "}} where the braces themselves are meant");
    }
    return {};
  }

  static Result<void> ask(const Settings& settings, FirstSuite& first) {
    const auto into = [&](Result<void> (*take)(const std::string&, FirstSuite&)) -> TakeAnswer {
      return [&first, take](const std::string& given) { return take(given, first); };
    };
    if (auto taken = ask_for("What is the model asked? {{name}} stands for what differs from test to test",
                             first.prompt, into(take_prompt));
        !taken)
      return taken;
    if (auto taken = ask_for("Which model? PROVIDER:MODEL", first.target,
                             [&](const std::string& given) { return take_target(given, settings, first); });
        !taken)
      return taken;
    return ask_for("One example, and a text that its answer must hold? EXAMPLE => TEXT",
                   first.input + " => " + first.answer, into(take_example));
  }

  /// That of the file, or of its folder where the file is called like any other.
  std::string suite_name() const {
    std::error_code error;
    const fs::path whole = fs::absolute(target, error);
    const std::string stem = whole.stem().string();
    return arm_name_of(to_valid_utf8(stem == "suite" ? whole.parent_path().filename().string() : stem));
  }

  int write(const FirstSuite& first) const {
    const auto variable = variable_of(first.prompt);
    if (!variable) return report_error(variable.error());
    const std::string name = suite_name();
    const std::string text = suite_text(first, name, *variable);
    // As for a folder that is there and cannot be written to, what is wrong is said by whoever writes the
    // file.
    std::error_code ignored;
    if (const fs::path folder = fs::path(target).parent_path(); !folder.empty())
      fs::create_directories(folder, ignored);
    if (const auto written = write_whole_file("suite", target, text); !written)
      return report_error(written.error());
    if (const auto loaded = load_any_suite(target); !loaded) return report_findings(loaded.error());
    const std::string shown = printable(target);
    std::cout << "wrote " << shown << "\n"
              << "  sluice run " << shown
              << " --mode mock   # tries the file: answers are empty, so tests fail\n"
              << "  sluice run " << shown << " --mode live   # asks " << printable(first.target) << "\n";
    return exit_ok;
  }
};

}  // namespace

Command add_init_command(CLI::App& program) {
  auto command = std::make_shared<InitCommand>();
  CLI::App* app = program.add_subcommand("init", "Ask three questions and write a first suite");
  app->add_option("SUITE", command->target, "The file to write (default: suite.yaml)")->type_name("");
  app->add_flag("--yes,-y", command->yes, "Ask nothing: accept the proposals");
  app->add_flag("--force", command->force, "Replace an existing file");
  command->settings.add_to(*app, {"prices_file"});
  app->footer(init_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
