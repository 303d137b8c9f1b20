#include "coordinator/import/promptfoo_tests.hpp"

#include "common/defaults.hpp"
#include "common/text/joined.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/import/defaults.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/test_table.hpp"
#include "coordinator/suite/documents/json_lines.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

using Tests = std::vector<ImportedTest>;

/// The files that a reference to tests names; none is a note.
std::vector<std::string> files_of_tests(const std::string& reference, std::uint32_t line,
                                        const std::string& what, const ImportFile& from) {
  const std::string name = referenced_file(reference, from.files);
  if (!name.empty() && !is_code_file(name) && !extension_of(name).empty())
    return files_of(name, from, line, Loss::test);
  from.lose(Loss::test, line,
            "the " + what + " " + json_string(excerpt(reference, defaults::quoted_bytes)) +
                " are made by a program or lie elsewhere: left out");
  return {};
}

class TestImporter {
 public:
  TestImporter(const TestDefaults& defaults, const ImportFile& from) : defaults_(defaults), from_(from) {}

  Tests read(const DocumentNode& node) {
    collect(node);
    return std::move(tests_);
  }

  Tests read_test(const DocumentNode& node) {
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) {
      from_.lose(Loss::test, node.line, "a test that is no mapping: left out");
      return {};
    }
    ImportedTest test;
    test.line = node.line;
    test.file = from_.name;
    test.keeps_lists = defaults_.keeps_lists;
    const DocumentEntry* vars = nullptr;
    test.pass_mark = number_in(node, "threshold");
    if (test.pass_mark && !(*test.pass_mark >= 0 && *test.pass_mark <= 1)) test.pass_mark.reset();
    for (const DocumentEntry& entry : *table) {
      if (entry.key == "description") {
        test.name = scalar_text(entry.value).value_or("");
      } else if (entry.key == "vars") {
        vars = &entry;
      } else if (entry.key == "assert") {
        read_checks(entry.value, test);
      } else if (entry.key == "options") {
        read_options(entry, test);
      } else if (entry.key == "metadata") {
        read_metadata(entry, test);
      } else if (entry.key == "prompts" || entry.key == "providers") {
        test.filters.emplace_back(entry.key, entry.line);  // Noted when all of them are known.
      } else if (entry.key != "threshold" || !test.pass_mark) {
        from_.change(entry.line, "\"" + entry.key + "\" of a test has no counterpart: left out");
      }
    }
    Tests tests{std::move(test)};
    if (vars != nullptr) read_vars(vars->value, tests);
    add_lists(tests);
    return tests;
  }

  /// A test for each value of the default test's variables.
  void add_lists(Tests& tests) {
    const ImportFile there = from_.with(defaults_.lists_file);
    for (const DocumentEntry& entry : defaults_.lists) {
      if (!tests.front().vars.contains(entry.key))
        TestImporter(defaults_, there).read_var(entry.key, entry.value, tests);
    }
  }

 private:
  void collect(const DocumentNode& node) {
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (const DocumentNode& one : *list) collect(one);
    } else if (const std::string* name = text_in(node)) {
      read_reference(*name, node.line);
    } else if (const std::string* path = text_in(node, "path")) {
      read_reference(*path, node.line);
    } else {
      add(read_test(node));
    }
  }

  void add(Tests tests) { std::ranges::move(tests, std::back_inserter(tests_)); }

  void read_checks(const DocumentNode& assertions, ImportedTest& test) {
    if (std::holds_alternative<DocumentNull>(assertions.value)) return;
    test.checks = import_checks(assertions, defaults_.templates, from_);
    const auto* list = std::get_if<DocumentNode::Array>(&assertions.value);
    test.lost_checks = test.checks.empty() && (list == nullptr || !list->empty());
  }

  void read_options(const DocumentEntry& options, ImportedTest& test) {
    const auto* table = mapping_in(options, from_);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const auto* wanted = std::get_if<bool>(&entry.value.value);
      if (entry.key == "disableVarExpansion" && wanted != nullptr) {
        test.keeps_lists = *wanted;
        continue;
      }
      if (entry.key == "disableDefaultAsserts" && wanted != nullptr) {
        test.takes_default_checks = !*wanted;
        continue;
      }
      const bool is_transform = entry.key == "transform" || entry.key == "postprocess";
      if (is_transform && (entry.key == "transform" || !test.transform)) test.transform = entry.value;
      if (is_transform) continue;  // Its checks say what becomes of it.
      from_.lose(entry.key == "runSerially" ? Loss::none : Loss::change, entry.line,
                 "\"" + entry.key + "\" in options of a test" + why_left_out(entry.key));
    }
  }

  void read_metadata(const DocumentEntry& metadata, ImportedTest& test) {
    const auto* table = mapping_in(metadata, from_);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      if (entry.key == "conversationId") {
        from_.change(entry.line,
                     "\"conversationId\" joins tests to a conversation, which has no counterpart: left out");
        continue;
      }
      const auto* list = std::get_if<DocumentNode::Array>(&entry.value.value);
      std::vector<std::string> tags;
      for (const DocumentNode& one : list != nullptr ? *list : DocumentNode::Array{entry.value}) {
        if (const auto text = scalar_text(one)) tags.push_back(one_line(entry.key + ":" + *text));
      }
      if (tags.empty())
        from_.note(entry.line, "\"" + excerpt(entry.key, defaults::quoted_bytes) +
                                   "\" in metadata is no text, which a tag can be: left out");
      else
        test.metadata.insert_or_assign(entry.key, std::move(tags));
    }
  }

  void read_vars(const DocumentNode& node, Tests& tests) {
    if (const std::string* name = text_in(node)) {
      const std::string file = referenced_file(*name, from_.files);
      if (file.empty() || is_code_file(file))
        return from_.lose(Loss::variable, node.line,
                          "the variables " + json_string(excerpt(*name, defaults::quoted_bytes)) +
                              " are made by a program or lie elsewhere: left out");
      for (const std::string& one : files_of(file, from_, node.line, Loss::everything)) {
        if (!may_follow(one, from_, node.line, Loss::everything)) continue;
        const auto document = read_document(one, from_, node.line, Loss::everything);
        if (document) TestImporter(defaults_, from_.with(one)).read_vars(*document, tests);
      }
      return;
    }
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) return from_.change(node.line, "\"vars\" is no mapping: left out");
    for (const DocumentEntry& entry : *table) read_var(entry.key, entry.value, tests);
  }

  void read_var(const std::string& name, const DocumentNode& node, Tests& tests) {
    if (!is_variable_name(name)) {
      return from_.change(node.line, "the variable " + json_string(excerpt(name, defaults::quoted_bytes)) +
                                         " has a name that a template cannot use: left out");
    }
    for (ImportedTest& test : tests) {
      if (text_in(node) != nullptr)
        test.values.erase(name);
      else
        test.values.insert_or_assign(name, node);
    }
    const auto set = [&](const std::string& value) {
      for (ImportedTest& test : tests) test.vars.insert_or_assign(name, value);
    };
    if (auto text = scalar_text(node)) {
      if (text->starts_with("file://")) return read_var_file(name, *text, node.line, tests);
      if (text->ends_with('\n')) text->pop_back();  // The end of a block is not sent there either.
      return set(*text);
    }
    if (std::holds_alternative<DocumentNull>(node.value)) return set("");
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      if (!tests.front().keeps_lists && is_of_texts(*list)) return multiply(name, *list, node.line, tests);
      return set_list(name, node, tests);
    }
    set(written_json(node));
    const auto* table = std::get_if<DocumentNode::Table>(&node.value);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const std::string part = name + "." + entry.key;
      if (!is_variable_name(part)) continue;
      if (std::holds_alternative<DocumentNode::Array>(entry.value.value)) {
        set_list(part, entry.value, tests);
      } else {
        read_var(part, entry.value, tests);
      }
    }
  }

  /// A list whose first entry is no text is one value there.
  static bool is_of_texts(const DocumentNode::Array& list) {
    return list.empty() || text_in(list.front()) != nullptr;
  }

  static void set_list(const std::string& name, const DocumentNode& node, Tests& tests) {
    std::vector<std::string> texts;
    for (const DocumentNode& one : std::get<DocumentNode::Array>(node.value)) {
      if (auto text = scalar_text(one)) texts.push_back(std::move(*text));
    }
    const bool is_shown = texts.size() == std::get<DocumentNode::Array>(node.value).size();
    for (ImportedTest& test : tests) {
      test.vars.insert_or_assign(name, written_json(node));
      test.values.insert_or_assign(name, node);
      if (is_shown) test.lists.insert_or_assign(name, joined(texts, ","));
    }
  }

  void read_var_file(const std::string& name, const std::string& reference, std::uint32_t line,
                     Tests& tests) {
    const std::string file = referenced_file(reference, from_.files);
    const std::string extension = extension_of(file);
    if (extension == ".js" || extension == ".cjs" || extension == ".mjs" || extension == ".py") {
      return from_.lose(
          Loss::variable, line,
          "the variable \"" + name + "\" is made by a program, which has no counterpart: left out");
    }
    if (file.empty()) {
      return from_.lose(Loss::everything, line,
                        "the variable \"" + name + "\" names " +
                            json_string(excerpt(reference, defaults::quoted_bytes)) +
                            ", which is no path as it stands: write the file's own");
    }
    if (extension == ".ts" || extension == ".cts" || extension == ".mts")
      from_.change(line, "the variable \"" + name +
                             "\" is a file that newer versions of promptfoo run: its text is taken");
    DocumentNode::Array texts;
    for (const std::string& one : files_of(file, from_, line, Loss::everything)) {
      if (extension_of(one) == ".yaml" || extension_of(one) == ".yml") {
        if (const auto held = read_document(one, from_, line, Loss::everything))
          texts.push_back(text_node(written_json(*held), line));
      } else if (const auto text = read_text_file(one, from_, line, Loss::everything, Loss::variable)) {
        texts.push_back(text_node(with_environment(trimmed(*text), from_.with(one)), line));
      }
    }
    if (texts.size() == 1) {
      for (ImportedTest& test : tests)
        test.vars.insert_or_assign(name, std::get<std::string>(texts.front().value));
    } else if (!texts.empty()) {
      multiply(name, texts, line, tests);
    }
  }

  /// A test for each value.
  void multiply(const std::string& name, const DocumentNode::Array& values, std::uint32_t line,
                Tests& tests) {
    if (values.empty()) return from_.change(line, "the variable \"" + name + "\" is an empty list: left out");
    if (tests.size() * values.size() > defaults::max_imported_tests) {
      return from_.change(line, "the variable \"" + name + "\" makes more than " +
                                    std::to_string(defaults::max_imported_tests) + " tests of one: left out");
    }
    Tests all;
    for (const ImportedTest& test : tests) {
      for (const DocumentNode& value : values) {
        Tests one{test};
        one.front().keeps_lists = true;
        read_var(name, value, one);
        one.front().keeps_lists = test.keeps_lists;
        std::ranges::move(one, std::back_inserter(all));
      }
    }
    tests = std::move(all);
  }

  void read_reference(const std::string& reference, std::uint32_t line) {
    for (const std::string& one : files_of_tests(reference, line, "tests", from_)) read_file(one, line);
  }

  void read_file(const std::string& name, std::uint32_t line) {
    if (!may_follow(name, from_, line, Loss::everything)) return;
    const ImportFile other = from_.with(name);
    const std::string extension = extension_of(name);
    if (extension == ".csv" || extension == ".jsonl") {
      const auto text = read_text_file(name, from_, line, Loss::everything);
      if (!text) return;
      DocumentNode tests = extension == ".csv" ? tests_of_table(*text, other) : lines_of(*text, other);
      fill_environment(tests, other);
      add(TestImporter(defaults_, other).read(tests));
    } else if (const auto document = read_document(name, from_, line, Loss::everything)) {
      add(TestImporter(defaults_, other).read(*document));
    }
  }

  static DocumentNode lines_of(const std::string& text, const ImportFile& from) {
    DocumentNode::Array tests;
    JsonLines lines(text);
    for (auto line = lines.next(); line; line = lines.next()) {
      if (line->value)
        tests.push_back(std::move(*line->value));
      else
        from.lose(Loss::test, line->number, line->value.error().message + ": the line is left out");
    }
    return {std::move(tests), 1, {}};
  }

  const TestDefaults& defaults_;
  const ImportFile& from_;
  Tests tests_;
};

