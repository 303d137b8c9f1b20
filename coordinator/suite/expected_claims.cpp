#include "coordinator/suite/expected_claims.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

/// No answer has it: of an answer it is an error.
constexpr std::string_view inexact = "is a number too large to be exact: write it as a string";

std::optional<ClaimValue> read_value(TableReader& reader, Notation notation) {
  const DocumentEntry* entry = reader.entry("value", Need::required, "a boolean, a number or a string");
  if (entry == nullptr) return std::nullopt;
  if (const auto* boolean = std::get_if<bool>(&entry->value.value)) return ClaimValue(*boolean);
  if (const auto* text = std::get_if<std::string>(&entry->value.value)) return ClaimValue(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&entry->value.value)) {
    if (*integer >= -max_exact_integer && *integer <= max_exact_integer)
      return ClaimValue(static_cast<double>(*integer));
    reader.add_wrong("value", inexact);
    return std::nullopt;
  }
  if (const auto* number = std::get_if<double>(&entry->value.value)) {
    // What has neither point nor exponent is a whole number beyond 64 bits.
    const std::string& written = entry->value.written;
    const bool is_exact = written.empty() || written.find_first_of(".eE") != std::string::npos;
    if (std::isfinite(*number) && is_exact) return ClaimValue(*number);
    reader.add_wrong("value", is_exact ? "must be a finite number" : inexact);
    return std::nullopt;
  }
  reader.add_wrong("value", "must be a boolean, a number or a string, not " +
                                std::string(type_name(entry->value, notation)));
  return std::nullopt;
}

std::optional<ExpectedClaim> read_claim(TableReader reader, Notation notation) {
  auto subject = reader.word("subject", Need::required);
  auto predicate = reader.word("predicate", Need::required);
  auto value = read_value(reader, notation);
  auto rationale = reader.text("rationale");
  reader.finish();
  if (!subject || !predicate || !value) return std::nullopt;
  return ExpectedClaim{std::move(*subject), std::move(*predicate), std::move(*value), std::move(rationale)};
}

std::string form_of(const PlacedClaim& placed) {
  return canonical_form(placed.claim.subject, placed.claim.predicate, placed.claim.value);
}

std::string text_of(const PlacedClaim& placed) {
  return excerpt(to_text(placed.claim.subject, placed.claim.predicate, placed.claim.value),
                 defaults::quoted_bytes);
}

/// The lines of the claims by their form.
std::unordered_map<std::string, std::uint32_t> collect(std::string_view key,
                                                       const std::vector<PlacedClaim>& claims,
                                                       const DocumentContext& context) {
  std::unordered_map<std::string, std::uint32_t> lines;
  for (const PlacedClaim& placed : claims) {
    const auto [first, inserted] = lines.emplace(form_of(placed), placed.line);
    if (inserted) continue;
    context.add(placed.line, text_of(placed) + " is listed twice in \"" + std::string(key) +
                                 "\" (first in line " + std::to_string(first->second) + ")");
  }
  return lines;
}

}  // namespace

std::vector<PlacedClaim> read_claims(TableReader& expected, std::string_view key,
                                     const DocumentContext& context) {
  std::vector<PlacedClaim> claims;
  const DocumentNode::Array* array = expected.array(key);
  if (array == nullptr) return claims;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const DocumentNode& node = (*array)[i];
    const std::string name = std::string(key) + "[" + std::to_string(i) + "]";
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      context.add(node.line, name + " must be " + std::string(table_name(context.notation)) + ", not " +
                                 std::string(type_name(node, context.notation)));
      continue;
    }
    auto claim = read_claim(context.reader(node, name), context.notation);
    if (claim) claims.push_back({std::move(*claim), node.line});
  }
  return claims;
}

void check_contradictions(const std::vector<PlacedClaim>& required, const std::vector<PlacedClaim>& forbidden,
                          const DocumentContext& context) {
  const auto required_lines = collect("must_contain", required, context);
  collect("must_not_contain", forbidden, context);
  for (const PlacedClaim& placed : forbidden) {
    const auto found = required_lines.find(form_of(placed));
    if (found == required_lines.end()) continue;
    context.add(placed.line, text_of(placed) + " is both required (line " + std::to_string(found->second) +
                                 ") and forbidden");
  }
}

std::vector<ExpectedClaim> without_places(std::vector<PlacedClaim> claims) {
  std::vector<ExpectedClaim> result;
  result.reserve(claims.size());
  for (PlacedClaim& placed : claims) result.push_back(std::move(placed.claim));
  return result;
}

}  // namespace sluice
