#include "common/model/ontology.hpp"

#include "common/defaults.hpp"
#include "common/documents/finding.hpp"
#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<ValueType, 3> value_types = {ValueType::boolean, ValueType::number, ValueType::text};

/// A name without what people vary: lower case, `/` between segments ('.', ':' and '\' part segments too), no
/// other separators.
std::string loose_form(std::string_view name) {
  std::string form;
  form.reserve(name.size());
  for (const char c : name) {
    if (c == '/' || c == '.' || c == ':' || c == '\\') {
      if (!form.empty() && form.back() != '/') form += '/';
    } else if (c >= 'A' && c <= 'Z') {
      form += static_cast<char>(c - 'A' + 'a');
    } else if (c != '_' && c != '-' && c != ' ' && c != '\t') {
      form += c;
    }
  }
  if (!form.empty() && form.back() == '/') form.pop_back();
  return form;
}

std::string without_slashes(std::string form) {
  std::erase(form, '/');
  return form;
}

/// True if the two differ by one letter too many, missing, wrong, or swapped with its neighbour. A digit
/// makes another name (sha1, sha2), and so may the first letter of a segment (symmetric, asymmetric).
bool is_one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  if (at == 0 || a[at - 1] == '/') return false;
  const auto is_fixed = [](std::string_view text, std::size_t i) {
    return i < text.size() && (text[i] == '/' || (text[i] >= '0' && text[i] <= '9'));
  };
  if (is_fixed(b, at)) return false;
  if (a.size() < b.size()) return a.substr(at) == b.substr(at + 1);
  if (at == a.size() || is_fixed(a, at)) return false;
  if (a.substr(at + 1) == b.substr(at + 1)) return true;
  const bool swapped = at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at];
  return swapped && !is_fixed(a, at + 1) && a.substr(at + 2) == b.substr(at + 2);
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// Names of things by position; a name of two things leads to neither.
class NameMap {
 public:
  void add(std::string name, std::size_t owner) {
    const auto [entry, added] = owners_.try_emplace(std::move(name), owner);
    if (!added && entry->second != owner) entry->second = ambiguous;
  }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = owners_.find(name);
    if (found == owners_.end() || found->second == ambiguous) return std::nullopt;
    return found->second;
  }

 private:
  static constexpr std::size_t ambiguous = ~std::size_t{0};
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> owners_;
};

struct LooseName {
  std::string form;
  std::size_t owner = 0;
};

/// The only owner of a name that is one slip away from `form`.
std::optional<std::size_t> find_slip(const std::vector<LooseName>& names, std::string_view form,
                                     std::size_t shortest) {
  if (form.size() < shortest) return std::nullopt;
  std::optional<std::size_t> found;
  for (const LooseName& name : names) {
    if (!is_one_slip_apart(form, name.form)) continue;
    if (found && *found != name.owner) return std::nullopt;
    found = name.owner;
  }
  return found;
}

ClaimValue in_type(const ClaimValue& value, ValueType type) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return value;
  if (type == ValueType::number) {
    if (const auto number = number_word(*text)) return *number + 0.0;
  }
  // "1" and "0" stay: they also agree with an answer's number.
  if (type == ValueType::boolean && !number_word(*text)) {
    if (const auto boolean = boolean_word(*text)) return *boolean;
  }
  return value;
}

// --- Reading the file

struct Reading {
  const std::string& origin;
  std::vector<Finding>& findings;
};

std::vector<std::string> read_synonyms(TableReader& table) {
  std::vector<std::string> synonyms;
  const TomlNode::Array* array = table.array("synonyms");
  if (array == nullptr) return synonyms;
  for (const TomlNode& node : *array) {
    const auto* text = std::get_if<std::string>(&node.value);
    if (text == nullptr || loose_form(*text).empty()) {
      table.add_finding(node.line, "a synonym must be a string that names something, not " +
                                       std::string(text == nullptr ? type_name(node) : "an empty one"));
    } else {
      synonyms.push_back(*text);
    }
  }
  return synonyms;
}

