#include "coordinator/suite/expectations/foreign_check.hpp"

#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "common/text/words.hpp"
#include "coordinator/suite/expectations/foreign_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

/// What the score of `similar` must reach where a cell names nothing.
constexpr double similar_enough_of_cell = 0.8;

/// Takes a text in quotes off the list's beginning; nothing if no quote closes it.
std::optional<std::string> take_quoted(std::string_view& list) {
  std::string held;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const char next = i + 1 < list.size() ? list[i + 1] : '\0';
    const bool is_doubled = list[i] == '"' && next == '"';
    const bool is_escaped = list[i] == '\\' && (next == '"' || next == '\\');
    if (is_doubled || is_escaped) {
      held += next;
      ++i;
    } else if (list[i] == '"') {
      list.remove_prefix(i + 1);
      return held;
    } else {
      held += list[i];
    }
  }
  return std::nullopt;
}

/// Cells begin so where promptfoo runs code.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> cell_prefixes{{
    {"javascript:", "javascript"},
    {"fn:", "javascript"},
    {"eval:", "javascript"},
    {"python:", "python"},
    {"file://", "javascript"},
    {"grade:", "llm-rubric"},
}};

/// Whether a text that begins with a word like its name may be meant as the check. Words of one part that
/// cannot be said (`human`, `python`) begin texts too, and `cost` and `latency` take no text at all.
bool is_meant_by_slips(const ForeignType& type) {
  if (type.form == ForeignForm::time || type.form == ForeignForm::price) return false;
  const bool is_said = type.form != ForeignForm::none && type.form != ForeignForm::program;
  return is_said || type.name.find('-') != std::string_view::npos;
}

/// Whether it may stand without a value behind its threshold, as in `latency(1500)`.
bool takes_threshold_alone(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{
      "answer-relevance", "context-faithfulness", "context-recall",  "context-relevance", "cost",
      "latency",          "perplexity",           "perplexity-score"};
  return std::ranges::find(names, name) != names.end();
}

/// Takes `not-` off, however its hyphen is written or left out, and with a slip in it: what is left may be
/// near to the check that says the opposite.
bool take_negation(std::string& name) {
  const auto sign = name.find_first_of("-_ ");
  const bool is_word = sign != std::string::npos && says_not(std::string_view(name).substr(0, sign));
  const bool is_joined = !is_word && name.starts_with("not") && name.find(' ') == std::string::npos;
  if (is_word) name.erase(0, sign + 1);
  if (is_joined) name.erase(0, 3);
  return is_word || is_joined;
}

/// The number in parentheses at the end, which is taken off; nothing if there is none.
std::optional<double> take_threshold(std::string_view& name) {
  const auto open = name.find('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  const auto number = foreign_number(name.substr(open + 1, name.size() - open - 2));
  if (number) name = name.substr(0, open);
  return number;
}

/// The check whose name is nearest to what stands before a colon.
std::optional<std::string> meant_before_colon(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ForeignType& type : all_foreign_types()) {
    if (is_meant_by_slips(type)) names.push_back(type.name);
  }
  return nearest(name, names);
}

/// The check whose name is nearest to a cell as a whole, of those that need nothing behind it. Words with
/// blanks between them are a text, but for such a name with blanks for its hyphens.
std::optional<std::string> meant_alone(std::string_view name, bool has_threshold) {
  std::vector<std::string_view> names;
  for (const ForeignType& type : all_foreign_types()) {
    const bool needs_threshold = type.form == ForeignForm::time || type.form == ForeignForm::price;
    if (needs_no_value(type.form) && (has_threshold || !needs_threshold)) names.push_back(type.name);
  }
  std::string hyphened(name);
  std::ranges::replace(hyphened, ' ', '-');
  if (hyphened != name && std::ranges::find(names, hyphened) == names.end()) return std::nullopt;
  return nearest(hyphened, names);
}

