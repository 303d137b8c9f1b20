#include "coordinator/corpus/scan.hpp"

#include "common/defaults.hpp"
#include "common/model/token_bound.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/suite_builder.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// An id is a word of one line.
bool is_plain_name(std::string_view path) {
  return !invalid_utf8_at(path) && one_line(path) == path;
}

bool is_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && !invalid_utf8_at(text);
}

/// Most kinds of triggers first.
bool is_worth_more(const ScannedFile& a, const ScannedFile& b) {
  const int more = a.triggers.count() - b.triggers.count();
  return more != 0 ? more > 0 : a.path < b.path;
}

class Scanner {
 public:
  Scanner(const TreeReader& tree, const TriggerRules& rules, const ScanBudget& budget)
      : tree_(tree), rules_(rules), budget_(budget) {}

  void add(const std::string& path) {
    LeftOut& out = scan_.left_out;
    if (!is_plain_name(path)) return void(++out.not_text);
    const LanguageRules* language = rules_.language_of(path);
    if (language == nullptr) return void(++out.other_languages);
    // A token stands for two bytes at most, so that this file is beyond its budget.
    const std::size_t most =
        std::min<std::uint64_t>(2 * budget_.tokens_per_file, defaults::max_fixture_bytes);
    auto read = tree_.read(path, most);
    if (!read) return void(++out.unreadable);
    if (!*read) return leave_out_long(path);
    if (!is_text(**read)) return void(++out.not_text);
    ScannedFile file{path, language->name, with_unix_line_ends(std::move(**read)), 0, {}};
    file.triggers = triggers_of(*language, path, file.text);
    if (file.triggers.empty()) return void(++out.without_trigger);
    file.tokens = token_bound(file.text);
    if (file.tokens > budget_.tokens_per_file) return leave_out_long(path);
    scan_.files.push_back(std::move(file));
  }

  Scan finish() {
    std::ranges::sort(scan_.files, is_worth_more);
    std::erase_if(scan_.files, [this](const ScannedFile& file) {
      const bool fits = scan_.tokens + file.tokens <= budget_.tokens_per_scan;
      if (fits) scan_.tokens += file.tokens;
      if (!fits) ++scan_.left_out.beyond_scan;
      return !fits;
    });
    std::ranges::sort(scan_.files, {}, &ScannedFile::path);
    return std::move(scan_);
  }

 private:
  void leave_out_long(const std::string& path) {
    ++scan_.left_out.too_long;
    if (scan_.left_out.longest.size() < defaults::listed_files) scan_.left_out.longest.push_back(path);
  }

  const TreeReader& tree_;
  const TriggerRules& rules_;
  ScanBudget budget_;
  Scan scan_;
};

}  // namespace

Scan scan_tree(const std::vector<std::string>& paths, const TreeReader& tree, const TriggerRules& rules,
               const ScanBudget& budget) {
  Scanner scanner(tree, rules, budget);
  for (const std::string& path : paths) scanner.add(path);
  return scanner.finish();
}

Suite suite_of(const Scan& scan, std::string name) {
  SuiteBuilder builder;
  Expectation read;
  read.what.metric = MetricId::claims_forbidden;  // Nothing is.
  for (const ScannedFile& file : scan.files) {
    Case asked;
    asked.id = file.path;
    asked.name = file.path;
    asked.category = file.language;
    asked.language = file.language;
    asked.content = file.text;
    asked.expectations = {read};
    asked.source = file.path;
    builder.add(std::move(asked), {builder.add_file(file.path), 0});
  }
  return builder.finish(std::move(name), {});
}

}  // namespace sluice