/// Refuses a name that two things bear, or one thing bears twice. Names that only differ loosely may both
/// stand at one thing.
class UniqueNames {
 public:
  void add(const std::string& name, const std::string& owner, std::uint32_t line, TableReader& table) {
    const auto [entry, added] = seen_.try_emplace(loose_form(name), Bearer{name, owner});
    if (added) return;
    if (entry->second.owner == owner && entry->second.name != name && name != owner) return;
    table.add_finding(line, "\"" + name + "\" is already a name of \"" + entry->second.owner + "\"");
  }

 private:
  struct Bearer {
    std::string name;
    std::string owner;
  };
  std::unordered_map<std::string, Bearer> seen_;
};

std::optional<ValueType> read_type(TableReader& table) {
  const auto word = table.word("type", Need::required);
  if (!word) return std::nullopt;
  for (const ValueType type : value_types) {
    if (to_string(type) == *word) return type;
  }
  table.add_wrong("type", "must be \"boolean\", \"number\" or \"text\", not \"" + *word + "\"");
  return std::nullopt;
}

void read_predicate(const TomlNode& node, const Reading& reading, UniqueNames& names,
                    OntologySubject& subject) {
  TableReader table(node, "[[subject.predicate]]", reading.origin, reading.findings);
  OntologyPredicate predicate;
  predicate.name = table.word("name", Need::required).value_or("");
  predicate.type = read_type(table).value_or(ValueType::text);
  predicate.description = table.text("description").value_or("");
  predicate.synonyms = read_synonyms(table);
  table.finish();
  if (predicate.name.empty()) return;
  names.add(predicate.name, predicate.name, table.line_of("name"), table);
  for (const std::string& synonym : predicate.synonyms) {
    names.add(synonym, predicate.name, table.line_of("synonyms"), table);
  }
  subject.predicates.push_back(std::move(predicate));
}

void read_subject(const TomlNode& node, const Reading& reading, UniqueNames& names,
                  std::vector<OntologySubject>& subjects) {
  TableReader table(node, "[[subject]]", reading.origin, reading.findings);
  OntologySubject subject;
  subject.path = table.word("path", Need::required).value_or("");
  subject.description = table.text("description").value_or("");
  subject.synonyms = read_synonyms(table);
  const TomlNode::Array* predicates = table.array("predicate", Need::required);
  table.finish();
  if (!subject.path.empty()) {
    names.add(subject.path, subject.path, table.line_of("path"), table);
    for (const std::string& synonym : subject.synonyms) {
      names.add(synonym, subject.path, table.line_of("synonyms"), table);
    }
  }
  UniqueNames predicate_names;
  if (predicates != nullptr) {
    for (const TomlNode& predicate : *predicates)
      read_predicate(predicate, reading, predicate_names, subject);
  }
  subjects.push_back(std::move(subject));
}

}  // namespace

std::string_view to_string(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "boolean";
    case ValueType::number:
      return "number";
    case ValueType::text:
      return "text";
  }
  return "";
}

/// The ways to find a subject and, in it, a predicate; from the surest to the least sure.
struct Ontology::Index {
  NameMap exact;                                   ///< Paths as they are written.
  NameMap loose;                                   ///< Loose forms of paths and synonyms.
  NameMap partial;                                 ///< Without slashes, and paths without leading segments.
  std::vector<LooseName> names;                    ///< What `loose` holds, to look for slips.
  std::vector<std::vector<LooseName>> predicates;  ///< By subject: loose forms of names and synonyms.

  explicit Index(const std::vector<OntologySubject>& subjects) {
    for (std::size_t i = 0; i < subjects.size(); ++i) add_subject(subjects[i], i);
  }

  void add_subject(const OntologySubject& subject, std::size_t position) {
    exact.add(subject.path, position);
    add_name(subject.path, position);
    for (const std::string& synonym : subject.synonyms) add_name(synonym, position);
    std::string suffix = loose_form(subject.path);
    for (std::size_t slash = suffix.find('/'); slash != std::string::npos; slash = suffix.find('/')) {
      suffix.erase(0, slash + 1);
      partial.add(suffix, position);
    }
    std::vector<LooseName>& own = predicates.emplace_back();
    for (std::size_t i = 0; i < subject.predicates.size(); ++i) {
      own.push_back({loose_form(subject.predicates[i].name), i});
      for (const std::string& synonym : subject.predicates[i].synonyms)
        own.push_back({loose_form(synonym), i});
    }
  }

