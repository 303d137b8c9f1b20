#include "coordinator/corpus/fixture_file.hpp"

#include "common/documents/toml_document.hpp"
#include "common/hash.hpp"
#include "common/text/text.hpp"
#include "coordinator/corpus/findings.hpp"
#include "coordinator/suite/documents/toml_string.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"

#include <algorithm>
#include <set>
#include <variant>

namespace sluice {
namespace {

constexpr std::string_view seal = "# Made by `sluice generate-corpus`; as made: sha256:";
constexpr std::string_view was_reviewed = "Auto-generated, accepted in review";

std::string toml_value(const ClaimValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  if (const auto* number = std::get_if<double>(&value)) return toml_number(*number);
  return std::get<bool>(value) ? "true" : "false";
}

std::string claims_list(const std::vector<ExpectedClaim>& claims) {
  if (claims.empty()) return "[]";
  std::string list = "[\n";
  for (const ExpectedClaim& claim : claims) {
    list += "  { subject = " + toml_string(claim.subject) + ", predicate = " + toml_string(claim.predicate) +
            ", value = " + toml_value(claim.value);
    if (claim.rationale) list += ", rationale = " + toml_string(*claim.rationale);
    list += " },\n";
  }
  return list + "]";
}

/// The lines with a rationale that asks for a review.
std::set<std::uint32_t> lines_to_mark(const TomlNode& document) {
  std::set<std::uint32_t> lines;
  const TomlEntry* expected = find_entry(document, "expected");
  if (expected == nullptr) return lines;
  for (const char* const key : {"must_contain", "must_not_contain"}) {
    const TomlEntry* list = find_entry(expected->value, key);
    const auto* claims = list == nullptr ? nullptr : std::get_if<TomlNode::Array>(&list->value.value);
    if (claims == nullptr) continue;
    for (const TomlNode& claim : *claims) {
      const TomlEntry* rationale = find_entry(claim, "rationale");
      const auto* text = rationale == nullptr ? nullptr : std::get_if<std::string>(&rationale->value.value);
      if (text != nullptr && *text == asks_for_review) lines.insert(rationale->value.line);
    }
  }
  return lines;
}

/// The line with the text in quotes replaced where it stands.
std::string marked(std::string line) {
  for (const char quote : {'"', '\''}) {
    const std::string before = quote + std::string(asks_for_review) + quote;
    const std::string after = quote + std::string(was_reviewed) + quote;
    for (std::size_t at = 0; (at = line.find(before, at)) != std::string::npos; at += after.size())
      line.replace(at, before.size(), after);
  }
  return line;
}

bool is_same_but_for_rationales(const Case& a, const Case& b) {
  const auto same = [](const std::vector<ExpectedClaim>& some, const std::vector<ExpectedClaim>& others) {
    return std::ranges::equal(some, others, [](const ExpectedClaim& one, const ExpectedClaim& other) {
      return one.subject == other.subject && one.predicate == other.predicate && one.value == other.value;
    });
  };
  return a.id == b.id && a.category == b.category && a.content == b.content &&
         same(a.must_contain, b.must_contain) && same(a.must_not_contain, b.must_not_contain);
}

}  // namespace

std::string sealed_fixture(const Case& fixture) {
  const std::string body =
      "[metadata]\nid = " + toml_string(fixture.id) + "\nname = " + toml_string(fixture.name) +
      "\ncategory = " + toml_string(fixture.category) + "\nlanguage = " + toml_string(fixture.language) +
      "\ncreated = " + toml_string(fixture.created) + "\n\n[input]\n" +
      (fixture.first_line > 1 ? "first_line = " + std::to_string(fixture.first_line) + "\n" : "") +
      "content = " + toml_long_string(fixture.content) +
      "\n\n[expected]\nmust_contain = " + claims_list(fixture.must_contain) +
      "\nmust_not_contain = " + claims_list(fixture.must_not_contain) +
      "\n\n[scoring]\nweight = " + shortest(fixture.weight) +
      "\nmin_confidence = " + shortest(fixture.min_confidence) + "\n";
  return std::string(seal) + to_hex(sha256(body)) + "\n" + body;
}

bool is_sealed(std::string_view file) {
  if (!file.starts_with(seal)) return false;
  const std::size_t end = file.find('\n');
  return end != std::string_view::npos &&
         file.substr(seal.size(), end - seal.size()) == to_hex(sha256(file.substr(end + 1)));
}

bool awaits_review(const Case& fixture) {
  const auto asks = [](const ExpectedClaim& claim) { return claim.rationale == asks_for_review; };
  return std::ranges::any_of(fixture.must_contain, asks) ||
         std::ranges::any_of(fixture.must_not_contain, asks);
}

Result<std::string> accepted_fixture(std::string_view file, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return fail(Reason::fixture_invalid, name + " " + why + ": change its rationales by hand");
  };
  const auto document = parse_toml(file);
  if (!document) return refuse("is " + document.error().message);
  const auto lines = lines_to_mark(*document);
  std::string text;
  std::uint32_t number = 0;
  for (std::string_view rest = file; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::size_t size = end == std::string_view::npos ? rest.size() : end + 1;
    const std::string_view line = rest.substr(0, size);
    rest.remove_prefix(size);
    ++number;
    if (number == 1 && line.starts_with(seal)) continue;
    text += lines.contains(number) ? marked(std::string(line)) : std::string(line);
  }
  const ParsedFixture before = parse_fixture(file, name);
  const ParsedFixture after = parse_fixture(text, name);
  if (!after.findings.empty() || awaits_review(after.fixture) ||
      !is_same_but_for_rationales(before.fixture, after.fixture))
    return refuse("cannot be marked as reviewed");
  return text;
}

}  // namespace sluice
