#include "coordinator/import/promptfoo_config.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/suite_assembly.hpp"
#include "coordinator/suite/arms.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Keys that say nothing about what is asked and judged: nothing is lost without them.
constexpr std::array<std::string_view, 6> silent_keys{"$schema", "description",        "sharing",
                                                      "tags",    "assertionTemplates", "writeLatestResults"};

class ConfigImporter {
 public:
  ConfigImporter(const DocumentNode& root, const ImportFile& from) : root_(root), from_(from) {}

  ImportedSuite read(const fs::path& path) {
    SuiteParts parts;
    parts.name = name_of(path);
    const DocumentEntry* templates = find_entry(root_, "assertionTemplates");
    templates_ = templates != nullptr ? &templates->value : nullptr;
    const auto* table = std::get_if<DocumentNode::Table>(&root_.value);
    if (const DocumentEntry* entry = find_entry(root_, "defaultTest")) read_default_test(entry->value, parts);
    for (const DocumentEntry& entry : *table) read_key(entry, parts);
    if (!has_tests_) parts.tests.push_back({"", {}, {}, false, root_.line, from_.name, false});
    return assemble(std::move(parts), from_);
  }

 private:
  static std::string name_of(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    return arm_name_of(to_valid_utf8((error ? path : whole).parent_path().filename().string()));
  }

  void read_key(const DocumentEntry& entry, SuiteParts& parts) {
    const auto& [key, line, value] = entry;
    if (key == "prompts") {
      parts.prompts = import_prompts(value, from_);
    } else if (key == "providers" || key == "targets") {
      ImportedProviders read = import_providers(value, from_);
      parts.providers = std::move(read.providers);
      parts.servers = std::move(read.servers);
    } else if (key == "tests") {
      add_tests(import_tests(value, templates_, from_, keeps_lists_), parts);
    } else if (key == "scenarios") {
      add_tests(import_scenarios(value, templates_, from_, keeps_lists_), parts);
    } else if (key == "evaluateOptions" || key == "commandLineOptions") {
      read_options(entry, parts);
    } else if (key != "defaultTest" && std::ranges::find(silent_keys, key) == silent_keys.end()) {
      from_.note(line, "\"" + excerpt(key, defaults::quoted_bytes) + "\" has no counterpart: left out");
    }
  }

  void add_tests(std::vector<ImportedTest> tests, SuiteParts& parts) {
    has_tests_ = true;
    std::ranges::move(tests, std::back_inserter(parts.tests));
  }

  void read_options(const DocumentEntry& options, SuiteParts& parts) {
    const auto* table = std::get_if<DocumentNode::Table>(&options.value.value);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const auto number = number_in(options.value, entry.key);
      if (entry.key == "repeat" && number) {
        parts.repeat = number;
      } else if (entry.key == "maxConcurrency") {
        from_.note(entry.line, "\"maxConcurrency\" is said with --max-concurrent, or found: left out");
      } else {
        from_.note(entry.line, "\"" + entry.key + "\" in " + options.key + " has no counterpart: left out");
      }
    }
  }

  void read_default_test(const DocumentNode& node, SuiteParts& parts) {
    if (const std::string* name = text_in(node)) {
      const std::string file = referenced_file(*name, from_.files);
      const auto document = read_document(file, from_, node.line);
      if (document) read_default_test(*document, parts);
      return;
    }
    DocumentNode test = node;
    auto* table = std::get_if<DocumentNode::Table>(&test.value);
    if (table == nullptr) return from_.note(node.line, "\"defaultTest\" is no mapping: left out");
    for (DocumentEntry& entry : *table) {
      if (entry.key == "options") take_grader(entry.value, parts);
      if (entry.key == "threshold")
        from_.note(
            entry.line,
            "\"threshold\" of the default test would weigh the checks of each test, which has its own: "
            "left out");
    }
    std::erase_if(*table, [](const DocumentEntry& entry) { return entry.key == "threshold"; });
    auto read = import_test(test, templates_, from_, true);
    if (read.empty()) return;
    parts.default_test = std::move(read.front());
    const DocumentEntry* options = find_entry(node, "options");
    const DocumentEntry* keeps =
        options != nullptr ? find_entry(options->value, "disableVarExpansion") : nullptr;
    const auto* wanted = keeps != nullptr ? std::get_if<bool>(&keeps->value.value) : nullptr;
    keeps_lists_ = wanted != nullptr && *wanted;
  }

  /// Takes the provider that grades out of the options: it is the suite's judge.
  void take_grader(DocumentNode& options, SuiteParts& parts) const {
    auto* table = std::get_if<DocumentNode::Table>(&options.value);
    if (table == nullptr) return;
    const auto grader = std::ranges::find(*table, "provider", &DocumentEntry::key);
    if (grader == table->end()) return;
    const DocumentNode* named = &grader->value;
    if (const DocumentEntry* text = find_entry(*named, "text")) named = &text->value;
    ImportedProviders read = import_providers(*named, from_);
    if (!read.providers.empty()) parts.judge = std::move(read.providers.front());
    std::ranges::move(read.servers, std::back_inserter(parts.judge_servers));
    table->erase(grader);
  }

  const DocumentNode& root_;
  const ImportFile& from_;
  const DocumentNode* templates_ = nullptr;
  bool keeps_lists_ = false;
  bool has_tests_ = false;
};

