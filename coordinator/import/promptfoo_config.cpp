#include "coordinator/import/promptfoo_config.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/import/foreign_environment.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/suite_assembly.hpp"
#include "coordinator/import/test_table.hpp"
#include "coordinator/suite/file_glob.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Keys that say nothing about what is asked and judged, or are read elsewhere.
constexpr std::array<std::string_view, 5> silent_keys{"$schema", "description", "assertionTemplates",
                                                      "writeLatestResults", "env"};
/// Options that are said to be left out, and change no request and no verdict.
constexpr std::array<std::string_view, 17> idle_options{"delay",
                                                        "showProgressBar",
                                                        "progressBar",
                                                        "verbose",
                                                        "silent",
                                                        "interactiveProviders",
                                                        "description",
                                                        "output",
                                                        "table",
                                                        "tableCellMaxLength",
                                                        "share",
                                                        "noShare",
                                                        "write",
                                                        "watch",
                                                        "tags",
                                                        "generateSuggestions",
                                                        "suggestionsCount"};

class ConfigImporter {
 public:
  ConfigImporter(const DocumentNode& root, const ImportFile& from) : root_(root), from_(from) {}

  ImportedSuite read(const fs::path& path) {
    SuiteParts parts;
    parts.name = name_of(path);
    const DocumentEntry* templates = find_entry(root_, "assertionTemplates");
    defaults_.templates = {templates != nullptr ? &templates->value : nullptr, from_.name};
    if (const DocumentEntry* entry = find_entry(root_, "defaultTest"))
      read_default_test(entry->value, parts, from_);
    for (const DocumentEntry& entry : std::get<DocumentNode::Table>(root_.value)) read_key(entry, parts);
    if (!has_tests_) add_tests(import_test({DocumentNode::Table{}, root_.line, {}}, defaults_, from_), parts);
    ImportedSuite imported = assemble(std::move(parts), from_);
    if (const std::string* description = text_in(root_, "description")) imported.description = *description;
    return imported;
  }

 private:
  static std::string name_of(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    return arm_name_of(to_valid_utf8((error ? path : whole).parent_path().filename().string()));
  }

  void read_key(const DocumentEntry& entry, SuiteParts& parts) {
    const auto& [key, line, value, place] = entry;
    if (key == "prompts") {
      parts.prompts = import_prompts(value, from_);
      parts.has_prompts = true;
    } else if (key == "providers" || key == "targets") {
      ImportedProviders read = import_providers(value, from_);
      parts.providers = std::move(read.providers);
      parts.servers = std::move(read.servers);
    } else if (key == "tests") {
      add_tests(import_tests(value, defaults_, from_), parts);
    } else if (key == "scenarios") {
      add_tests(import_scenarios(value, defaults_, from_), parts);
    } else if (key == "evaluateOptions" || key == "commandLineOptions") {
      read_options(entry, parts);
    } else if (key == "derivedMetrics") {
      from_.note(line,
                 "\"derivedMetrics\" are formulas over scores with a name, which a suite does not compute: "
                 "make them of the columns of `--report csv=FILE`: left out");
    } else if (key != "defaultTest" && std::ranges::find(silent_keys, key) == silent_keys.end()) {
      const bool is_idle = key != "extensions" && key != "nunjucksFilters";
      from_.lose(is_idle ? Loss::none : Loss::change, line,
                 "\"" + excerpt(key, defaults::quoted_bytes) + "\" has no counterpart: left out");
    }
  }

  void add_tests(std::vector<ImportedTest> tests, SuiteParts& parts) {
    has_tests_ = true;
    std::ranges::move(tests, std::back_inserter(parts.tests));
  }

  void read_options(const DocumentEntry& options, SuiteParts& parts) {
    const auto* table = mapping_in(options, from_);
    if (table == nullptr) return;
    for (const DocumentEntry& entry : *table) {
      const auto number = number_in(options.value, entry.key);
      const auto* boolean = std::get_if<bool>(&entry.value.value);
      if (entry.key == "repeat" && number) {
        parts.repeat = number;
      } else if (entry.key == "timeoutMs" && number && *number > 0) {
        parts.timeout_seconds = *number / 1000;
      } else if (entry.key == "cache" && boolean != nullptr) {
        if (!*boolean) from_.note(entry.line, "\"cache: false\" is said with --no-cache: left out");
      } else if (entry.key == "maxConcurrency") {
        from_.note(entry.line, "\"maxConcurrency\" is said with --max-concurrent, or found: left out");
      } else {
        const bool is_idle = std::ranges::find(idle_options, entry.key) != idle_options.end();
        from_.lose(is_idle ? Loss::none : Loss::change, entry.line,
                   "\"" + entry.key + "\" in " + options.key + " has no counterpart: left out");
      }
    }
  }

  void read_default_test(const DocumentNode& node, SuiteParts& parts, const ImportFile& from) {
    if (const std::string* name = text_in(node)) {
      const std::string file = referenced_file(*name, from.files);
      if (!may_follow(file, from, node.line, Loss::check)) return;
      const auto document = read_document(file, from, node.line, Loss::check);
      if (document) read_default_test(*document, parts, from.with(file));
      return;
    }
    DocumentNode test = node;
    auto* table = std::get_if<DocumentNode::Table>(&test.value);
    if (table == nullptr) return from.change(node.line, "\"defaultTest\" is no mapping: left out");
    const DocumentEntry* options = find_entry(node, "options");
    const DocumentEntry* keeps =
        options != nullptr ? find_entry(options->value, "disableVarExpansion") : nullptr;
    const auto* wanted = keeps != nullptr ? std::get_if<bool>(&keeps->value.value) : nullptr;
    defaults_.keeps_lists = wanted != nullptr && *wanted;
    for (DocumentEntry& entry : *table) {
      if (entry.key == "options") take_grader(entry.value, parts, from);
      if (entry.key == "vars" && !defaults_.keeps_lists) take_lists(entry.value, from);
      if (entry.key == "threshold")
        from.change(
            entry.line,
            "\"threshold\" of the default test is left out: a test without a \"threshold\" of its own "
            "passes if all of its checks pass, and there if a share of them does");
    }
    std::erase_if(*table, [](const DocumentEntry& entry) { return entry.key == "threshold"; });
    auto read = import_test(test, {defaults_.templates, true, {}, {}}, from);
    if (!read.empty()) parts.default_test = std::move(read.front());
  }

