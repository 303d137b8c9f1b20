#pragma once

#include "common/documents/finding.hpp"
#include "common/error.hpp"
#include "common/model/claim.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// The type that a predicate's value has in the ontology.
enum class ValueType : std::uint8_t { boolean, number, text };

std::string_view to_string(ValueType type);

/// A property that claims may state of a subject.
struct OntologyPredicate {
  std::string name;
  ValueType type = ValueType::text;
  std::string description;
  std::vector<std::string> synonyms;
};

/// A thing that claims are about, e.g. `tls/cert_verification`.
struct OntologySubject {
  std::string path;
  std::string description;
  std::vector<std::string> synonyms;
  std::vector<OntologyPredicate> predicates;
};

/// The vocabulary that claims are written in (config/ontology.toml). Immutable after parsing; thread-safe.
class Ontology {
 public:
  /// Reads the TOML text; `origin` names it in errors (file and line stand in the message).
  static Result<Ontology> parse(std::string_view toml, std::string_view origin);
  /// The same, with each thing that is wrong as a finding in the file `origin`.
  static tl::expected<Ontology, std::vector<Finding>> read(std::string_view toml, const std::string& origin);

  const std::string& version() const { return version_; }
  const std::vector<OntologySubject>& subjects() const { return subjects_; }

  /// The claim in the ontology's words. Exact: subject path and predicate are the ontology's own. Fuzzy: they
  /// are synonyms, differ in case, separators or leading segments, or are one slip of the hand away (a letter
  /// too many, missing, wrong or swapped with its neighbour, but not a digit and not the first letter). None:
  /// the claim keeps its own words with `matched_ontology` false; so it does when two subjects are equally
  /// near. The value is never changed. An exact hit costs well under a microsecond.
  FinalClaim resolve(const ParsedClaim& claim) const;
  /// What a fixture's expectation is taken for: subject and predicate as `resolve` has them for a claim, and
  /// the value in the predicate's type: "off" is false for a boolean, "2048" is 2048 for a number. A number
  /// for a text stays one, since nobody knows whether it was written 1 or 1.0: the matcher takes both.
  /// Unchanged outside of the ontology.
  ExpectedClaim canonical(const ExpectedClaim& expected) const;
  /// The type of a property that bears the ontology's own names; nothing if there is none.
  std::optional<ValueType> type_of(std::string_view path, std::string_view predicate) const;

 private:
  struct Index;
  struct Place {
    const OntologySubject& subject;
    const OntologyPredicate& predicate;
    bool exact = false;
  };
  std::optional<Place> find(std::string_view subject, std::string_view predicate) const;

  std::string version_;
  std::vector<OntologySubject> subjects_;
  std::shared_ptr<const Index> index_;  ///< Shared by copies; null in a default-constructed, empty ontology.
};

}  // namespace sluice
