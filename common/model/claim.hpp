#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

/// What a claim states: a boolean, a number (always finite) or a text.
using ClaimValue = std::variant<bool, double, std::string>;

/// 2^53: a double tells each whole number up to here from its neighbours. Larger ones are no claim's value.
inline constexpr std::int64_t max_exact_integer = 9'007'199'254'740'992;

/// A claim as the model wrote it, before the ontology.
struct ParsedClaim {
  std::string subject;
  std::string predicate;
  ClaimValue value;
  double confidence = 0.0;  ///< 0..1
  std::optional<std::uint32_t> line;
  friend bool operator==(const ParsedClaim&, const ParsedClaim&) = default;
};

/// A claim after the ontology. One outside the ontology keeps its own subject with `matched_ontology` false.
struct FinalClaim {
  std::string concept_path;
  std::string predicate;
  ClaimValue value;
  double confidence = 0.0;
  std::optional<std::uint32_t> line;
  bool matched_ontology = false;
  bool fuzzy_matched = false;
  friend bool operator==(const FinalClaim&, const FinalClaim&) = default;
};

/// What a fixture expects or forbids.
struct ExpectedClaim {
  std::string subject;
  std::string predicate;
  ClaimValue value;
  std::optional<std::string> rationale;  ///< Shown when the claim is missed; never crosses the wire.
  friend bool operator==(const ExpectedClaim&, const ExpectedClaim&) = default;
};

/// `true`, `1.5` (shortest form that reads back) or `"text"` with JSON escapes.
std::string to_text(const ClaimValue& value);
/// `subject/predicate = value` as reports print a claim.
std::string to_text(std::string_view subject, std::string_view predicate, const ClaimValue& value);

/// The boolean that the text is a word for (true/yes/on/enabled/1, false/no/off/disabled/0 in any case).
std::optional<bool> boolean_word(std::string_view text);
/// The number that the whole text is in decimal notation; always finite.
std::optional<double> number_word(std::string_view text);

/// The identity of a claim: subject, predicate and value; line and confidence do not count. Two claims with
/// the same canonical form are one claim.
std::string canonical_form(std::string_view subject, std::string_view predicate, const ClaimValue& value);
inline std::string canonical_form(const FinalClaim& claim) {
  return canonical_form(claim.concept_path, claim.predicate, claim.value);
}

}  // namespace sluice