void note_other_keys_of(const DocumentNode& scenario, const ImportFile& from) {
  for (const DocumentEntry& entry : std::get<DocumentNode::Table>(scenario.value)) {
    if (entry.key != "config" && entry.key != "tests" && entry.key != "description")
      from.change(entry.line, "\"" + entry.key + "\" of a scenario has no counterpart: left out");
  }
}

/// A test with what an entry of its scenario's `config` has for it.
ImportedTest with_config(ImportedTest test, const ImportedTest& config) {
  for (const auto& [name, shown] : config.lists) {
    if (!test.vars.contains(name)) test.lists.emplace(name, shown);
  }
  for (const auto& [name, value] : config.values) {
    if (!test.vars.contains(name)) test.values.emplace(name, value);
  }
  test.vars.insert(config.vars.begin(), config.vars.end());
  test.metadata.insert(config.metadata.begin(), config.metadata.end());
  if (!test.pass_mark) test.pass_mark = config.pass_mark;
  if (!test.transform) test.transform = config.transform;
  test.takes_default_checks = test.takes_default_checks && config.takes_default_checks;
  test.lost_checks = test.lost_checks || config.lost_checks;
  test.filters.insert(test.filters.end(), config.filters.begin(), config.filters.end());
  test.checks.insert(test.checks.begin(), config.checks.begin(), config.checks.end());
  return test;
}

