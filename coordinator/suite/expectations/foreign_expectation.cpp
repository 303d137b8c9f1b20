// What a foreign check becomes in a suite.
#include "common/model/expectation.hpp"
#include "common/text/joined.hpp"
#include "common/text/trimmed.hpp"
#include "coordinator/suite/expectations/foreign_check.hpp"
#include "coordinator/suite/expectations/foreign_type.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

using Form = ForeignForm;
using Made = tl::expected<DocumentNode, std::string>;

/// What a score must reach where the check names nothing.
constexpr double similar_enough = 0.75;
constexpr double good_enough = 0.7;  ///< Of `g-eval`.

/// An answer that begins by saying that it will not help. Few phrases and nothing further on: where they
/// stand in an answer that complies, the check would pass.
constexpr std::string_view words_of_refusal =
    R"((?i)^\s*((I['’]m|I am) ((so|very|really) )?sorry|sorry|I apologi[sz]e|my apologies|unfortunately)?)"
    R"([\s,.:;—–-]*(but )?(I|we)(['’](m|re)| am| are)? )"
    R"((cannot|can['’]t|can not|will not|won['’]t|(unable|not able) to) )"
    R"((assist|comply|fulfil|fulfill|provide|answer|create|generate|write|share|discuss|engage|participate|)"
    R"(do (that|this)|help (you )?with|help you[.,])(\W|$))";

class ExpectationMaker {
 public:
  explicit ExpectationMaker(const ForeignCheck& check) : check_(check) {}

