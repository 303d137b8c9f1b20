#include "coordinator/suite/fixture.hpp"

#include "common/table_reader.hpp"
#include "common/text.hpp"
#include "common/toml_document.hpp"

#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

constexpr double max_weight = 1000.0;

/// An expected claim with the line of its table.
struct PlacedClaim {
  ExpectedClaim claim;
  std::uint32_t line = 0;
};

std::optional<ClaimValue> read_value(TableReader& reader) {
  const TomlEntry* entry = reader.entry("value", Need::required, "a boolean, a number or a string");
  if (entry == nullptr) return std::nullopt;
  if (const auto* boolean = std::get_if<bool>(&entry->value.value)) return ClaimValue(*boolean);
  if (const auto* text = std::get_if<std::string>(&entry->value.value)) return ClaimValue(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&entry->value.value)) {
    return ClaimValue(static_cast<double>(*integer));
  }
  if (const auto* number = std::get_if<double>(&entry->value.value)) {
    if (std::isfinite(*number)) return ClaimValue(*number);
    reader.add_wrong("value", "must be a finite number");
    return std::nullopt;
  }
  reader.add_wrong("value",
                   "must be a boolean, a number or a string, not " + std::string(type_name(entry->value)));
  return std::nullopt;
}

class FixtureReader {
 public:
  FixtureReader(const std::string& file, ParsedFixture& result) : file_(file), result_(result) {}

  void read(const TomlNode& document) {
    TableReader top(document, "", file_, result_.findings);
    if (const TomlNode* table = top.table("metadata", Need::required)) read_metadata(*table);
    if (const TomlNode* table = top.table("input", Need::required)) read_input(*table);
    if (const TomlNode* table = top.table("expected")) read_expected(*table);
    if (const TomlNode* table = top.table("scoring")) read_scoring(*table);
    top.finish();
    sort_findings(result_.findings);
  }

 private:
  void read_metadata(const TomlNode& table) {
    Case& fixture = result_.fixture;
    TableReader reader(table, "[metadata]", file_, result_.findings);
    fixture.id = reader.word("id", Need::required).value_or("");
    result_.id_line = reader.line_of("id");
    fixture.name = reader.text("name").value_or(fixture.id);
    fixture.category = reader.word("category", Need::required).value_or("");
    fixture.language = reader.text("language").value_or("");
    fixture.created = reader.date("created").value_or("");
    reader.finish();
  }

  void read_input(const TomlNode& table) {
    TableReader reader(table, "[input]", file_, result_.findings);
    result_.fixture.content = reader.text("content", Need::required).value_or("");
    reader.finish();
  }

  void read_expected(const TomlNode& table) {
    TableReader reader(table, "[expected]", file_, result_.findings);
    auto required = read_claims(reader, "must_contain");
    auto forbidden = read_claims(reader, "must_not_contain");
    reader.finish();
    check_contradictions(required, forbidden);
    for (auto& placed : required) result_.fixture.must_contain.push_back(std::move(placed.claim));
    for (auto& placed : forbidden) result_.fixture.must_not_contain.push_back(std::move(placed.claim));
  }

  std::vector<PlacedClaim> read_claims(TableReader& expected, std::string_view key) {
    std::vector<PlacedClaim> claims;
    const TomlNode::Array* array = expected.array(key);
    if (array == nullptr) return claims;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const TomlNode& node = (*array)[i];
      const std::string name = std::string(key) + "[" + std::to_string(i) + "]";
      if (!std::holds_alternative<TomlNode::Table>(node.value)) {
        expected.add_finding(node.line, name + " must be a table, not " + std::string(type_name(node)));
        continue;
      }
      if (auto claim = read_claim(node, name)) claims.push_back({std::move(*claim), node.line});
    }
    return claims;
  }

  std::optional<ExpectedClaim> read_claim(const TomlNode& node, const std::string& name) {
    TableReader reader(node, name, file_, result_.findings);
    auto subject = reader.word("subject", Need::required);
    auto predicate = reader.word("predicate", Need::required);
    auto value = read_value(reader);
    auto rationale = reader.text("rationale");
    reader.finish();
    if (!subject || !predicate || !value) return std::nullopt;
    return ExpectedClaim{std::move(*subject), std::move(*predicate), std::move(*value), std::move(rationale)};
  }

  /// A claim that is listed twice could never be found twice (identical claims count once), and one that is
  /// both required and forbidden can never be right.
  void check_contradictions(const std::vector<PlacedClaim>& required,
                            const std::vector<PlacedClaim>& forbidden) {
    std::unordered_map<std::string, std::uint32_t> required_lines;
    std::unordered_map<std::string, std::uint32_t> forbidden_lines;
    collect("must_contain", required, required_lines);
    collect("must_not_contain", forbidden, forbidden_lines);
    for (const PlacedClaim& placed : forbidden) {
      const auto found = required_lines.find(form_of(placed));
      if (found == required_lines.end()) continue;
      add(placed.line,
          text_of(placed) + " is both required (line " + std::to_string(found->second) + ") and forbidden");
    }
  }

  void collect(std::string_view key, const std::vector<PlacedClaim>& claims,
               std::unordered_map<std::string, std::uint32_t>& lines) {
    for (const PlacedClaim& placed : claims) {
      const auto [first, inserted] = lines.emplace(form_of(placed), placed.line);
      if (inserted) continue;
      add(placed.line, text_of(placed) + " is listed twice in \"" + std::string(key) + "\" (first in line " +
                           std::to_string(first->second) + ")");
    }
  }

  void read_scoring(const TomlNode& table) {
    TableReader reader(table, "[scoring]", file_, result_.findings);
    if (const auto weight = reader.number("weight")) {
      result_.fixture.weight = *weight;
      if (!(*weight > 0.0 && *weight <= max_weight)) {
        reader.add_wrong("weight", "must be more than 0 and at most " + shortest(max_weight) + ", not " +
                                       shortest(*weight));
      }
    }
    if (const auto confidence = reader.number_in("min_confidence", 0.0, 1.0)) {
      result_.fixture.min_confidence = *confidence;
    }
    reader.finish();
  }

  static std::string form_of(const PlacedClaim& placed) {
    return canonical_form(placed.claim.subject, placed.claim.predicate, placed.claim.value);
  }
  static std::string text_of(const PlacedClaim& placed) {
    return excerpt(to_text(placed.claim.subject, placed.claim.predicate, placed.claim.value), 200);
  }
  void add(std::uint32_t line, std::string message) {
    result_.findings.push_back({file_, line, std::move(message)});
  }

  const std::string& file_;
  ParsedFixture& result_;
};

}  // namespace

ParsedFixture parse_fixture(std::string_view toml, const std::string& file) {
  ParsedFixture result;
  result.fixture.source = file;
  const auto document = parse_toml(toml);
  if (!document) {
    result.findings.push_back({file, document.error().line, document.error().message});
    return result;
  }
  FixtureReader(file, result).read(*document);
  return result;
}

}  // namespace sluice
