#include "coordinator/suite/test_files/yaml_suite.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/documents/yaml_document.hpp"
#include "coordinator/suite/examples/examples_key.hpp"
#include "coordinator/suite/file_glob.hpp"
#include "coordinator/suite/fixtures/fixture_folder.hpp"
#include "coordinator/suite/prompts/arm_reader.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/prompts/prompt_files.hpp"
#include "coordinator/suite/prompts/suite_prompts.hpp"
#include "coordinator/suite/suite_folder.hpp"
#include "coordinator/suite/test_files/csv_tests.hpp"
#include "coordinator/suite/test_files/default_test.hpp"
#include "coordinator/suite/test_files/json_lines_file.hpp"
#include "coordinator/suite/test_files/pass_rate_reader.hpp"
#include "coordinator/suite/test_files/suite_settings.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// A configuration of promptfoo shares some keys with a suite, and would be a finding in almost each line.
bool is_promptfoo_config(const DocumentNode& root) {
  const auto has = [&](std::string_view key) { return find_entry(root, key) != nullptr; };
  if (has("suite")) return false;
  if (has("defaultTest")) return true;
  const DocumentEntry* tests = find_entry(root, "tests");
  const auto* list = tests != nullptr ? std::get_if<DocumentNode::Array>(&tests->value.value) : nullptr;
  if (list == nullptr || !(has("prompts") || has("providers"))) return false;
  return std::ranges::any_of(*list,
                             [](const DocumentNode& test) { return find_entry(test, "assert") != nullptr; });
}

/// What a misspelt "prompts" holds, as the list that was meant; nothing if there is none.
std::optional<DocumentEntry> misspelt_prompts(const DocumentNode& root) {
  constexpr std::array<std::string_view, 1> meant{"prompts"};
  for (const DocumentEntry& entry : std::get<DocumentNode::Table>(root.value)) {
    if (!nearest(entry.key, meant)) continue;
    DocumentEntry prompts = entry;
    if (!std::holds_alternative<DocumentNode::Array>(entry.value.value))
      prompts.value = {DocumentNode::Array{entry.value}, entry.line, {}};
    return prompts;
  }
  return std::nullopt;
}

/// What each test finds in the default test is said once. The findings are in order.
std::vector<Finding> without_repeated(std::vector<Finding> findings) {
  std::vector<Finding> kept;
  std::set<std::string> of_line;
  for (Finding& finding : findings) {
    if (!kept.empty() && (kept.back().line != finding.line || kept.back().file != finding.file))
      of_line.clear();
    if (of_line.insert(finding.message).second) kept.push_back(std::move(finding));
  }
  return kept;
}

class YamlSuiteReader {
 public:
  YamlSuiteReader(const fs::path& path, const std::vector<std::string>& allowed,
                  std::shared_ptr<const SuiteCopy> copy)
      : path_(path),
        file_(path.generic_string()),
        allowed_(allowed),
        copy_(std::move(copy)),
        copier_(copy_ ? nullptr : std::make_shared<SuiteCopier>()),
        context_{file_, Notation::yaml, findings_} {}

  tl::expected<LoadedSuite, std::vector<Finding>> read() {
    const auto text = open_suite();
    if (!text) return tl::unexpected(std::vector<Finding>{{file_, 0, text.error().message}});
    const ParsedYaml document = parse_yaml(*text);
    for (const DocumentError& error : document.errors) context_.add(error.line, error.message);
    rubrics_->add_shipped(findings_);
    if (document.root) read_document(*document.root);
    check_settings();
    builder_.find_duplicates(findings_);
    builder_.find_wrong_labels(findings_);
    builder_.find_too_many_scores(findings_);
    if (findings_.empty()) check_rated_categories(settings_.pass_rates, builder_.cases(), context_);
    if (!findings_.empty()) {
      sort_findings(findings_);
      return tl::unexpected(without_repeated(std::move(findings_)));
    }
    LoadedSuite loaded;
    if (examples_.suite) settings_.demands.examples = fingerprint_of(*examples_.suite);
    loaded.suite = builder_.finish(std::move(name_), settings_.thresholding, settings_.demands);
    loaded.suite.examples = std::move(examples_.suite);
    loaded.suite.manifest = std::move(manifest_);
    std::ranges::sort(input_files_);
    input_files_.erase(std::unique(input_files_.begin(), input_files_.end()), input_files_.end());
    loaded.suite.input_files = std::move(input_files_);
    loaded.suite.fixture_folders = std::move(fixture_folders_);
    loaded.suite.copier = copier_;
    loaded.suite.rubrics = rubrics_->used();
    loaded.suite.other_formats = checker_.other_formats();
    loaded.suite.prompts = std::move(prompt_variants_);
    loaded.suite.arms = std::move(arms_);
    for (const auto& [category, rate] : settings_.pass_rates)
      loaded.suite.min_pass_rates[category] = rate.least;
    loaded.settings = std::move(settings_.values);
    return loaded;
  }