/// The texts between commas, but for those behind a backslash, which belong to a text.
std::vector<std::string> listed_texts(std::string_view list) {
  std::vector<std::string> texts(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.substr(i).starts_with("\\,")) {
      texts.back() += list[++i];
    } else if (list[i] == ',') {
      texts.emplace_back();
    } else {
      texts.back() += list[i];
    }
  }
  for (std::string& text : texts) text = std::string(trimmed(text));
  return texts;
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> parse_foreign_list(std::string_view list) {
  std::vector<std::string> values;
  for (bool goes_on = true; goes_on;) {
    list = trimmed(list);
    std::optional<std::string> value;
    if (list.starts_with('"')) {
      value = take_quoted(list);
      if (!value) return tl::unexpected(std::string("has a quote that nothing closes"));
      list = trimmed(list);
      if (!list.empty() && !list.starts_with(','))
        return tl::unexpected(std::string("has more behind a closing quote than a comma"));
    } else {
      const std::string_view plain = list.substr(0, list.find(','));
      value = std::string(trimmed(plain));
      list.remove_prefix(plain.size());
    }
    values.push_back(std::move(*value));
    goes_on = list.starts_with(',');
    if (goes_on) list.remove_prefix(1);
  }
  return values;
}

std::optional<double> foreign_number(std::string_view cell) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  const bool is_number = error == std::errc() && end == cell.data() + cell.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

std::optional<ForeignMetadata> parse_foreign_metadata(std::string_view column, std::string_view cell) {
  constexpr std::string_view start = "__metadata:";
  if (!column.starts_with(start)) return std::nullopt;
  std::string_view key = column.substr(start.size());
  const bool is_list = key.ends_with("[]");
  if (is_list) key.remove_suffix(2);
  if (key.empty()) return std::nullopt;
  ForeignMetadata metadata{std::string(key), {}};
  metadata.values = is_list ? listed_texts(cell) : std::vector{std::string(cell)};
  std::erase(metadata.values, "");
  return metadata;
}

bool takes_foreign_list(std::string_view type) {
  return type.ends_with("-any") || type.ends_with("-all");
}

bool takes_foreign_context(std::string_view type) {
  return type.starts_with("context-");
}

ForeignCheck parse_foreign_check(std::string_view cell, std::uint32_t line) {
  ForeignCheck check;
  check.line = line;
  for (const auto& [prefix, type] : cell_prefixes) {
    if (!cell.starts_with(prefix)) continue;
    check.type = type;
    check.values.emplace_back(trimmed(cell.substr(prefix.size())));
    return check;
  }
  const auto colon = cell.find(':');
  std::string_view name = trimmed(cell.substr(0, colon));
  check.is_negated = name.starts_with("not-");
  if (check.is_negated) name.remove_prefix(4);
  check.threshold = take_threshold(name);
  if (find_foreign_type(name) == nullptr) return {"equals", false, {std::string(cell)}, {}, {}, line};
  check.type = name;
  if (colon == std::string_view::npos) return check;
  const std::string_view value = trimmed(cell.substr(colon + 1));
  if (takes_foreign_list(name)) {
    auto values = parse_foreign_list(value);
    if (values)
      check.values = std::move(*values);
    else
      check.problem = std::move(values.error());
  } else if (!value.empty() || name == "equals") {
    check.values.emplace_back(value);
  }
  if (name == "similar" && !check.threshold) check.threshold = similar_enough_of_cell;
  return check;
}

std::optional<MisspeltCheck> misspelt_check(std::string_view cell) {
  constexpr std::size_t longest_name = 40;
  const auto colon = cell.find(':');
  const std::string_view word = trimmed(cell.substr(0, colon));
  if (word.size() > longest_name) return std::nullopt;
  const bool names_one = parse_foreign_check(cell, 1).values != std::vector{std::string(cell)};
  if (names_one) return std::nullopt;
  const std::string negation = word.starts_with("not-") ? "not-" : "";
  std::string limited(word.substr(negation.size()));
  limited.resize(std::min(limited.find('('), limited.size()));
  if (word.ends_with(')') && takes_threshold_alone(limited))
    return MisspeltCheck{std::string(word), negation + limited + "(NUMBER)"};
  std::string_view bare = word;
  const bool has_threshold = take_threshold(bare).has_value();
  std::string name = to_lower(trimmed(bare));
  const bool is_negated = take_negation(name);
  const bool is_alone = colon == std::string_view::npos;
  const auto meant = is_alone ? meant_alone(name, has_threshold) : meant_before_colon(name);
  if (!meant || negations_in(name) != 0) return std::nullopt;
  const std::string_view rest = is_alone ? word.substr(bare.size()) : ":";
  return MisspeltCheck{std::string(word), (is_negated ? "not-" : "") + *meant + std::string(rest)};
}

}  // namespace sluice