/// Each entry of its `config` with each of its `tests`.
Tests tests_of_scenario(const DocumentNode& scenario, const TestDefaults& defaults, const ImportFile& from) {
  Tests all;
  const TestDefaults without_lists{defaults.templates, defaults.keeps_lists, {}, {}};
  const DocumentEntry* config = find_entry(scenario, "config");
  const DocumentEntry* tests = find_entry(scenario, "tests");
  if (config == nullptr || tests == nullptr) {
    from.lose(Loss::test, scenario.line, "a scenario without \"config\" and \"tests\": left out");
    return all;
  }
  note_other_keys_of(scenario, from);
  const auto with = import_tests(config->value, without_lists, from);
  const auto asked = import_tests(tests->value, without_lists, from);
  if (with.size() * asked.size() > defaults::max_imported_tests) {
    from.lose(Loss::test, scenario.line,
              "a scenario of more than " + std::to_string(defaults::max_imported_tests) + " tests: left out");
    return all;
  }
  for (const ImportedTest& one : with) {
    for (const ImportedTest& test : asked) {
      Tests several{with_config(test, one)};
      TestImporter(defaults, from).add_lists(several);
      std::ranges::move(several, std::back_inserter(all));
    }
  }
  return all;
}

}  // namespace

ImportFile file_of(const ImportedTest& test, const ImportFile& from) {
  return from.with(test.file.empty() ? from.name : test.file);
}

