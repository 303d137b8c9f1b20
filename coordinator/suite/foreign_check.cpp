#include "coordinator/suite/foreign_check.hpp"

#include "common/model/expectation.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

using Made = tl::expected<DocumentNode, std::string>;

/// How a check is said in a suite.
enum class Form : std::uint8_t {
  none,           ///< It cannot be said.
  program,        ///< A program of the user's says it.
  equals,         ///< exact_match, or a schema with the one value.
  all_texts,      ///< must_contain
  any_text,       ///< contains_any
  any_case,       ///< icontains
  any_text_case,  ///< icontains_any
  beginning,      ///< starts_with
  pattern,
  json,
  any_json,  ///< contains_json
  distance,  ///< levenshtein
  words,     ///< rouge_n
  time,      ///< latency
  price,     ///< cost
  similarity,
  criteria,
  reference,
  relevancy,
  faithfulness,
};

struct ForeignType {
  std::string_view name;
  Form form = Form::none;
};

/// Every type that promptfoo's documentation names.
constexpr std::array foreign_types{
    ForeignType{"answer-relevance", Form::relevancy},
    ForeignType{"bleu"},
    ForeignType{"classifier"},
    ForeignType{"contains", Form::all_texts},
    ForeignType{"contains-all", Form::all_texts},
    ForeignType{"contains-any", Form::any_text},
    ForeignType{"contains-html"},
    ForeignType{"contains-json", Form::any_json},
    ForeignType{"contains-sql"},
    ForeignType{"contains-xml"},
    ForeignType{"context-faithfulness", Form::faithfulness},
    ForeignType{"context-recall"},
    ForeignType{"context-relevance"},
    ForeignType{"conversation-relevance"},
    ForeignType{"cost", Form::price},
    ForeignType{"equals", Form::equals},
    ForeignType{"factuality", Form::reference},
    ForeignType{"finish-reason"},
    ForeignType{"g-eval", Form::criteria},
    ForeignType{"gleu"},
    ForeignType{"guardrails"},
    ForeignType{"human"},
    ForeignType{"icontains", Form::any_case},
    ForeignType{"icontains-all", Form::any_case},
    ForeignType{"icontains-any", Form::any_text_case},
    ForeignType{"is-html"},
    ForeignType{"is-json", Form::json},
    ForeignType{"is-refusal"},
    ForeignType{"is-sql"},
    ForeignType{"is-valid-function-call"},
    ForeignType{"is-valid-openai-function-call"},
    ForeignType{"is-valid-openai-tools-call"},
    ForeignType{"is-xml"},
    ForeignType{"javascript", Form::program},
    ForeignType{"latency", Form::time},
    ForeignType{"levenshtein", Form::distance},
    ForeignType{"llm-rubric", Form::criteria},
    ForeignType{"max-score"},
    ForeignType{"meteor"},
    ForeignType{"model-graded-closedqa", Form::criteria},
    ForeignType{"model-graded-factuality", Form::reference},
    ForeignType{"moderation"},
    ForeignType{"perplexity"},
    ForeignType{"perplexity-score"},
    ForeignType{"pi"},
    ForeignType{"python", Form::program},
    ForeignType{"regex", Form::pattern},
    ForeignType{"rouge-n", Form::words},
    ForeignType{"ruby", Form::program},
    ForeignType{"search-rubric"},
    ForeignType{"select-best"},
    ForeignType{"similar", Form::similarity},
    ForeignType{"starts-with", Form::beginning},
    ForeignType{"tool-call-f1"},
    ForeignType{"webhook"},
    ForeignType{"word-count"},
};

const ForeignType* find_type(std::string_view name) {
  const auto found = std::ranges::find(foreign_types, name, &ForeignType::name);
  return found != foreign_types.end() ? &*found : nullptr;
}

/// What a score must reach where the check names nothing.
constexpr double similar_enough = 0.75;
constexpr double good_enough = 0.7;  ///< Of `g-eval`.

/// Whether it says something about the answer that no value is needed for.
bool needs_no_value(Form form) {
  constexpr std::array forms{Form::json,         Form::any_json, Form::relevancy,
                             Form::faithfulness, Form::time,     Form::price};
  return std::ranges::find(forms, form) != forms.end();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

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
  if (type.form == Form::time || type.form == Form::price) return false;
  const bool is_said = type.form != Form::none && type.form != Form::program;
  return is_said || type.name.find('-') != std::string_view::npos;
}

/// Takes `not-` off, however its hyphen is written.
bool take_negation(std::string& name) {
  const bool is_negated = name.starts_with("not-") || name.starts_with("not_") || name.starts_with("not ");
  if (is_negated) name.erase(0, 4);
  return is_negated;
}

/// The number in parentheses at the end, which is taken off; nothing if there is none.
std::optional<double> take_threshold(std::string_view& name) {
  const auto open = name.find('(');
  if (open == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  const std::string_view written = name.substr(open + 1, name.size() - open - 2);
  double number = 0.0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), number);
  if (error != std::errc() || end != written.data() + written.size()) return std::nullopt;
  name = name.substr(0, open);
  return number;
}

