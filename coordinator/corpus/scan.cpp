#include "coordinator/corpus/scan.hpp"

#include "common/hash.hpp"
#include "common/model/token_bound.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/suite_builder.hpp"

#include <algorithm>
#include <set>
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
    // A token stands for two bytes at most, so that a longer file is beyond its budget.
    auto read =
        tree_.read(path, std::min<std::uint64_t>(2 * budget_.tokens_per_file, defaults::max_fixture_bytes));
    if (!read) return void(++out.unreadable);
    if (!*read) return leave_out_long(path);
    if (!is_text(**read)) return void(++out.not_text);
    const std::string text = with_unix_line_ends(std::move(**read));
    ScannedFile file{path, language->name, "", token_bound(text), triggers_of(*language, path, text)};
    if (file.triggers.empty()) return void(++out.without_trigger);
    if (file.tokens > budget_.tokens_per_file) return leave_out_long(path);
    if (!texts_.insert(FieldHasher().field(file.language).field(text).finish()).second)
      return void(++out.same_text);
    // Its text is read again if it is asked about: a tree may hold more than the memory.
    scan_.files.push_back(std::move(file));
  }

  Scan finish() {
    std::ranges::sort(scan_.files, is_worth_more);
    std::erase_if(scan_.files, [this](ScannedFile& file) {
      const bool fits = scan_.tokens + file.tokens <= budget_.tokens_per_scan;
      if (!fits) ++scan_.left_out.beyond_scan;
      if (!fits || !read_again(file)) return true;
      scan_.tokens += file.tokens;
      return false;
    });
    std::ranges::sort(scan_.files, {}, &ScannedFile::path);
    return std::move(scan_);
  }

 private:
  bool read_again(ScannedFile& file) {
    auto read = tree_.read(file.path, defaults::max_fixture_bytes);
    if (read && *read && is_text(**read)) {
      file.text = with_unix_line_ends(std::move(**read));
      // Somebody may be at work on it.
      if (token_bound(file.text) <= file.tokens) return true;
    }
    ++scan_.left_out.unreadable;
    return false;
  }

  void leave_out_long(const std::string& path) {
    ++scan_.left_out.too_long;
    if (scan_.left_out.longest.size() < defaults::listed_files) scan_.left_out.longest.push_back(path);
  }

  const TreeReader& tree_;
  const TriggerRules& rules_;
  ScanBudget budget_;
  Scan scan_;
  std::set<Digest> texts_;
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
