#include "coordinator/suite/foreign_check.hpp"

#include "common/text/text.hpp"
#include "coordinator/suite/template.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace sluice {
namespace {

using Made = tl::expected<DocumentNode, std::string>;

/// How a check is said in a suite.
enum class Form : std::uint8_t {
  none,           ///< It cannot be said.
  equals,         ///< exact_match, or a schema with the one value.
  all_texts,      ///< must_contain
  any_text,       ///< a pattern with alternatives
  any_case,       ///< a pattern for each text, whatever the case
  any_text_case,  ///< a pattern with alternatives, whatever the case
  beginning,      ///< a pattern
  pattern,
  json,
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
    ForeignType{"contains-json"},
    ForeignType{"contains-sql"},
    ForeignType{"contains-xml"},
    ForeignType{"context-faithfulness", Form::faithfulness},
    ForeignType{"context-recall"},
    ForeignType{"context-relevance"},
    ForeignType{"conversation-relevance"},
    ForeignType{"cost"},
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
    ForeignType{"javascript"},
    ForeignType{"latency"},
    ForeignType{"levenshtein"},
    ForeignType{"llm-rubric", Form::criteria},
    ForeignType{"max-score"},
    ForeignType{"meteor"},
    ForeignType{"model-graded-closedqa", Form::criteria},
    ForeignType{"model-graded-factuality", Form::reference},
    ForeignType{"moderation"},
    ForeignType{"perplexity"},
    ForeignType{"perplexity-score"},
    ForeignType{"pi"},
    ForeignType{"python"},
    ForeignType{"regex", Form::pattern},
    ForeignType{"rouge-n"},
    ForeignType{"ruby"},
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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
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
    const ForeignType* type = find_type(check_.type);
    if (type == nullptr) return fail("is no check that promptfoo documents");
    if (type->form == Form::none) return fail("has no counterpart");
    const bool needs_value = type->form != Form::json && type->form != Form::relevancy &&
                             type->form != Form::faithfulness && check_.schema == nullptr;
    if (needs_value && check_.values.empty()) return fail("names no value");
    const bool may_be_empty = type->form == Form::equals;
    if (needs_value && !may_be_empty && std::ranges::find(check_.values, "") != check_.values.end())
      return fail("has an empty value, which every answer holds");
    if (check_.is_negated) return make_negated(type->form);
    switch (type->form) {
      case Form::equals:
        return make_equals();
      case Form::all_texts:
        return texts("must_contain", "text", check_.values);
      case Form::any_text:
      case Form::any_text_case:
      case Form::any_case:
      case Form::beginning:
      case Form::pattern:
        return patterns("regex_match", type->form);
      case Form::json:
        return make_json();
      case Form::similarity:
        return scored(texts("semantic_similarity_to", "text", check_.values), similar_enough);
      case Form::criteria:
        return scored(texts("rubric", "criteria", {joined_values()}));
      case Form::reference:
        return scored(texts("correctness", "reference", {joined_values()}));
      case Form::relevancy:
        return scored(metric("relevancy"));
      case Form::faithfulness:
        return scored(metric("faithfulness"));
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
        if (check_.schema == nullptr) return patterns("regex_not_match", form);
        return fail("has no counterpart");
      case Form::any_case:
        if (check_.values.size() == 1) return patterns("regex_not_match", form);
        return fail("has no counterpart");
      case Form::any_text_case:
      case Form::beginning:
      case Form::pattern:
        return patterns("regex_not_match", form);
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

  Made make_equals() const {
    if (check_.schema == nullptr) return texts("exact_match", "text", check_.values);
    DocumentNode::Table constant{{"const", check_.line, *check_.schema}};
    return with(metric("json_schema"), "schema", {std::move(constant), check_.line, {}});
  }

  Made make_json() const {
    DocumentNode schema{DocumentNode::Table(), check_.line, {}};
    if (check_.schema != nullptr) schema = *check_.schema;
    if (check_.schema == nullptr && !check_.values.empty()) schema = text(check_.values.front());
    return with(metric("json_schema"), "schema", std::move(schema));
  }

  Made patterns(std::string_view type, Form form) const {
    if (std::ranges::any_of(check_.values,
                            [](const std::string& one) { return !first_variable(one).empty(); })) {
      return fail("holds a variable, which is not rendered in patterns");
    }
    std::vector<std::string> made;
    for (const std::string& value : check_.values) {
      if (form == Form::pattern) made.push_back(value);
      if (form == Form::beginning) made.push_back("^" + escaped(value));
      if (form == Form::any_case) made.push_back("(?i)" + escaped(value));
      if (form == Form::equals) made.push_back("^\\s*" + escaped(value) + "\\s*$");
    }
    if (made.empty()) {
      std::string any = form == Form::any_text_case ? "(?i)" : "";
      for (const std::string& value : check_.values)
        any += (&value == &check_.values.front() ? "" : "|") + escaped(value);
      made.push_back(std::move(any));
    }
    return texts(type, "pattern", made);
  }

  std::string joined_values() const {
    std::string joined;
    for (const std::string& value : check_.values) joined += (joined.empty() ? "" : "\n") + value;
    return joined;
  }

  Made scored(DocumentNode made, std::optional<double> least = {}) const {
    if (check_.threshold) least = check_.threshold;
    if (!least) return made;
    if (*least < 0.0 || *least > 1.0) return fail("has a threshold beyond 0 to 1");
    return with(std::move(made), "min_score", {*least, check_.line, {}});
  }

  const ForeignCheck& check_;
};

}  // namespace

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
  if (name.ends_with("-any") || name.ends_with("-all")) {
    check.values = comma_parts(value);
  } else if (!value.empty()) {
    check.values.emplace_back(value);
  }
  return check;
}

tl::expected<DocumentNode, std::string> expectation_of(const ForeignCheck& check) {
  return ExpectationMaker(check).make();
}

}  // namespace sluice
