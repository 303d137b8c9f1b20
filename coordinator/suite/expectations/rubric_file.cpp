#include "coordinator/suite/expectations/rubric_file.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// Ids and versions are names of files, words of settings and parts of reports.
bool is_name(std::string_view text) {
  const auto may_begin = [](char c) { return is_ascii_letter(c) || is_digit(c); };
  const auto may_stand = [&](char c) { return may_begin(c) || c == '.' || c == '_' || c == '-'; };
  return text.size() <= defaults::max_rubric_name_bytes && may_begin(text[0]) &&
         std::ranges::all_of(text, may_stand);
}

std::string read_name(TableReader& reader, std::string_view key, const std::string& placed,
                      std::string_view place) {
  auto name = reader.word(key, Need::required);
  if (!name) return "";
  if (*name != placed) {
    reader.add_wrong(key, "must be \"" + excerpt(placed, 80) + "\", as the " + std::string(place) +
                              " is named, not \"" + excerpt(*name, 80) + "\"");
  } else if (!is_name(*name)) {
    reader.add_wrong(key, "must be at most " + std::to_string(defaults::max_rubric_name_bytes) +
                              " letters, digits, dots, dashes and underscores, and begin with a letter or "
                              "a digit");
  }
  return std::move(*name);
}

std::string in_braces(std::string_view name) {
  return "{{" + std::string(name) + "}}";
}

std::string every_placeholder() {
  std::string list;
  for (const std::string_view name : known_placeholders()) {
    list += (list.empty() ? "" : ", ") + in_braces(name);
  }
  return list;
}

void check_placeholders(TableReader& reader, const Rubric& rubric) {
  Rubric system;
  system.user = rubric.system;
  for (const std::string& name : placeholders_of(system)) {
    reader.add_wrong("system",
                     "has " + in_braces(excerpt(name, 80)) + ": placeholders stand in \"user\" alone");
  }
  if (rubric.user.empty()) return;
  const auto known = known_placeholders();
  const auto names = placeholders_of(rubric);
  for (const std::string& name : names) {
    if (std::ranges::find(known, std::string_view(name)) != known.end()) continue;
    const std::string_view bare = trimmed(name);
    if (std::ranges::find(known, bare) != known.end()) {
      reader.add_wrong("user", "has " + in_braces(excerpt(name, 80)) +
                                   ": a placeholder is written without blanks, " + in_braces(bare));
      continue;
    }
    reader.add_wrong("user", "has the unknown placeholder " + in_braces(excerpt(name, 80)) + "; there are " +
                                 every_placeholder() + did_you_mean(name, known));
  }
  const MetricInfo* metric = find_metric(rubric.id);
  const bool is_of_context = metric != nullptr && judges_context(metric->id);
  const std::string_view judged = is_of_context ? "context" : "answer";
  if (std::ranges::find(names, judged) == names.end())
    reader.add_wrong("user", "must show " + in_braces(judged) + ", which is what the judge judges");
  if (is_of_context && std::ranges::find(names, "answer") != names.end())
    reader.add_wrong("user", "must not show {{answer}}: " + rubric.id + " judges the context alone");
}

}  // namespace

tl::expected<RubricFile, std::vector<Finding>> parse_rubric(std::string_view toml, const RubricPlace& place) {
  const std::string text = with_unix_line_ends(std::string(toml));
  const auto document = parse_toml(text);
  if (!document) {
    return tl::unexpected(std::vector{Finding{place.file, document.error().line, document.error().message}});
  }
  std::vector<Finding> findings;
  TableReader reader(*document, "", place.file, findings);
  RubricFile file;
  Rubric& rubric = file.rubric;
  rubric.id = read_name(reader, "id", place.id, "folder");
  rubric.version = read_name(reader, "version", place.version, "file");
  file.version_line = reader.line_of("version");
  reader.word("description", Need::required);
  rubric.system = reader.text("system", Need::required).value_or("");
  const auto user = reader.text("user", Need::required);
  if (user && user->empty()) reader.add_wrong("user", "must not be empty");
  rubric.user = user.value_or("");
  check_placeholders(reader, rubric);
  reader.finish();
  if (findings.empty()) return file;
  sort_findings(findings);
  return tl::unexpected(std::move(findings));
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  const auto number_at = [](std::string_view text, std::size_t& at) {
    while (at < text.size() && text[at] == '0') ++at;
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(begin, at - begin);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view left = number_at(a, i);
      const std::string_view right = number_at(b, j);
      if (left.size() != right.size()) return left.size() <=> right.size();
      if (left != right) return left <=> right;
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) <=> static_cast<unsigned char>(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  const auto rest = (a.size() - i) <=> (b.size() - j);
  // v01 and v1 are different names of the same number.
  return rest != 0 ? rest : a <=> b;
}

}  // namespace sluice
