#include "coordinator/suite/prompts/prompt.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct Placeholder {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view name;
};

bool is_placeholder_character(char c) {
  return is_ascii_letter(c) || c == '_';
}

/// The next `{{name}}` from a position on; braces around anything but a name are plain text.
std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) {
  for (auto begin = text.find("{{", from); begin != std::string_view::npos;
       begin = text.find("{{", begin + 1)) {
    std::size_t end = begin + 2;
    while (end < text.size() && is_placeholder_character(text[end])) ++end;
    if (end > begin + 2 && text.substr(end, 2) == "}}") {
      return Placeholder{begin, end + 2, text.substr(begin + 2, end - begin - 2)};
    }
  }
  return std::nullopt;
}

using Replacement = std::pair<std::string_view, std::string_view>;

std::string expand(std::string_view text, std::initializer_list<Replacement> replacements) {
  std::string result;
  std::size_t done = 0;
  for (auto found = next_placeholder(text, 0); found; found = next_placeholder(text, found->end)) {
    result += text.substr(done, found->begin - done);
    for (const auto& [name, value] : replacements) {
      if (name == found->name) result += value;
    }
    done = found->end;
  }
  result += text.substr(done);
  return result;
}

bool has_placeholder(std::string_view text, std::string_view name) {
  for (auto found = next_placeholder(text, 0); found; found = next_placeholder(text, found->end)) {
    if (found->name == name) return true;
  }
  return false;
}

void check_placeholders(TableReader& reader, std::string_view key, std::string_view text,
                        std::span<const std::string_view> known) {
  for (auto found = next_placeholder(text, 0); found; found = next_placeholder(text, found->end)) {
    if (std::find(known.begin(), known.end(), found->name) != known.end()) continue;
    reader.add_wrong(key, "has the unknown placeholder {{" + std::string(found->name) +
                              "}}; known there: {{" + std::string(known[0]) + "}}" +
                              (known.size() > 1 ? " and {{" + std::string(known[1]) + "}}" : std::string()));
  }
}

std::string render_vocabulary(const Ontology& ontology) {
  std::string text;
  for (const OntologySubject& subject : ontology.subjects()) {
    if (!text.empty()) text += '\n';
    text += "- " + subject.path;
    if (!subject.description.empty()) text += ": " + subject.description;
    for (const OntologyPredicate& predicate : subject.predicates) {
      text += "\n  - " + predicate.name + " (" + std::string(to_string(predicate.type)) + ")";
      if (!predicate.description.empty()) text += ": " + predicate.description;
    }
  }
  return text;
}

}  // namespace

tl::expected<PromptTemplate, std::vector<Finding>> parse_prompt(std::string_view toml,
                                                                const std::string& origin) {
  const auto document = parse_toml(toml);
  if (!document) {
    return tl::unexpected(std::vector{Finding{origin, document.error().line, document.error().message}});
  }
  static constexpr std::array<std::string_view, 1> in_system{"ontology"};
  static constexpr std::array<std::string_view, 2> in_user{"language", "content"};
  std::vector<Finding> findings;
  PromptTemplate prompt;
  TableReader reader(*document, "", origin, findings);
  prompt.version = reader.word("version", Need::required).value_or("");
  prompt.system = reader.text("system", Need::required).value_or("");
  check_placeholders(reader, "system", prompt.system, in_system);
  if (auto user = reader.text("user", Need::required)) {
    prompt.user = std::move(*user);
    check_placeholders(reader, "user", prompt.user, in_user);
    if (!has_placeholder(prompt.user, "content")) {
      reader.add_wrong("user", "must contain {{content}}, where the code to analyse goes");
    }
  }
  reader.finish();
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  prompt.hash = FieldHasher().field(prompt.version).field(prompt.system).field(prompt.user).finish();
  return prompt;
}

std::string render_system(const PromptTemplate& prompt, const Ontology& ontology) {
  const std::string vocabulary = render_vocabulary(ontology);
  return expand(prompt.system, {{"ontology", vocabulary}});
}

std::string render_user(const PromptTemplate& prompt, const Case& one) {
  return expand(prompt.user, {{"language", one.language}, {"content", one.content}});
}

}  // namespace sluice