 private:
  /// Makes files_, and returns the suite's own text. The file itself may be a link to anywhere: the user
  /// named it.
  Result<std::string> open_suite() {
    if (copy_) {
      files_ = SuiteFolder::of(copy_, folder());
      // What lies in their place is not to be written over either.
      for (const auto& [path, text] : copy_->files) {
        if (const auto now = identity_of(fs::path(path))) input_files_.push_back(*now);
      }
      return files_->read(path_.filename(), defaults::max_suite_bytes);
    }
    auto files = SuiteFolder::open(folder(), allowed_, SuiteFolder::Opening::by_kernel, copier_);
    if (!files) return fail(files.error());
    files_ = std::move(*files);
    if (const auto suite = identity_of(path_)) input_files_.push_back(*suite);
    auto text = refuse_utf16(read_file(path_, defaults::max_suite_bytes));
    if (!text) {
      return fail(text.error().reason, "the suite " + text.error().message + where_more_fits(text.error()));
    }
    copier_->begin(whole_path(path_));
    copier_->add(whole_path(path_), *text);
    return text;
  }

  void read_document(const DocumentNode& root) {
    if (std::holds_alternative<DocumentNull>(root.value)) {
      context_.add(
          root.line,
          "the suite is empty: it is a mapping with \"suite\" and \"tests\" (`sluice init` writes one)");
      return;
    }
    if (!std::holds_alternative<DocumentNode::Table>(root.value)) {
      context_.add(root.line, "a suite must be a mapping with \"suite\" and \"tests\", not " +
                                  std::string(type_name(root, Notation::yaml)));
      return;
    }
    if (is_promptfoo_config(root)) {
      context_.add(root.line,
                   "this is a configuration of promptfoo: `sluice import " + file_ + "` makes a suite of it");
      return;
    }
    TableReader reader = context_.reader(root, "");
    name_ = reader.word("suite", Need::required).value_or("");
    settings_ = read_suite_settings(reader, context_);
    const auto rubrics = reader.texts("rubrics");
    if (rubrics) read_rubrics(reader, *rubrics);
    read_prompts_and_arms(reader, root);
    if (const DocumentEntry* examples = reader.entry("examples"))
      examples_ = read_suite_examples(*examples, context_, *files_, input_files_);
    if (const DocumentEntry* entry = reader.entry("default_test")) read_default_test(*entry);
    const DocumentEntry* written = reader.entry("tests");
    const auto* file = written != nullptr ? std::get_if<std::string>(&written->value.value) : nullptr;
    if (file != nullptr)
      reader.add_wrong("tests",
                       "must be a list of tests: the name of a file of them stands as \"tests_file\"");
    const DocumentNode::Array* tests = file == nullptr ? reader.array("tests") : nullptr;
    const auto fixtures = reader.texts("fixtures");
    const auto tests_files = reader.texts("tests_file");
    const auto has = [&](std::string_view key) { return reader.entry(key) != nullptr; };
    if (!has("tests") && !has("fixtures") && !has("tests_file")) {
      reader.add_missing({"tests", "tests_file", "fixtures"},
                         "the suite has no tests: expected \"tests\", \"tests_file\" or \"fixtures\"");
    }
    reader.finish([](std::string_view key) { return place_of_setting(key, true); });
    if (tests != nullptr && tests->empty()) reader.add_wrong("tests", "must not be empty");
    if (tests != nullptr) read_tests(*tests);
    if (tests_files) read_tests_files(reader, *tests_files);
    if (fixtures) read_fixtures(reader, *fixtures);
    if (!findings_.empty()) return;
    if (builder_.cases().size() == 0) {
      reader.add_wrong("tests_file", "names no test: each line of such a file holds one, and no line does");
    } else if (!prompts_->empty() && !builder_.takes_prompts()) {
      reader.add_wrong("prompts", "have no effect: they are for tests without a prompt of their own");
    }
  }