  Made make() const {
    if (!check_.problem.empty()) return fail(check_.problem);
    if (const auto why = why_not_taken(check_.type); !why.empty()) return fail(std::string(why));
    const ForeignType* type = find_foreign_type(check_.type);
    if (auto wrong = problem_with_values(type->form); !wrong.empty()) return fail(std::move(wrong));
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
      case Form::count:
        return make_count("regex_match");
      case Form::refused:
        return make_refused("any_of");
      case Form::time:
        return limited("latency", "max_ms", milliseconds);
      case Form::price:
        return limited("cost", "max_dollars", dollars);
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
        return make_of_context(metric("faithfulness"));
      case Form::context_recall:
        return make_of_context(texts("context_recall", "reference", {joined_values()}));
      case Form::context_relevance:
        return make_of_context(metric("context_relevance"));
      case Form::valid_calls:
        return make_calls("all_of");
      case Form::program:
      case Form::tools:
      case Form::none:
        break;
    }
    return fail("has no counterpart");
  }

 private:
  static Made fail(std::string why) { return tl::unexpected(std::move(why)); }

  /// An empty answer is one that another can equal; a judge takes blanks for nothing.
  bool has_empty_value(Form form) const {
    const bool is_judged = form == Form::criteria || form == Form::reference || form == Form::context_recall;
    return form != Form::equals && std::ranges::any_of(check_.values, [&](const std::string& value) {
             return (is_judged ? trimmed(value) : value).empty();
           });
  }

  /// Empty: there is none.
  std::string problem_with_values(Form form) const {
    if (needs_no_value(form) || check_.schema) return "";
    if (check_.values.empty()) return "names no value";
    return has_empty_value(form) ? "has an empty value, by which no answer can be judged" : "";
  }

  Made make_negated(Form form) const {
    switch (form) {
      case Form::all_texts:
        if (check_.values.size() == 1) return texts("must_not_contain", "text", check_.values);
        return make_not_all();
      case Form::any_text:
        return texts("must_not_contain", "text", check_.values);
      case Form::equals:
        return make_equals("not_exact_match", "not_json_schema");
      case Form::any_case:
        return texts(check_.values.size() > 1 ? "not_icontains_all" : "not_icontains", "text", check_.values);
      case Form::any_text_case:
        return texts(check_.values.size() > 1 ? "not_icontains_any" : "not_icontains", "text", check_.values);
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
      case Form::count:
        return make_count("regex_not_match");
      case Form::refused:
        return make_refused("not_any_of");
      case Form::time:
        return limited("not_latency", "max_ms", milliseconds);
      case Form::price:
        return limited("not_cost", "max_dollars", dollars);
      case Form::valid_calls:
        return make_calls("not_all_of");
      case Form::criteria:
        return check_.type == "model-graded-closedqa" ? fail(ignored_negation) : make_opposite();
      case Form::reference:
      case Form::relevancy:
      case Form::faithfulness:
      case Form::context_recall:
      case Form::context_relevance:
        return fail(ignored_negation);
      case Form::similarity:
        return fail(
            "has no counterpart (a similarity has a lower bound here, and no upper one: `not-llm-rubric` "
            "asks a judge, `command` a program of yours)");
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
    if (!check_.schema) return texts(of_text, "text", check_.values);
    DocumentNode::Table constant{{"const", check_.line, *check_.schema}};
    return with(metric(of_schema), "schema", {std::move(constant), check_.line, {}});
  }

  /// Not all of several is no absence of each.
  DocumentNode make_not_all() const {
    DocumentNode::Array parts{texts("must_contain", "text", check_.values)};
    return with(metric("not_all_of"), "of", {std::move(parts), check_.line, {}});
  }

  /// There an answer without a call fails.
  Made make_calls(std::string_view group) const {
    DocumentNode::Array parts{metric("tool_call"), metric("tool_calls_valid")};
    return with(metric(group), "of", {std::move(parts), check_.line, {}});
  }

  /// There words of many kinds count as well.
  Made make_refused(std::string_view type) const {
    DocumentNode::Array parts{metric("refusal"),
                              texts("regex_match", "pattern", {std::string(words_of_refusal)})};
    return with(metric(type), "of", {std::move(parts), check_.line, {}});
  }

  Made make_json(std::string_view type) const {
    DocumentNode schema{DocumentNode::Table(), check_.line, {}};
    if (check_.schema) schema = *check_.schema;
    if (!check_.schema && !check_.values.empty()) schema = text(check_.values.front());
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
    return limited_above(texts("not_rouge_n", "text", check_.values),
                         check_.threshold.value_or(similar_enough));
  }

  /// What a score of the opposite must reach, where the score itself may be so much at most.
  Made limited_above(DocumentNode made, double most) const {
    if (most < 0.0 || most > 1.0) return fail(beyond_scores);
    constexpr double digits = 1e6;  // As scores are rounded.
    return with(std::move(made), "min_score", {std::round((1.0 - most) * digits) / digits, check_.line, {}});
  }

  /// A judge is asked for the opposite, on the same scale the other way round.
  Made make_opposite() const {
    const std::string criteria =
        "The answer must meet nothing of this (1.0 if it meets nothing of it, 0.0 if it meets all of it, "
        "evenly between): \"" +
        joined_values() + "\"";
    std::optional<double> most = check_.threshold;
    if (!most && check_.type == "g-eval") most = good_enough;
    DocumentNode made = texts("rubric", "criteria", {criteria});
    return most ? limited_above(std::move(made), *most) : Made(std::move(made));
  }

  /// Of `min` and `max`, or of the one number that is both.
  std::optional<double> words(std::string_view key) const {
    const DocumentEntry* entry = check_.schema ? find_entry(*check_.schema, key) : nullptr;
    if (check_.schema && entry == nullptr) return std::nullopt;
    if (entry == nullptr) return foreign_number(check_.values.front()).value_or(-1);
    if (const auto* whole = std::get_if<std::int64_t>(&entry->value.value))
      return static_cast<double>(*whole);
    const auto* text = std::get_if<std::string>(&entry->value.value);
    return text != nullptr ? foreign_number(*text).value_or(-1) : -1;
  }

  /// Words are what white space parts, as JavaScript knows it.
  Made make_count(std::string_view type) const {
    constexpr double most_repeats = 1000;  // Of RE2.
    const std::optional<double> least = words("min");
    const std::optional<double> most = words("max");
    const auto is_no_count = [](const std::optional<double>& number) {
      return number && (*number < 0 || *number > most_repeats || *number != std::floor(*number));
    };
    if ((!least && !most) || is_no_count(least) || is_no_count(most))
      return fail("has a value that is no number of words from 0 to 1000");
    if (most && least.value_or(0) > *most) return fail("asks for more words than it allows");
    if (!most && *least == 0) return fail("asks for no words, which every answer has");
    const std::string space(foreign_space);
    const std::string word = "[^" + space.substr(1) + "+";
    const auto number = [](double count) { return std::to_string(static_cast<int>(count)); };
    const std::string pattern = most ? "(?:" + word + "(?:" + space + "+|$)){" + number(least.value_or(0)) +
                                           "," + number(*most) + "}$"
                                     : "(?:" + word + space + "+){" + number(*least - 1) + "}" + word;
    return with(metric(type), "pattern", text("^" + space + "*" + pattern));
  }

  /// What an answer may take of something.
  struct Allowance {
    double most;
    bool may_be_nothing;
  };

  Made limited(std::string_view type, std::string_view key, Allowance allowance) const {
    if (!check_.threshold) return fail("names no threshold");
    const double asked = *check_.threshold;
    if (!(asked >= 0.0 && asked <= allowance.most) || (asked == 0.0 && !allowance.may_be_nothing))
      return fail("has a threshold that no answer can have");
    return with(metric(type), key, {*check_.threshold, check_.line, {}});
  }

  Made make_of_context(DocumentNode made) const {
    if (!check_.context) return scored(std::move(made));
    if (trimmed(*check_.context).empty())
      return fail("judges by the variable \"context\", which has no value");
    return scored(with(std::move(made), "context", text(*check_.context)));
  }

  std::string joined_values() const { return joined(check_.values, "\n"); }

  Made scored(DocumentNode made, std::optional<double> least = {}) const {
    if (check_.threshold) least = check_.threshold;
    if (!least) return made;
    if (*least < 0.0 || *least > 1.0) return fail(beyond_scores);
    return with(std::move(made), "min_score", {*least, check_.line, {}});
  }

  static constexpr const char* ignored_negation =
      "is judged there as without \"not-\": take that out, or ask for the opposite by `llm-rubric`";
  static constexpr const char* beyond_scores = "has a threshold beyond 0 to 1";
  static constexpr Allowance milliseconds{1e9, false};
  static constexpr Allowance dollars{1e6, true};
  const ForeignCheck& check_;
};

}  // namespace

std::string_view why_not_taken(std::string_view type) {
  const ForeignType* known = find_foreign_type(type);
  if (known == nullptr) return "is no check that promptfoo documents";
  if (type.starts_with("similar:") && known->form == Form::none)
    return "has no counterpart (`similar`, the cosine, is semantic_similarity_to)";
  if (known->form == Form::program) return "has no counterpart (`type: command` runs a program of yours)";
  if (known->form == Form::tools)
    return "has no counterpart (`type: tool_call` checks a tool that the answer calls, and its arguments)";
  return known->form == Form::none ? "has no counterpart" : "";
}

tl::expected<DocumentNode, std::string> expectation_of(const ForeignCheck& check) {
  return ExpectationMaker(check).make();
}

DocumentNode in_order(DocumentNode node) {
  if (auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    for (DocumentEntry& entry : *table) entry.value = in_order(std::move(entry.value));
    std::ranges::stable_sort(*table, {}, &DocumentEntry::key);
  } else if (auto* list = std::get_if<DocumentNode::Array>(&node.value)) {
    for (DocumentNode& one : *list) one = in_order(std::move(one));
  }
  return node;
}

}  // namespace sluice
