#include "coordinator/suite/fixture.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/model/claim.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/expected_claims.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {

double read_weight(TableReader& reader) {
  const auto weight = reader.number("weight");
  if (weight && !(*weight > 0.0 && *weight <= defaults::max_weight)) {
    reader.add_wrong("weight", "must be more than 0 and at most " + shortest(defaults::max_weight) +
                                   ", not " + shortest(*weight));
  }
  return weight.value_or(1.0);
}

std::optional<std::string> read_known_failure(TableReader& reader) {
  const DocumentEntry* entry = reader.entry("known_failure");
  if (entry == nullptr) return std::nullopt;
  if (const bool* const is_known = std::get_if<bool>(&entry->value.value)) {
    return *is_known ? std::optional(std::string()) : std::nullopt;
  }
  const auto* const why = std::get_if<std::string>(&entry->value.value);
  // YAML 1.2 has these as texts, and who writes them means a boolean: `known_failure: no` would excuse.
  const std::string word = why != nullptr ? to_lower(one_line(*why)) : "";
  constexpr std::array others{"n", "y", "none", "null"};
  if (boolean_word(word) || std::ranges::find(others, word) != others.end()) {
    reader.add_wrong("known_failure",
                     "is the text \"" + *why + "\", which says neither: write true or false");
    return std::nullopt;
  }
  if (why != nullptr && !one_line(*why).empty()) return excerpt(one_line(*why), defaults::max_message_bytes);
  reader.add_wrong("known_failure", "must be true, or a text that says why the case fails");
  return std::nullopt;
}

namespace {

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
    fixture.tags = reader.texts("tags", Need::optional, true).value_or(std::vector<std::string>());
    fixture.language = reader.text("language").value_or("");
    fixture.created = reader.date("created").value_or("");
    fixture.known_failure = read_known_failure(reader);
    reader.finish();
  }

  void read_input(const TomlNode& table) {
    TableReader reader(table, "[input]", file_, result_.findings);
    result_.fixture.content = reader.text("content", Need::required).value_or("");
    const std::uint64_t line = reader.count("first_line").value_or(1);
    if (line < 1 || line > defaults::max_file_lines) {
      reader.add_wrong("first_line", "must be from 1 to " + std::to_string(defaults::max_file_lines) +
                                         ", not " + std::to_string(line));
    } else {
      result_.fixture.first_line = static_cast<std::uint32_t>(line);
    }
    reader.finish();
  }

  void read_expected(const TomlNode& table) {
    TableReader reader(table, "[expected]", file_, result_.findings);
    const DocumentContext context{file_, Notation::toml, result_.findings};
    auto required = read_claims(reader, "must_contain", context);
    auto forbidden = read_claims(reader, "must_not_contain", context);
    reader.finish();
    check_contradictions(required, forbidden, context);
    result_.fixture.must_contain = without_places(std::move(required));
    result_.fixture.must_not_contain = without_places(std::move(forbidden));
  }

  void read_scoring(const TomlNode& table) {
    TableReader reader(table, "[scoring]", file_, result_.findings);
    result_.fixture.weight = read_weight(reader);
    if (const auto confidence = reader.number_in("min_confidence", 0.0, 1.0)) {
      result_.fixture.min_confidence = *confidence;
    }
    reader.finish();
  }

  const std::string& file_;
  ParsedFixture& result_;
};

}  // namespace

ParsedFixture parse_fixture(std::string_view toml, const std::string& file) {
  ParsedFixture result;
  result.fixture.source = file;
  const bool has_carriage_returns = toml.find('\r') != std::string_view::npos;
  const std::string unix_text = has_carriage_returns ? with_unix_line_ends(std::string(toml)) : std::string();
  const auto document = parse_toml(has_carriage_returns ? std::string_view(unix_text) : toml);
  if (!document) {
    result.findings.push_back({file, document.error().line, document.error().message});
    return result;
  }
  FixtureReader(file, result).read(*document);
  return result;
}

}  // namespace sluice