  /// The prompts are templates of every test, so they are read before these.
  void read_prompts_and_arms(TableReader& reader, const DocumentNode& root) {
    const DocumentEntry* prompts = reader.entry("prompts");
    // The key is a finding already; that the tests have no prompt would only follow from it.
    const auto misspelt = prompts == nullptr ? misspelt_prompts(root) : std::nullopt;
    if (misspelt) prompts = &*misspelt;
    if (prompts != nullptr)
      prompts_->read(with_prompt_files(*prompts, *files_), context_, reader_of_prompts(), &input_files_);
    prompt_variants_ = prompts_->variants();
    const DocumentEntry* arms = reader.entry("arms");
    const DocumentEntry* providers = reader.entry("providers");
    if (arms != nullptr) arms_ = read_arms(*arms, prompt_variants_, context_);
    if (providers != nullptr && arms != nullptr) {
      reader.add_wrong("providers", "cannot stand beside \"arms\", which say the same with names: keep one");
    } else if (providers != nullptr) {
      arms_ = read_providers(*providers, prompt_variants_, context_);
    }
    const std::vector<Arm> crossed = arms_of(prompt_variants_, arms_);
    if (crossed.size() <= defaults::max_arms) return;
    const auto checked = check_arms(crossed);
    const char* const named_by = arms != nullptr ? "arms" : providers != nullptr ? "providers" : "prompts";
    reader.add_finding(reader.line_of(named_by), checked.error().message);
  }

  void read_default_test(const DocumentEntry& entry) {
    const TestSource source = source_of(file_, path_.filename().generic_string(), Notation::yaml);
    defaults_ = std::make_shared<DefaultTest>(DefaultTest::read(entry, source, context_));
  }

  /// By themselves: what flags, environment and settings file say changes nothing about what a value may be.
  void check_settings() {
    SettingSources alone;
    alone.suite = settings_.values;
    const auto merged = merge_settings(alone);
    if (!merged) findings_.insert(findings_.end(), merged.error().begin(), merged.error().end());
  }

  ReadNamedFile reader_of_files() const {
    return [files = files_](const std::string& name, std::vector<FileIdentity>* opened) {
      return files->read(name, defaults::max_fixture_bytes, opened);
    };
  }

  /// Of a glob that stands for no files it says why.
  ReadNamedFile reader_of_prompts() const {
    return [this](const std::string& name, std::vector<FileIdentity>* opened) -> Result<std::string> {
      const auto found = is_file_glob(name) ? find_files(*files_, name) : Result<std::vector<std::string>>();
      return found ? reader_of_files()(name, opened) : fail(found.error());
    };
  }

  TestSource source_of(std::string file, std::string source, Notation notation) {
    return {std::move(file),    std::move(source), notation,      settings_.thresholding,
            reader_of_files(),  &checker_,         &input_files_, rubrics_,
            examples_.of_tests, prompts_,          defaults_};
  }

  fs::path folder() const { return path_.parent_path(); }

  void read_tests(const DocumentNode::Array& tests) {
    const TestSource source = source_of(file_, path_.filename().generic_string(), Notation::yaml);
    const std::uint32_t number = builder_.add_file(file_);
    for (const DocumentNode& node : tests) {
      ParsedTest parsed = parse_test(node, source);
      std::move(parsed.findings.begin(), parsed.findings.end(), std::back_inserter(findings_));
      builder_.add(std::move(parsed.test), {number, parsed.id_line});
    }
  }

  /// Names that can be used, each with what it stands for; else what is wrong with it becomes a finding.
  template <class Use>
  void for_each_name(TableReader& reader, std::string_view key, const std::vector<std::string>& names,
                     const Use& use) {
    for (const std::string& name : names) {
      if (name.empty()) {
        reader.add_wrong(key, "must not be empty");
      } else if (const Result<void> used = use(name); !used) {
        reader.add_wrong(
            key, "names \"" + excerpt(name, defaults::quoted_bytes) + "\", which " + used.error().message);
      }
    }
  }

