#include "coordinator/corpus/trigger_rules.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include <re2/re2.h>

namespace sluice {
namespace {

using Texts = std::vector<std::string>;

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_letter_or_digit(char c) {
  return is_ascii_letter(c) || is_digit(c);
}

std::string in_quotes(std::string_view text) {
  return '"' + excerpt(text, defaults::quoted_bytes) + '"';
}

std::string escaped(std::string_view text) {
  return re2::RE2::QuoteMeta({text.data(), text.size()});
}

std::string alternatives(const Texts& texts, const auto& as_pattern) {
  std::string pattern;
  for (const std::string& text : texts) pattern += (pattern.empty() ? "" : "|") + as_pattern(text);
  return "(?:" + pattern + ")";
}

/// `*` and `?` stand for any text, and for any character.
std::string glob_pattern(const std::string& glob) {
  std::string pattern;
  for (const char c : to_lower(glob)) {
    if (c == '*') pattern += ".*";
    if (c == '?') pattern += '.';
    if (c != '*' && c != '?') pattern += escaped({&c, 1});
  }
  return pattern;
}

/// The text where no letter or digit goes on beside it.
std::string whole_word(const std::string& text) {
  const std::string before = is_letter_or_digit(text.front()) ? R"(\b)" : "";
  const std::string after = is_letter_or_digit(text.back()) ? R"(\b)" : "";
  return before + escaped(text) + after;
}

Texts together(Texts some, const Texts& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

/// The lists of [any] or of a language, as written.
struct Lists {
  Texts names;
  Texts import_lines;
  Texts imports;
  Texts words;
  std::optional<double> entropy;
};

Texts texts_of(TableReader& reader, std::string_view key) {
  auto found = reader.texts(key).value_or(Texts());
  if (std::ranges::any_of(found, [](const std::string& one) { return one.empty(); }))
    reader.add_wrong(key, "must hold no empty text, which would stand everywhere");
  std::erase(found, "");
  return found;
}

Lists lists_of(TableReader& reader) {
  Lists read;
  read.names = texts_of(reader, "names");
  read.import_lines = texts_of(reader, "import_lines");
  read.imports = texts_of(reader, "imports");
  read.words = texts_of(reader, "words");
  read.entropy = reader.number_in("entropy", 0.0, 8.0);
  if (!read.imports.empty() && read.import_lines.empty())
    reader.add_wrong("imports", "needs \"import_lines\": how a line begins that imports");
  return read;
}

std::optional<Pattern> compiled(TableReader& reader, std::string_view key, const Texts& texts,
                                const std::string& pattern) {
  if (texts.empty()) return std::nullopt;
  auto made = Pattern::compile(pattern);
  if (made) return std::move(*made);
  reader.add_wrong(key, "is too much for one pattern: " + made.error().message);
  return std::nullopt;
}

LanguageRules rules_of(TableReader& reader, std::string name, const Lists& own, const Lists& any) {
  LanguageRules made;
  made.name = std::move(name);
  const Texts names = together(any.names, own.names);
  made.names = compiled(reader, "names", names, "(?s)^" + alternatives(names, glob_pattern) + "$");
  made.imports = compiled(reader, "imports", own.imports,
                          "(?im)^[ \\t]*" + alternatives(own.import_lines, escaped) + "[^\\n]*" +
                              alternatives(own.imports, whole_word));
  const Texts words = together(any.words, own.words);
  made.words = compiled(reader, "words", words, "(?i)" + alternatives(words, escaped));
  made.entropy = own.entropy.value_or(any.entropy.value_or(8.0));
  return made;
}

/// Whether a run of the characters that keys are made of looks random.
bool has_random_run(std::string_view text, double entropy) {
  const auto is_of_run = [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/' || c == '='; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_run(text[end])) ++end;
    const std::string_view run = text.substr(at, end - at);
    at = end + 1;
    if (run.size() < defaults::shortest_random_run) continue;
    // Paths and long names have no digits among their letters.
    if (std::ranges::any_of(run, is_digit) && !std::ranges::all_of(run, is_digit) &&
        entropy_of(run) > entropy)
      return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Trigger trigger) {
  switch (trigger) {
    case Trigger::name:
      return "name";
    case Trigger::import:
      return "import";
    case Trigger::word:
      return "word";
    case Trigger::entropy:
      break;
  }
  return "random text";
}

int Triggers::count() const {
  return std::popcount(bits_);
}

tl::expected<TriggerRules, std::vector<Finding>> TriggerRules::parse(std::string_view toml,
                                                                     const std::string& origin) {
  const auto document = parse_toml(toml);
  if (!document)
    return tl::unexpected(std::vector{Finding{origin, document.error().line, document.error().message}});
  std::vector<Finding> findings;
  TriggerRules made;
  Lists any;
  TableReader top(*document, "", origin, findings);
  top.word("version", Need::required);
  made.excluded_folders_ = texts_of(top, "excluded_folders");
  const Texts excluded = texts_of(top, "excluded_names");
  made.excluded_names_ =
      compiled(top, "excluded_names", excluded, "(?s)^" + alternatives(excluded, glob_pattern) + "$");
  if (const TomlNode* table = top.table("any")) {
    TableReader reader(*table, "[any]", origin, findings);
    any = lists_of(reader);
    reader.finish();
  }
  const TomlNode::Array* languages = top.array("language", Need::required);
  top.finish();
  for (std::size_t i = 0; languages != nullptr && i < languages->size(); ++i) {
    const TomlNode& node = (*languages)[i];
    if (!std::holds_alternative<TomlNode::Table>(node.value)) {
      findings.push_back({origin, node.line, "each [[language]] must be a table"});
      continue;
    }
    TableReader reader(node, "[[language]]", origin, findings);
    auto name = reader.word("name", Need::required);
    const Texts extensions = texts_of(reader, "extensions");
    const Texts names = texts_of(reader, "file_names");
    const Lists own = lists_of(reader);
    if (extensions.empty() && names.empty())
      reader.add_finding(node.line, "a [[language]] needs \"extensions\" or \"file_names\"");
    for (const std::string& one : extensions) {
      if (one.find('.') != std::string::npos)
        reader.add_wrong("extensions", "must be what follows a name's last dot, not " + in_quotes(one));
    }
    const auto take = [&](std::string_view key, const Texts& texts, auto& languages_by_text) {
      for (const std::string& one : texts) {
        if (!languages_by_text.try_emplace(to_lower(one), i).second)
          reader.add_wrong(key,
                           "hold " + in_quotes(one) + " again: a file is of one language, so leave it out");
      }
    };
    take("extensions", extensions, made.by_extension_);
    take("file_names", names, made.by_name_);
    made.languages_.push_back(rules_of(reader, name.value_or(""), own, any));
    reader.finish();
  }
  if (findings.empty()) return made;
  sort_findings(findings);
  return tl::unexpected(std::move(findings));
}

const LanguageRules* TriggerRules::language_of(std::string_view path) const {
  const std::string name = to_lower(name_in(path));
  if (excluded_names_ && excluded_names_->find(name)) return nullptr;
  if (const auto known = by_name_.find(name); known != by_name_.end()) return &languages_[known->second];
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const auto known = by_extension_.find(std::string_view(name).substr(dot + 1));
  return known == by_extension_.end() ? nullptr : &languages_[known->second];
}

Triggers triggers_of(const LanguageRules& rules, std::string_view path, std::string_view text) {
  Triggers found;
  if (rules.names && rules.names->find(to_lower(name_in(path)))) found.add(Trigger::name);
  if (rules.imports && rules.imports->find(text)) found.add(Trigger::import);
  if (rules.words && rules.words->find(text)) found.add(Trigger::word);
  if (has_random_run(text, rules.entropy)) found.add(Trigger::entropy);
  return found;
}

double entropy_of(std::string_view text) {
  std::array<std::size_t, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0.0;
  for (const std::size_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

}  // namespace sluice