/// For RE2, whatever stands in the text.
std::string escaped(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_';
    if (!is_plain) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

class ExpectationMaker {
 public:
  explicit ExpectationMaker(const ForeignCheck& check) : check_(check) {}

  Made make() const {
    if (!check_.problem.empty()) return fail(check_.problem);
    if (const auto why = why_not_taken(check_.type); !why.empty()) return fail(std::string(why));
    const ForeignType* type = find_type(check_.type);
    const bool needs_value = !needs_no_value(type->form) && check_.schema == nullptr;
    if (needs_value && check_.values.empty()) return fail("names no value");
    const bool may_be_empty = type->form == Form::equals;
    if (needs_value && !may_be_empty && std::ranges::find(check_.values, "") != check_.values.end())
      return fail("has an empty value, which every answer holds");
    if (check_.is_negated) return make_negated(type->form);
    switch (type->form) {
      case Form::equals:
        return make_equals("exact_match", "json_schema");
      case Form::all_texts:
        return texts("must_contain", "text", check_.values);
      case Form::any_text:
        return texts("contains_any", "text", check_.values);
      case Form::any_case:
        return texts("icontains", "text", check_.values);
      case Form::any_text_case:
        return texts("icontains_any", "text", check_.values);
      case Form::beginning:
        return texts("starts_with", "text", check_.values);
      case Form::pattern:
        return texts("regex_match", "pattern", check_.values);
      case Form::json:
        return make_json("json_schema");
      case Form::any_json:
        return make_json("contains_json");
      case Form::distance:
        return make_distance("levenshtein");
      case Form::words:
        return scored(texts("rouge_n", "text", check_.values), similar_enough);
      case Form::time:
        return limited("latency", "max_ms", most_milliseconds);
      case Form::price:
        return limited("cost", "max_dollars", most_dollars);
      case Form::similarity:
        return scored(texts("semantic_similarity_to", "text", check_.values), similar_enough);
      case Form::criteria:
        return scored(texts("rubric", "criteria", {joined_values()}),
                      check_.type == "g-eval" ? std::optional(good_enough) : std::nullopt);
      case Form::reference:
        return scored(texts("correctness", "reference", {joined_values()}));
      case Form::relevancy:
        return scored(metric("relevancy"));
      case Form::faithfulness:
        return scored(metric("faithfulness"));
      case Form::program:
      case Form::none:
        break;
    }
    return fail("has no counterpart");
  }

 private:
  static Made fail(std::string why) { return tl::unexpected(std::move(why)); }

  Made make_negated(Form form) const {
    switch (form) {
      case Form::all_texts:
        // Not all of several is no absence of each.
        if (check_.values.size() == 1) return texts("must_not_contain", "text", check_.values);
        return fail("has no counterpart");
      case Form::any_text:
        return texts("must_not_contain", "text", check_.values);
      case Form::equals:
        return make_equals("not_exact_match", "not_json_schema");
      case Form::any_case:
        return texts("not_icontains", "text", check_.values);
      case Form::any_text_case:
        return without_any_case();
      case Form::beginning:
        return texts("not_starts_with", "text", check_.values);
      case Form::pattern:
        return texts("regex_not_match", "pattern", check_.values);
      case Form::json:
        return make_json("not_json_schema");
      case Form::any_json:
        return make_json("not_contains_json");
      case Form::distance:
        return make_distance("not_levenshtein");
      case Form::words:
        return make_other_words();
      case Form::time:
        return limited("not_latency", "max_ms", most_milliseconds);
      case Form::price:
        return limited("not_cost", "max_dollars", most_dollars);
      default:
        return fail("has no counterpart");
    }
  }

  DocumentNode text(std::string value) const { return {std::move(value), check_.line, {}}; }

  DocumentNode metric(std::string_view type) const {
    return {DocumentNode::Table{{"type", check_.line, text(std::string(type))}}, check_.line, {}};
  }

  static DocumentNode with(DocumentNode table, std::string_view key, DocumentNode value) {
    const std::uint32_t line = table.line;
    std::get<DocumentNode::Table>(table.value).push_back({std::string(key), line, std::move(value)});
    return table;
  }

  DocumentNode texts(std::string_view type, std::string_view key,
                     const std::vector<std::string>& values) const {
    if (values.size() == 1) return with(metric(type), key, text(values.front()));
    DocumentNode::Array list;
    for (const std::string& value : values) list.push_back(text(value));
    return with(metric(type), key, {std::move(list), check_.line, {}});
  }

  Made make_equals(std::string_view of_text, std::string_view of_schema) const {
    if (check_.schema == nullptr) return texts(of_text, "text", check_.values);
    DocumentNode::Table constant{{"const", check_.line, *check_.schema}};
    return with(metric(of_schema), "schema", {std::move(constant), check_.line, {}});
  }

  Made make_json(std::string_view type) const {
    DocumentNode schema{DocumentNode::Table(), check_.line, {}};
    if (check_.schema != nullptr) schema = *check_.schema;
    if (check_.schema == nullptr && !check_.values.empty()) schema = text(check_.values.front());
    return with(metric(type), "schema", std::move(schema));
  }

  /// Without a threshold both allow the same distance.
  Made make_distance(std::string_view type) const {
    DocumentNode made = texts(type, "text", check_.values);
    if (!check_.threshold) return made;
    const double most = *check_.threshold;
    if (most < 0.0 || most > most_distance || most != std::floor(most))
      return fail("has a threshold that is no whole number from 0 to 10000");
    return with(std::move(made), "max_distance", {static_cast<std::int64_t>(most), check_.line, {}});
  }

  /// The other way round a score is 1 less the one that the threshold is for.
  Made make_other_words() const {
    const double most = check_.threshold.value_or(similar_enough);
    if (most < 0.0 || most > 1.0) return fail(beyond_scores);
    constexpr double digits = 1e6;  // As scores are rounded.
    return with(texts("not_rouge_n", "text", check_.values), "min_score",
                {std::round((1.0 - most) * digits) / digits, check_.line, {}});
  }

  Made limited(std::string_view type, std::string_view key, double most) const {
    if (!check_.threshold) return fail("names no threshold");
    if (!(*check_.threshold >= 0.0 && *check_.threshold <= most))
      return fail("has a threshold that no answer can have");
    return with(metric(type), key, {*check_.threshold, check_.line, {}});
  }

  /// That none of the texts is there: a pattern, as not_icontains wants one of them to be missing.
  Made without_any_case() const {
    if (check_.values.size() == 1) return texts("not_icontains", "text", check_.values);
    std::string any = "(?i)";
    for (const std::string& value : check_.values) {
      if (!first_variable(value).empty()) return fail("holds a variable, which is not rendered in patterns");
      any += (&value == &check_.values.front() ? "" : "|") + escaped(value);
    }
    return texts("regex_not_match", "pattern", {any});
  }

  std::string joined_values() const {
    std::string joined;
    for (const std::string& value : check_.values) joined += (joined.empty() ? "" : "\n") + value;
    return joined;
  }

  Made scored(DocumentNode made, std::optional<double> least = {}) const {
    if (check_.threshold) least = check_.threshold;
    if (!least) return made;
    if (*least < 0.0 || *least > 1.0) return fail(beyond_scores);
    return with(std::move(made), "min_score", {*least, check_.line, {}});
  }

  static constexpr const char* beyond_scores = "has a threshold beyond 0 to 1";
  static constexpr double most_milliseconds = 1e9;
  static constexpr double most_dollars = 1e6;
  const ForeignCheck& check_;
};

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

bool takes_foreign_list(std::string_view type) {
  return type.ends_with("-any") || type.ends_with("-all");
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
  if (find_type(name) == nullptr) return {"equals", false, {std::string(cell)}, {}, nullptr, line};
  check.type = name;
  if (colon == std::string_view::npos) return check;
  const std::string_view value = trimmed(cell.substr(colon + 1));
  if (takes_foreign_list(name)) {
    auto values = parse_foreign_list(value);
    if (values)
      check.values = std::move(*values);
    else
      check.problem = std::move(values.error());
  } else if (!value.empty()) {
    check.values.emplace_back(value);
  }
  return check;
}

std::optional<MisspeltCheck> misspelt_check(std::string_view cell) {
  constexpr std::size_t longest_name = 40;
  const auto colon = cell.find(':');
  if (colon == std::string_view::npos || colon > longest_name) return std::nullopt;
  const bool names_one = parse_foreign_check(cell, 1).values != std::vector{std::string(cell)};
  if (names_one) return std::nullopt;
  const std::string_view word = trimmed(cell.substr(0, colon));
  std::string_view bare = word;
  take_threshold(bare);
  std::string name = to_lower(trimmed(bare));
  const bool is_negated = take_negation(name);
  std::vector<std::string_view> names;
  for (const ForeignType& type : foreign_types) {
    if (is_meant_by_slips(type)) names.push_back(type.name);
  }
  const auto meant = nearest(name, names);
  if (!meant) return std::nullopt;
  return MisspeltCheck{std::string(word), (is_negated ? "not-" : "") + *meant};
}

std::string_view why_not_taken(std::string_view type) {
  const ForeignType* known = find_type(type);
  if (known == nullptr) return "is no check that promptfoo documents";
  if (known->form == Form::program) return "has no counterpart (`type: command` runs a program of yours)";
  return known->form == Form::none ? "has no counterpart" : "";
}

tl::expected<DocumentNode, std::string> expectation_of(const ForeignCheck& check) {
  return ExpectationMaker(check).make();
}

}  // namespace sluice