/// Of a table of tests alone, which has neither prompts nor providers.
tl::expected<DocumentNode, DocumentError> configuration_of(const std::string& table) {
  DocumentNode tests{"file://" + table, 1, {}};
  return DocumentNode{DocumentNode::Table{{"tests", 1, std::move(tests)}}, 1, {}};
}

}  // namespace

tl::expected<ImportedSuite, std::vector<Finding>> import_promptfoo(const fs::path& path,
                                                                   const std::vector<std::string>& allowed) {
  const std::string shown = path.generic_string();
  const auto fail = [&](std::uint32_t line, std::string message) {
    return tl::unexpected(std::vector<Finding>{{shown, line, std::move(message)}});
  };
  const auto text = read_file(path, defaults::max_suite_bytes);
  if (!text) return fail(0, "the configuration " + text.error().message);
  const auto files = SuiteFolder::open(path.parent_path(), allowed);
  if (!files) return fail(0, files.error().message);
  const std::string name = path.filename().generic_string();
  auto root = extension_of(name) == ".csv" ? configuration_of(name) : parse_foreign(shown, *text);
  if (!root) return fail(root.error().line, root.error().message);
  ImportNotes notes;
  const ImportFile from{**files, notes, name};
  const DocumentEntry* config = find_entry(*root, "config");
  if (config != nullptr && find_entry(*root, "results") != nullptr) {
    from.note(config->line, "of an evaluation's output the configuration is taken over, and not its answers");
    root = DocumentNode(config->value);
  }
  if (!std::holds_alternative<DocumentNode::Table>(root->value))
    return fail(root->line,
                "a configuration must be a mapping with \"prompts\", \"providers\" and \"tests\"");
  const auto is_known = [&](std::string_view key) { return find_entry(*root, key) != nullptr; };
  if (is_known("suite")) return fail(root->line, "is a suite already: `sluice run` takes it as it is");
  if (!is_known("prompts") && !is_known("providers") && !is_known("targets") && !is_known("tests"))
    return fail(
        root->line,
        "is no configuration of promptfoo: it has neither \"prompts\" nor \"providers\" nor \"tests\"");
  ImportedSuite suite = ConfigImporter(*root, from).read(path);
  suite.notes = notes.take();
  return suite;
}

std::string settings_of(const std::vector<ImportedServer>& servers) {
  std::string text;
  for (const ImportedServer& server : servers) {
    text += (text.empty() ? "" : "\n") + ("[providers." + server.name + "]\n") +
            "kind = \"openai\"\nbase_url = " + json_string(server.base_url) +
            "\napi_key_env = " + json_string(server.api_key_env) + "\n";
  }
  return text;
}

}  // namespace sluice
