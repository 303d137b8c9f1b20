#include "coordinator/suite/examples/examples_key.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/fixtures/fixture_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view example_mapping = "{from: solved.jsonl, plugin: NAME}";

bool is_json_lines(const fs::path& path) {
  return path.extension() == ".jsonl";
}
bool is_yaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

class ExamplesReader {
 public:
  ExamplesReader(const DocumentContext& context, const SuiteFolder& files, std::vector<FileIdentity>& opened)
      : context_(context), files_(files), opened_(opened), examples_(context.findings) {}

  ReadExamples read(const DocumentEntry& entry) {
    const std::size_t before = context_.findings.size();
    line_ = entry.line;
    ReadExamples result;
    result.of_tests.are_wanted = true;
    // Beside other findings, those of tests that say `examples` would be about nothing.
    SuiteExamples suite{{}, shipped_plugin()};
    if (std::holds_alternative<DocumentNode::Table>(entry.value.value)) {
      read_table(context_.reader(entry.value, "examples"), suite, result.of_tests);
    } else {
      read_names(entry.value);
    }
    if (context_.findings.size() == before && examples_.size() == 0)
      context_.add(line_, "\"examples\" name no example: there is none in the files");
    suite.solved = examples_.finish();
    if (context_.findings.size() == before)
      result.suite = std::make_shared<const SuiteExamples>(std::move(suite));
    return result;
  }

 private:
  void read_table(TableReader reader, SuiteExamples& suite, CaseExamples& of_tests) {
    const auto from = reader.texts("from", Need::required);
    const auto plugin = reader.word("plugin");
    of_tests.task_class = reader.word("task_class").value_or("");
    of_tests.build_system = reader.word("build_system").value_or("");
    reader.finish();
    const std::uint32_t line = reader.line_of("plugin");
    line_ = reader.line_of("from");
    if (plugin) read_plugin(*plugin, line, suite);
    if (from) add_all(*from);
  }

  void read_names(const DocumentNode& node) {
    std::vector<std::string> names;
    if (const auto* name = std::get_if<std::string>(&node.value)) names.push_back(*name);
    if (const auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
      for (const DocumentNode& one : *list) {
        const auto* name = std::get_if<std::string>(&one.value);
        if (name == nullptr) {
          names.clear();
          break;
        }
        names.push_back(*name);
      }
    }
    if (names.empty()) {
      return context_.add(line_,
                          "\"examples\" must be the name of a JSON Lines file or of a folder, a list "
                          "of them, or a mapping such as " +
                              std::string(example_mapping) + ", not " +
                              std::string(type_name(node, context_.notation)));
    }
    add_all(names);
  }

  void read_plugin(const std::string& name, std::uint32_t line, SuiteExamples& suite) {
    if (name.find('/') != std::string::npos || name.starts_with('.')) {
      return context_.add(line,
                          "\"plugin\" in examples must be a plain name: NAME stands for "
                          "plugins/NAME/plugin.yaml beside the suite");
    }
    const fs::path path = fs::path("plugins") / name / "plugin.yaml";
    const auto text = files_.read(path, defaults::max_plugin_bytes, &opened_);
    if (!text) {
      return context_.add(line, "\"plugin\" in examples names \"" + excerpt(name, defaults::quoted_bytes) +
                                    "\", but " + path.generic_string() + " " + text.error().message);
    }
    auto plugin = parse_plugin(*text, name, (files_.path() / path).lexically_normal().generic_string());
    if (plugin) {
      suite.plugin = std::move(*plugin);
    } else {
      std::ranges::move(plugin.error(), std::back_inserter(context_.findings));
    }
  }

  void add_all(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (is_json_lines(name) || is_yaml(name)) {
        add_file(name, (files_.path() / name).lexically_normal());
      } else {
        add_folder(name);
      }
    }
  }

  void wrong(const std::string& name, const std::string& message) {
    context_.add(line_,
                 "\"examples\" name \"" + excerpt(name, defaults::quoted_bytes) + "\", which " + message);
  }

  void add_folder(const std::string& name) {
    const auto folder = files_.find_folder(name);
    if (!folder) {
      return wrong(name, folder.error().message + "; a file of examples ends in .jsonl, or in .yaml");
    }
    std::vector<fs::path> paths;
    const auto entries = files_.entries(*folder);
    if (!entries) return wrong(name, entries.error().message);
    for (const auto& [path, kind] : *entries) {
      if (!is_hidden(path) && (is_json_lines(path) || is_yaml(path))) paths.push_back(path);
    }
    std::ranges::sort(paths, {}, [](const fs::path& path) { return path.native(); });
    for (const fs::path& path : paths) add_file(files_.name_of(path), path);
  }

  void add_file(const fs::path& name, const fs::path& path) {
    const std::string file = path.generic_string();
    const auto text = files_.read(name, defaults::max_suite_bytes, &opened_);
    if (!text) {
      context_.findings.push_back(
          {context_.file, line_, "the examples " + file + " " + text.error().message});
    } else if (is_json_lines(path)) {
      examples_.add_json_lines(*text, file);
    } else {
      examples_.add_yaml(*text, file, path.stem().string());
    }
  }

  const DocumentContext& context_;
  const SuiteFolder& files_;
  std::vector<FileIdentity>& opened_;
  SolvedExamplesReader examples_;
  std::uint32_t line_ = 0;
};

}  // namespace

ReadExamples read_suite_examples(const DocumentEntry& examples, const DocumentContext& context,
                                 const SuiteFolder& files, std::vector<FileIdentity>& opened) {
  return ExamplesReader(context, files, opened).read(examples);
}

CaseExamples read_case_examples(const DocumentEntry& examples, const CaseExamples& of_tests,
                                const DocumentContext& context) {
  if (!of_tests.are_wanted) {
    context.add(examples.line, "\"examples\" have no effect: the suite names no examples");
    return {};
  }
  CaseExamples read = of_tests;
  if (const auto* wanted = std::get_if<bool>(&examples.value.value)) {
    read.are_wanted = *wanted;
    return *wanted ? read : CaseExamples{};
  }
  if (!std::holds_alternative<DocumentNode::Table>(examples.value.value)) {
    context.add(examples.line, "\"examples\" of a test must be false, or " +
                                   std::string(table_name(context.notation)) +
                                   " with its \"task_class\" or \"build_system\", not " +
                                   std::string(type_name(examples.value, context.notation)));
    return read;
  }
  TableReader reader = context.reader(examples.value, "examples");
  read.task_class = reader.word("task_class").value_or(read.task_class);
  read.build_system = reader.word("build_system").value_or(read.build_system);
  reader.finish();
  return read;
}

Digest fingerprint_of(const SuiteExamples& examples) {
  FieldHasher hasher;
  hasher.field(examples.plugin.text);
  for (const SolvedExample& one : examples.solved) hasher.field(one.id).field(one.input).field(one.answer);
  return hasher.finish();
}

}  // namespace sluice