  void add_name(const std::string& name, std::size_t position) {
    std::string form = loose_form(name);
    loose.add(form, position);
    partial.add(without_slashes(form), position);
    names.push_back({std::move(form), position});
  }

  std::optional<std::size_t> find_near_subject(std::string_view words) const {
    const std::string form = loose_form(words);
    if (form.empty()) return std::nullopt;
    // Leading segments may be a file or a scheme; at least two segments have to be left.
    for (std::string_view rest = form; !rest.empty();) {
      if (const auto found = loose.find(rest)) return found;
      const std::size_t slash = rest.find('/');
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
      if (rest.find('/') == std::string_view::npos) break;
    }
    if (const auto found = partial.find(form)) return found;
    if (const auto found = partial.find(without_slashes(form))) return found;
    return find_slip(names, form, defaults::shortest_slipped_subject);
  }

  std::optional<std::size_t> find_near_predicate(std::size_t subject, std::string_view words) const {
    const std::string form = loose_form(words);
    for (const LooseName& name : predicates[subject]) {
      if (name.form == form) return name.owner;
    }
    return find_slip(predicates[subject], form, defaults::shortest_slipped_predicate);
  }
};

Result<Ontology> Ontology::parse(std::string_view toml, std::string_view origin) {
  auto ontology = read(toml, std::string(origin));
  if (!ontology) return fail(Reason::settings_invalid, join_findings(ontology.error()));
  return std::move(*ontology);
}

tl::expected<Ontology, std::vector<Finding>> Ontology::read(std::string_view toml, const std::string& file) {
  std::vector<Finding> findings;
  const auto document = parse_toml(toml);
  if (!document) {
    return tl::unexpected(std::vector{Finding{file, document.error().line, document.error().message}});
  }
  Ontology ontology;
  UniqueNames names;
  TableReader table(*document, "", file, findings);
  ontology.version_ = table.word("version", Need::required).value_or("");
  if (const TomlNode::Array* subjects = table.array("subject", Need::required)) {
    for (const TomlNode& node : *subjects) read_subject(node, {file, findings}, names, ontology.subjects_);
  }
  table.finish();
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  ontology.index_ = std::make_shared<const Index>(ontology.subjects_);
  return ontology;
}

std::optional<Ontology::Place> Ontology::find(std::string_view subject_words,
                                              std::string_view predicate_words) const {
  if (index_ == nullptr) return std::nullopt;
  const auto exact = index_->exact.find(subject_words);
  const auto position = exact ? exact : index_->find_near_subject(subject_words);
  if (!position) return std::nullopt;
  const OntologySubject& subject = subjects_[*position];
  const auto own = std::ranges::find(subject.predicates, predicate_words, &OntologyPredicate::name);
  if (own != subject.predicates.end()) return Place{subject, *own, exact.has_value()};
  const auto near = index_->find_near_predicate(*position, predicate_words);
  if (!near) return std::nullopt;
  return Place{subject, subject.predicates[*near], false};
}

FinalClaim Ontology::resolve(const ParsedClaim& claim) const {
  FinalClaim result{claim.subject, claim.predicate, claim.value, claim.confidence, claim.line, false, false};
  const auto place = find(claim.subject, claim.predicate);
  if (!place) return result;
  result.concept_path = place->subject.path;
  result.predicate = place->predicate.name;
  result.matched_ontology = true;
  result.fuzzy_matched = !place->exact;
  return result;
}

ExpectedClaim Ontology::canonical(const ExpectedClaim& expected) const {
  ExpectedClaim result = expected;
  const auto place = find(expected.subject, expected.predicate);
  if (!place) return result;
  result.subject = place->subject.path;
  result.predicate = place->predicate.name;
  result.value = in_type(expected.value, place->predicate.type);
  return result;
}

std::optional<ValueType> Ontology::type_of(std::string_view path, std::string_view predicate) const {
  const auto place = find(path, predicate);
  return place && place->exact ? std::optional(place->predicate.type) : std::nullopt;
}

}  // namespace sluice