  void read_rubrics(TableReader& reader, const std::vector<std::string>& names) {
    for_each_name(reader, "rubrics", names, [this](const std::string& name) -> Result<void> {
      const auto path = files_->find_folder(name);
      if (!path) return fail(path.error());
      rubrics_->add_folder(*path, *files_, input_files_, findings_);
      return {};
    });
  }

  void read_tests_files(TableReader& reader, const std::vector<std::string>& names) {
    for_each_name(reader, "tests_file", names, [&](const std::string& name) -> Result<void> {
      if (!is_file_glob(name)) return read_tests_file(name);
      const auto found = find_files(*files_, name);
      if (!found) return fail(found.error());
      for (const std::string& one : *found) {
        if (const auto used = read_tests_file(one); !used)
          reader.add_wrong("tests_file", names_file(one) + used.error().message);
      }
      return {};
    });
  }

  Result<void> read_tests_file(const std::string& name) {
    const std::string path = (folder() / name).lexically_normal().generic_string();
    const std::string relative = fs::path(name).lexically_normal().generic_string();
    TestSource source = source_of(path, relative, Notation::json);
    source.is_named_by_suite = true;
    if (fs::path(name).extension() == ".csv") return read_csv(name, source);
    auto file = files_->open_file(name);
    if (!file) return fail(file.error());
    if (const auto identity = identity_of(*file)) input_files_.push_back(*identity);
    // Its lines are read again as they are asked for: for the copy alone it is read whole.
    if (copier_ && !files_->read(name, defaults::max_copied_suite_bytes)) copier_->give_up();
    index_json_lines(std::move(*file), source, builder_, findings_);
    return {};
  }

  /// Of a file that is too large what may be larger; else empty.
  static std::string where_more_fits(const Error& error) {
    if (error.reason != Reason::file_too_large) return {};
    return "; a \"tests_file\" in JSON Lines may be of any size";
  }

  Result<void> read_csv(const std::string& name, TestSource source) {
    const auto text = files_->read(name, defaults::max_suite_bytes, &input_files_);
    if (!text) return fail(text.error().reason, text.error().message + where_more_fits(text.error()));
    source.notation = Notation::yaml;
    source.may_leave_variables = true;
    add_csv_tests(*text, source, builder_, findings_);
    return {};
  }

  void read_fixtures(TableReader& reader, const std::vector<std::string>& names) {
    for_each_name(reader, "fixtures", names, [&](const std::string& name) -> Result<void> {
      const auto path = files_->find_folder(name);
      if (!path) return fail(path.error());
      fixture_folders_.push_back(path->generic_string());
      auto manifest = add_fixture_folder(*path, *files_, builder_, findings_);
      // The aggregates of several folders are not those of any one of them.
      if (names.size() == 1) manifest_ = std::move(manifest);
      return {};
    });
  }

  const fs::path& path_;
  std::string file_;
  const std::vector<std::string>& allowed_;
  std::shared_ptr<const SuiteCopy> copy_;  ///< Null: the files on the disk are read.
  std::shared_ptr<SuiteCopier> copier_;    ///< Null where there is a copy.
  std::shared_ptr<const SuiteFolder> files_;
  std::vector<Finding> findings_;
  DocumentContext context_;
  CheckCompiler checker_;
  std::shared_ptr<SuiteRubrics> rubrics_ = std::make_shared<SuiteRubrics>();
  std::shared_ptr<SuitePrompts> prompts_ = std::make_shared<SuitePrompts>();
  std::vector<PromptVariant> prompt_variants_;
  std::vector<Arm> arms_;
  std::shared_ptr<const DefaultTest> defaults_ = std::make_shared<DefaultTest>();
  ReadExamples examples_;
  SuiteBuilder builder_;
  std::string name_;
  ReadSettings settings_;  ///< What they say holds for every test.
  std::optional<Manifest> manifest_;
  std::vector<std::string> fixture_folders_;
  std::vector<FileIdentity> input_files_;  ///< One more than once where many tests name it.
};

}  // namespace

tl::expected<LoadedSuite, std::vector<Finding>> load_yaml_suite(const fs::path& path,
                                                                const std::vector<std::string>& allowed,
                                                                std::shared_ptr<const SuiteCopy> copy) {
  return YamlSuiteReader(path, allowed, std::move(copy)).read();
}

}  // namespace sluice
