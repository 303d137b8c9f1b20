#include "coordinator/corpus/findings.hpp"

#include "common/checks/redactor.hpp"
#include "common/hash.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t id_digits = 16;  // 64 bits: no two of a million findings share them.

/// The first part of the subject, as the name of a folder that the loader does not skip.
std::string category_of(std::string_view subject) {
  std::string category;
  for (const char c : subject.substr(0, subject.find('/'))) {
    const bool may_stand = is_ascii_letter(c) || is_digit(c) || c == '-' || c == '_';
    category += may_stand ? c : '_';
  }
  return category.empty() ? "_" : category;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

std::string joined(std::span<const std::string_view> lines, LineRange range) {
  std::string text;
  for (std::size_t line = range.first; line <= range.last; ++line) text.append(lines[line - 1]) += '\n';
  return text;
}

/// The code that a fixture shows.
struct Shown {
  std::string code;
  LineRange range;  ///< Of the file's lines, as they were.
  bool masked = false;
};

/// A file with its lines, and the same as it may be written.
class ShownFile {
 public:
  ShownFile(const std::string& text, const MaskText& mask)
      : text_(text), masked_(text), lines_(lines_of(text_)) {
    if (mask) mask(masked_);
    masked_lines_ = lines_of(masked_);
  }

  std::span<const std::string_view> lines() const { return lines_; }

  Shown around(std::optional<std::size_t> line) const {
    const LineRange all{1, lines_.size()};
    const LineRange range = excerpt_around(lines_, line);
    if (range == all) return {masked_, all, masked_ != text_};
    if (masked_ == text_) return {joined(lines_, range), range};
    const auto place = range_after_change(lines_, masked_lines_, range);
    // Where lines are gone nobody knows which is which: all of it says no more than it should.
    if (!place) return {masked_, all, true};
    std::string code = joined(masked_lines_, *place);
    const bool masked = code != joined(lines_, range);
    return {std::move(code), range, masked};
  }

 private:
  const std::string& text_;
  std::string masked_;
  std::vector<std::string_view> lines_;
  std::vector<std::string_view> masked_lines_;
};

std::string place_of(const Case& asked, const FinalClaim& claim) {
  return asked.source + (claim.line ? ":" + std::to_string(*claim.line) : "");
}

/// Of each fact the surest claim, of equals the first; in the order of the answer.
std::vector<const FinalClaim*> facts_in(std::span<const FinalClaim> claims, std::uint64_t& repeated) {
  std::vector<const FinalClaim*> facts;
  std::map<std::string, std::size_t> known;
  for (const FinalClaim& claim : claims) {
    const auto [entry, is_new] = known.try_emplace(canonical_form(claim), facts.size());
    if (is_new) {
      facts.push_back(&claim);
      continue;
    }
    ++repeated;
    const FinalClaim*& best = facts[entry->second];
    if (claim.confidence > best->confidence) best = &claim;
  }
  return facts;
}

/// The fact, and the others that its code shows, which are no false positives.
std::vector<const FinalClaim*> shown_with(const FinalClaim& fact, std::span<const FinalClaim* const> facts,
                                          LineRange shown, std::size_t lines) {
  std::vector<const FinalClaim*> all{&fact};
  for (const FinalClaim* other : facts) {
    const bool is_shown = other->line ? shown.holds(*other->line) : shown == LineRange{1, lines};
    if (other != &fact && is_shown) all.push_back(other);
  }
  return all;
}

std::string id_of(const Case& fixture, const FinalClaim& fact) {
  FieldHasher hasher;
  hasher.field(fixture.language).field(fixture.content).field(canonical_form(fact));
  return "auto-" + to_hex(hasher.finish()).substr(0, id_digits);
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

LineRange excerpt_around(std::span<const std::string_view> lines, std::optional<std::size_t> line) {
  if (!line) return {1, lines.size()};
  std::size_t bytes = 0;
  for (const std::string_view one : lines) bytes += one.size() + 1;
  if (lines.size() <= defaults::whole_file_lines && bytes <= defaults::max_excerpt_bytes)
    return {1, lines.size()};
  const std::size_t around = defaults::lines_around_claim;
  LineRange range{*line > around ? *line - around : 1, std::min(*line + around, lines.size())};
  const auto size = [&] {
    std::size_t sum = 0;
    for (std::size_t i = range.first; i <= range.last; ++i) sum += lines[i - 1].size() + 1;
    return sum;
  };
  while (range.first != range.last && size() > defaults::max_excerpt_bytes) {
    // From the end that is farther away.
    if (*line - range.first > range.last - *line) {
      ++range.first;
    } else {
      --range.last;
    }
  }
  return range;
}

std::optional<LineRange> range_after_change(std::span<const std::string_view> before,
                                            std::span<const std::string_view> after, LineRange range) {
  if (before.size() == after.size()) return range;
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t same_first = 0;
  while (same_first < shorter && before[same_first] == after[same_first]) ++same_first;
  std::size_t same_last = 0;
  while (same_last < shorter - same_first &&
         before[before.size() - 1 - same_last] == after[after.size() - 1 - same_last])
    ++same_last;
  const auto moved = [&](std::size_t line) -> std::optional<std::size_t> {
    if (line <= same_first) return line;
    if (line > before.size() - same_last) return line + after.size() - before.size();
    return std::nullopt;
  };
  const auto first = moved(range.first);
  const auto last = moved(range.last);
  if (!first || !last) return std::nullopt;
  return LineRange{*first, *last};
}

bool Findings::is_secret(const ClaimValue& value) const {
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || !config_.mask) return false;
  std::string digits = in_digits(*number);
  return config_.mask(digits);
}

bool Findings::is_kept(const FinalClaim& claim, std::span<const std::string_view> lines) {
  if (claim.confidence < config_.min_confidence) {
    ++counts_.unsure;
    return false;
  }
  const auto type = ontology_.type_of(claim.concept_path, claim.predicate);
  const ExpectedClaim taken_for =
      ontology_.canonical({claim.concept_path, claim.predicate, claim.value, std::nullopt});
  const bool fits =
      type && ((*type == ValueType::boolean && std::holds_alternative<bool>(taken_for.value)) ||
               (*type == ValueType::number && std::holds_alternative<double>(taken_for.value)) ||
               (*type == ValueType::text && !std::holds_alternative<bool>(taken_for.value)));
  const auto* text = std::get_if<std::string>(&taken_for.value);
  // Workers replace what the run's patterns match.
  const bool is_replaced =
      type == ValueType::number && text != nullptr && text->find(redaction_begin) != text->npos;
  if (!claim.matched_ontology || !(fits || is_replaced)) {
    ++counts_.outside_ontology;
    return false;
  }
  if (claim.line && (*claim.line == 0 || *claim.line > lines.size() || is_blank(lines[*claim.line - 1]))) {
    ++counts_.unsupported;
    return false;
  }
  if (text != nullptr && text->size() > defaults::max_claim_text_bytes) {
    ++counts_.too_long;
    return false;
  }
  if (is_replaced || is_secret(taken_for.value)) {
    ++counts_.secret;
    return false;
  }
  return true;
}

/// The kept claims, each with the one of several ways to write its value: two ways are one fact.
std::vector<FinalClaim> Findings::kept_of(std::span<const FinalClaim> claims,
                                          std::span<const std::string_view> lines) {
  std::vector<FinalClaim> kept;
  for (const FinalClaim& claim : claims) {
    if (!is_kept(claim, lines)) continue;
    FinalClaim& one = kept.emplace_back(claim);
    one.value = ontology_.canonical({one.concept_path, one.predicate, one.value, std::nullopt}).value;
  }
  return kept;
}

std::vector<ExpectedClaim> Findings::expected(std::span<const FinalClaim* const> facts) const {
  std::vector<ExpectedClaim> all;
  std::set<std::string> known;
  for (const FinalClaim* fact : facts) {
    ExpectedClaim one{fact->concept_path, fact->predicate, fact->value, std::string(asks_for_review)};
    if (auto* text = std::get_if<std::string>(&one.value); text != nullptr && config_.mask)
      config_.mask(*text);
    // Two values whose secrets were replaced may look alike.
    if (known.insert(canonical_form(one.subject, one.predicate, one.value)).second)
      all.push_back(std::move(one));
  }
  return all;
}

std::string Findings::name_of(const FinalClaim& fact, const Case& asked) const {
  std::string stated = to_text(fact.concept_path, fact.predicate, fact.value);
  if (config_.mask) config_.mask(stated);  // A cut may hide a secret from its pattern.
  std::string name = excerpt(stated, defaults::fact_name_bytes) + " in " + place_of(asked, fact);
  if (config_.mask) config_.mask(name);
  return name;
}

void Findings::add(const Case& asked, std::span<const FinalClaim> claims) {
  const ShownFile file(asked.content, config_.mask);
  counts_.claims += claims.size();
  const std::vector<FinalClaim> kept = kept_of(claims, file.lines());
  auto facts = facts_in(kept, counts_.repeated);
  // Each of their fixtures may expect all of them.
  if (facts.size() > defaults::max_findings_per_file) {
    counts_.beyond_file += facts.size() - defaults::max_findings_per_file;
    facts.resize(defaults::max_findings_per_file);
  }
  for (const FinalClaim* fact : facts) {
    Shown shown = file.around(fact->line);
    Case fixture;
    fixture.must_contain = expected(shown_with(*fact, facts, shown.range, file.lines().size()));
    fixture.name = name_of(*fact, asked);
    fixture.category = category_of(fact->concept_path);
    fixture.language = asked.language;
    fixture.created = config_.created;
    fixture.content = std::move(shown.code);
    fixture.first_line = static_cast<std::uint32_t>(shown.range.first);
    fixture.min_confidence = config_.min_confidence;
    fixture.id = id_of(fixture, *fact);
    const std::string id = fixture.id;
    if (!fixtures_.try_emplace(id, std::move(fixture)).second) {
      ++counts_.repeated;
      continue;
    }
    ++counts_.findings;
    counts_.masked += shown.masked ? 1 : 0;
  }
}

std::vector<Case> Findings::take() {
  std::vector<Case> fixtures;
  for (auto& [id, fixture] : fixtures_) fixtures.push_back(std::move(fixture));
  fixtures_.clear();
  return fixtures;
}

}  // namespace sluice