  /// Takes variables of several values out: each test without its own becomes several.
  void take_lists(DocumentNode& vars, const ImportFile& from) {
    auto* table = std::get_if<DocumentNode::Table>(&vars.value);
    if (table == nullptr) return;
    const auto has_one_value = [](const DocumentEntry& entry) {
      const std::string* text = text_in(entry.value);
      const bool is_glob = text != nullptr && text->starts_with("file://") && is_file_glob(*text);
      return !is_glob && !std::holds_alternative<DocumentNode::Array>(entry.value.value);
    };
    const auto lists = std::stable_partition(table->begin(), table->end(), has_one_value);
    std::move(lists, table->end(), std::back_inserter(defaults_.lists));
    table->erase(lists, table->end());
    defaults_.lists_file = from.name;
  }

  /// Takes the provider that grades out of the options: it is the suite's judge, or several by what they do.
  static void take_grader(DocumentNode& options, SuiteParts& parts, const ImportFile& from) {
    auto* table = std::get_if<DocumentNode::Table>(&options.value);
    if (table == nullptr) return;
    const auto grader = std::ranges::find(*table, "provider", &DocumentEntry::key);
    if (grader == table->end()) return;
    const DocumentNode& named = grader->value;
    const auto* kinds = std::get_if<DocumentNode::Table>(&named.value);
    if (kinds == nullptr ||
        (find_entry(named, "text") == nullptr && find_entry(named, "embedding") == nullptr)) {
      parts.judge = first_of(import_providers(named, from));
    } else {
      for (const DocumentEntry& kind : *kinds) {
        if (kind.key == "text") {
          parts.judge = first_of(import_providers(kind.value, from));
        } else if (kind.key == "embedding") {
          parts.embedder = first_of(import_embedder(kind.value, from));
          parts.names_embedder = true;
        } else {
          from.note(kind.line,
                    "\"" + kind.key + "\" among the providers that grade has no counterpart: left out");
        }
      }
    }
    table->erase(grader);
  }

  static std::optional<Grader> first_of(ImportedProviders read) {
    if (read.providers.empty()) return std::nullopt;
    return Grader{std::move(read.providers.front()), std::move(read.servers)};
  }

  const DocumentNode& root_;
  const ImportFile& from_;
  TestDefaults defaults_;
  bool has_tests_ = false;
};

/// Of a table of tests alone, which has neither prompts nor providers.
tl::expected<DocumentNode, DocumentError> configuration_of(std::string_view text, const ImportFile& from) {
  if (invalid_utf8_at(text)) return tl::unexpected(DocumentError{1, "is not valid UTF-8"});
  DocumentNode tests = tests_of_table(with_unix_line_ends(std::string(text)), from);
  return DocumentNode{DocumentNode::Table{{"tests", 1, std::move(tests)}}, 1, {}};
}

/// As ImportFile::folder.
std::string way_between(const fs::path& target, const fs::path& folder) {
  const auto whole = [](const fs::path& path) {
    std::error_code error;
    return fs::weakly_canonical(path.empty() ? "." : path, error);
  };
  const std::string way = whole(folder).lexically_relative(whole(target)).generic_string();
  return way.empty() || way == "." ? "" : way + "/";
}

}  // namespace

tl::expected<ImportedSuite, std::vector<Finding>> import_promptfoo(const fs::path& path,
                                                                   const std::vector<std::string>& allowed,
                                                                   const std::optional<fs::path>& target) {
  const std::string shown = path.generic_string();
  const auto fail = [&](std::uint32_t line, std::string message) {
    return tl::unexpected(std::vector<Finding>{{shown, line, std::move(message)}});
  };
  if (is_code_file(shown))
    return fail(0,
                "is a program, which sluice does not run: import the file that `promptfoo eval --output "
                "out.json` writes in its place");
  const auto text = refuse_utf16(read_file(path, defaults::max_suite_bytes));
  if (!text) return fail(0, "the configuration " + text.error().message);
  const auto files = SuiteFolder::open(path.parent_path(), allowed);
  if (!files) return fail(0, files.error().message);
  const std::string name = path.filename().generic_string();
  ImportNotes notes;
  ForeignEnvironment environment;
  const ImportFile from{**files, notes, name,
                        way_between(target.value_or(path.parent_path()), path.parent_path()), &environment};
  auto root =
      extension_of(name) == ".csv" ? configuration_of(*text, from) : parse_foreign(shown, *text, &from);
  if (!root) return fail(root.error().line, root.error().message);
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
  if (const DocumentEntry* env = find_entry(*root, "env")) environment = read_environment(env->value, from);
  fill_environment(*root, from);
  ImportedSuite suite = ConfigImporter(*root, from).read(path);
  note_environment(from);
  if (auto errors = notes.take_errors(); !errors.empty()) return tl::unexpected(std::move(errors));
  suite.losses = notes.losses();
  suite.notes = notes.take();
  return suite;
}

}  // namespace sluice