void note(const ImportedTest& test, const ImportFile& from, std::string message, Loss loss) {
  file_of(test, from).lose(loss, test.line, std::move(message));
}

std::vector<ImportedTest> import_test(const DocumentNode& test, const TestDefaults& defaults,
                                      const ImportFile& from) {
  return TestImporter(defaults, from).read_test(test);
}

std::vector<ImportedTest> import_tests(const DocumentNode& tests, const TestDefaults& defaults,
                                       const ImportFile& from) {
  return TestImporter(defaults, from).read(tests);
}

std::vector<ImportedTest> import_scenarios(const DocumentNode& scenarios, const TestDefaults& defaults,
                                           const ImportFile& from) {
  std::vector<ImportedTest> all;
  const auto add = [&](std::vector<ImportedTest> tests) {
    std::ranges::move(tests, std::back_inserter(all));
  };
  if (const auto* list = std::get_if<DocumentNode::Array>(&scenarios.value)) {
    for (const DocumentNode& one : *list) add(import_scenarios(one, defaults, from));
  } else if (const std::string* reference = text_in(scenarios)) {
    for (const std::string& name : files_of_tests(*reference, scenarios.line, "scenarios", from)) {
      if (!may_follow(name, from, scenarios.line, Loss::everything)) continue;
      const auto document = read_document(name, from, scenarios.line, Loss::everything);
      if (document) add(import_scenarios(*document, defaults, from.with(name)));
    }
  } else {
    add(tests_of_scenario(scenarios, defaults, from));
  }
  return all;
}

}  // namespace sluice
