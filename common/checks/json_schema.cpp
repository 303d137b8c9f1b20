#include "common/checks/json_schema.hpp"

#include "common/checks/code_fence.hpp"
#include "common/checks/detail.hpp"
#include "common/checks/partial_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/checks/schema_preparation.hpp"
#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace sluice {

namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::Adapter;

// --- The bound of time

struct TooManySteps : std::exception {
  const char* what() const noexcept override { return "too many steps"; }
};

/// A schema that is applied to a value is a step. What it then does with the parts of a large value costs
/// parts of one, by how long they take.
constexpr std::size_t step_cost = 64;
constexpr std::size_t value_cost = 8;  ///< Of a value that is compared or copied.
constexpr std::size_t bytes_per_cost = 16;

thread_local std::size_t cost_left = 0;

void spend(std::size_t cost) {
  if (cost > cost_left) throw TooManySteps();
  cost_left -= cost;
}

/// A copy, as the validator gives no other access.
std::string text_of(const Adapter& text) {
  std::string copy = text.asString();
  spend(copy.size() / bytes_per_cost);
  return copy;
}

// --- The keywords that sluice assesses itself

/// What is wrong with a value, if anything.
using Check = std::function<std::optional<std::string>(const Adapter&)>;

class OwnConstraint : public valijson::constraints::PolyConstraint {
 public:
  explicit OwnConstraint(Check check) : check_(std::move(check)) {}

  bool validate(const Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    const auto problem = check_(target);
    if (problem && results) results->pushError(context, *problem);
    return !problem;
  }

 private:
  valijson::constraints::Constraint* cloneInto(void* place) const override {
    return new (place) OwnConstraint(*this);
  }
  std::size_t sizeOf() const override { return sizeof(OwnConstraint); }

  Check check_;
};

/// Makes constraints from a keyword's value.
class Builder : public valijson::ConstraintBuilder {
 public:
  explicit Builder(Check (*make_check)(const Adapter&)) : make_check_(make_check) {}
  valijson::constraints::Constraint* make(const Adapter& value) const override {
    return new OwnConstraint(make_check_(value));
  }

 private:
  Check (*make_check_)(const Adapter&);
};

Check pattern_check(const Adapter& value) {
  const std::string text = value.asString();
  const auto pattern = Pattern::compile(text);
  if (!pattern) throw std::runtime_error(pattern.error().message);
  return [pattern = *pattern, text](const Adapter& target) -> std::optional<std::string> {
    if (!target.isString() || pattern.find(text_of(target))) return std::nullopt;
    return "The text does not match the pattern " + quoted_for_detail(text);
  };
}

/// The formats that are assessed; all others are remarks to the reader, as draft 7 allows. A day is in its
/// month, and the 29th of February in a leap year alone; seconds up to 60 allow for leap seconds.
std::optional<std::string> format_pattern(std::string_view format) {
  const std::string any_year =
      R"(\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])))";
  const std::string leap_year =
      R"((?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
  const std::string date = "(?:" + any_year + '|' + leap_year + ')';
  const std::string time =
      R"((?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))";
  if (format == "date") return '^' + date + '$';
  if (format == "time") return '^' + time + '$';
  if (format == "date-time") return '^' + date + "[Tt]" + time + '$';
  return std::nullopt;
}

Check format_check(const Adapter& value) {
  const std::string format = value.asString();
  const auto text = format_pattern(format);
  if (!text) return [](const Adapter&) { return std::optional<std::string>(); };
  const auto pattern = Pattern::compile(*text);
  if (!pattern) throw std::runtime_error(pattern.error().message);
  return [pattern = *pattern, format](const Adapter& target) -> std::optional<std::string> {
    if (!target.isString() || pattern.find(target.asString())) return std::nullopt;
    return "The text is no " + format;
  };
}

Json json_of(const Adapter& value) {
  spend(value_cost);
  if (value.isArray()) {
    Json array = Json::array();
    value.applyToArray([&](const Adapter& element) {
      array.push_back(json_of(element));
      return true;
    });
    return array;
  }
  if (value.isObject()) {
    Json object = Json::object();
    value.applyToObject([&](const std::string& name, const Adapter& member) {
      object[name] = json_of(member);
      return true;
    });
    return object;
  }
  if (value.isString()) return text_of(value);
  if (value.isBool()) return value.asBool();
  if (value.isInteger()) return value.asInteger();
  if (value.isDouble()) return value.asDouble();
  return nullptr;
}

/// Not as valijson compares, by doubles: whole numbers beyond 2^53 equal their neighbours there. Both are
/// walked up to the first difference: a copy of a large answer for each value of a schema takes minutes.
bool equals(const Adapter& target, const Json& wanted) {
  spend(value_cost);
  if (wanted.is_array()) {
    if (!target.isArray() || target.getArraySize() != wanted.size()) return false;
    std::size_t at = 0;
    return target.applyToArray([&](const Adapter& element) { return equals(element, wanted[at++]); });
  }
  if (wanted.is_object()) {
    if (!target.isObject() || target.getObjectSize() != wanted.size()) return false;
    return target.applyToObject([&](const std::string& name, const Adapter& member) {
      spend(name.size() / bytes_per_cost);
      const auto found = wanted.find(name);
      return found != wanted.end() && equals(member, *found);
    });
  }
  const bool is_structured = target.isArray() || target.isObject();
  return !is_structured && target.isString() == wanted.is_string() && json_of(target) == wanted;
}

Check const_check(const Adapter& value) {
  return [wanted = json_of(value)](const Adapter& target) -> std::optional<std::string> {
    if (equals(target, wanted)) return std::nullopt;
    return "Failed to match expected value set by 'const' constraint.";
  };
}

Check enum_check(const Adapter& value) {
  if (!value.isArray()) throw std::runtime_error("enum is no list of values");
  return [values = json_of(value)](const Adapter& target) -> std::optional<std::string> {
    spend(values.size());
    if (target.isArray() || target.isObject()) {
      const auto is_it = [&](const Json& wanted) { return wanted.is_structured() && equals(target, wanted); };
      if (std::ranges::any_of(values, is_it)) return std::nullopt;
    } else if (std::ranges::find(values, json_of(target)) != values.end()) {
      return std::nullopt;
    }
    return "Failed to match against any enum values.";
  };
}

Check unique_items_check(const Adapter& value) {
  if (!value.isBool()) throw std::runtime_error("uniqueItems is neither true nor false");
  if (!value.asBool()) return [](const Adapter&) { return std::optional<std::string>(); };
  return [](const Adapter& target) -> std::optional<std::string> {
    if (!target.isArray()) return std::nullopt;
    Json items = json_of(target);
    std::sort(items.begin(), items.end());
    if (std::adjacent_find(items.begin(), items.end()) == items.end()) return std::nullopt;
    return "An element of the array stands there twice";
  };
}

/// A number as JSON writes it: digits * 10^exponent. The sign is left out.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Decimal decimal_of(const Adapter& number) {
  if (number.isInteger()) {
    const std::int64_t whole = number.asInteger();
    return {whole < 0 ? 0 - static_cast<std::uint64_t>(whole) : static_cast<std::uint64_t>(whole), 0};
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(number.asDouble()),
                                 std::chars_format::scientific)
                       .ptr;
  Decimal decimal;
  const char* at = text.data();
  for (bool behind_point = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      behind_point = true;
      continue;
    }
    decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    if (behind_point) --decimal.exponent;
  }
  int power = 0;
  if (at != end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, power);
  decimal.exponent += power;
  return decimal;
}

/// Exact, where the quotient of two doubles says nothing: 0.3 is a multiple of 0.1, and of large quotients
/// each looks whole.
bool is_multiple(const Decimal& number, const Decimal& divisor) {
  using Wide = unsigned __int128;
  constexpr int most_digits = 20;  // Of 64 bits.
  const int shift = number.exponent - divisor.exponent;
  if (number.digits == 0) return true;
  if (shift < -most_digits) return false;
  if (shift < 0) {
    Wide unit = divisor.digits;
    for (int i = shift; i < 0; ++i) {
      unit *= 10;
      if (unit > number.digits) return false;
    }
    return number.digits % unit == 0;
  }
  Wide rest = number.digits % divisor.digits;
  for (int i = 0; i < shift && rest != 0; ++i) rest = rest * 10 % divisor.digits;
  return rest == 0;
}

Check multiple_of_check(const Adapter& value) {
  const double shown = value.isNumber() ? value.asDouble() : 0.0;
  if (!(shown > 0.0)) throw std::runtime_error("multipleOf is no number above 0");
  return [divisor = decimal_of(value), shown](const Adapter& target) -> std::optional<std::string> {
    if (!target.isNumber() || is_multiple(decimal_of(target), divisor)) return std::nullopt;
    return "Value should be a multiple of " + shortest(shown);
  };
}

Check integer_check(const Adapter&) {
  return [](const Adapter& target) -> std::optional<std::string> {
    if (!target.isNumber() || target.isInteger()) return std::nullopt;
    if (std::floor(target.asDouble()) == target.asDouble()) return std::nullopt;
    return "Value should be a whole number";
  };
}

Check step_check(const Adapter&) {
  return [](const Adapter&) -> std::optional<std::string> {
    spend(step_cost);
    return std::nullopt;
  };
}

// --- Compiling

Result<std::shared_ptr<const valijson::Schema>> parse(const Json& prepared) {
  cost_left = std::numeric_limits<std::size_t>::max();  // A schema is small.
  try {
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.addConstraintBuilder(std::string(own_pattern), new Builder(pattern_check));
    parser.addConstraintBuilder(std::string(own_format), new Builder(format_check));
    parser.addConstraintBuilder(std::string(own_const), new Builder(const_check));
    parser.addConstraintBuilder(std::string(own_enum), new Builder(enum_check));
    parser.addConstraintBuilder(std::string(own_unique_items), new Builder(unique_items_check));
    parser.addConstraintBuilder(std::string(own_multiple_of), new Builder(multiple_of_check));
    parser.addConstraintBuilder(std::string(own_integer), new Builder(integer_check));
    parser.addConstraintBuilder(std::string(own_step), new Builder(step_check));
    auto schema = std::make_shared<valijson::Schema>();
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(prepared), *schema);
    return schema;
  } catch (const std::exception& error) {
    std::string why = excerpt(to_valid_utf8(error.what()), 200);
    while (why.ends_with('.')) why.pop_back();
    return fail(Reason::fixture_invalid, "the schema is wrong: " + why);
  }
}

/// The document, or what is wrong with it as JSON.
struct ReadJson {
  Json value;
  std::string problem;
  bool gave_up = false;  ///< It may be JSON.
};

/// `, after "..."` with the last characters that were read; nothing at the very beginning.
std::string after(std::string_view text) {
  std::size_t start =
      text.size() > defaults::shown_before_problem ? text.size() - defaults::shown_before_problem : 0;
  while (start < text.size() && continues_utf8(text[start])) ++start;
  return start == text.size() ? "" : ", after " + quoted_for_detail(text.substr(start));
}

/// `from` is where the JSON begins in the text that positions (from 1) are counted in.
ReadJson read_json(std::string_view text, std::size_t from) {
  ReadJson read;
  if (text.empty()) {
    read.problem = "is empty";
  } else if (nests_deeper_than(text, defaults::max_checked_depth)) {
    read.problem = "nests deeper than " + std::to_string(defaults::max_checked_depth) + " levels";
    read.gave_up = true;
  } else {
    try {
      read.value = Json::parse(text.begin(), text.end());
      normalise_numbers(read.value);
    } catch (const Json::parse_error& error) {
      const auto read_bytes = error.byte > 0 ? error.byte - 1 : 0;  // All before the offending one.
      read.problem = read_bytes >= text.size()
                         ? "is not JSON: it ends too early"
                         : "is not JSON: it goes wrong at byte " + std::to_string(from + read_bytes + 1);
      read.problem += after(text.substr(0, read_bytes));
    } catch (const Json::exception&) {
      read.problem = "is not JSON: it holds a number that is too large";
    }
  }
  return read;
}

/// `/a/0: The value ...` from the validator's words for what it met first, which is the innermost problem.
std::string first_problem(const valijson::ValidationResults& results) {
  if (results.begin() == results.end()) return "does not fit the schema";
  const auto& first = *results.begin();
  std::vector<std::string> path;
  for (std::size_t i = 1; i < first.context.size(); ++i) {
    const auto& step = first.context[i];  // In brackets.
    path.push_back(step.size() >= 2 ? step.substr(1, step.size() - 2) : step);
  }
  std::string_view words = first.description;
  if (words.ends_with('.')) words.remove_suffix(1);
  return "does not fit the schema at " + pointer_text(path) + ": " + std::string(words);
}

/// Throws TooManySteps.
bool fits(const valijson::Schema& schema, const Json& document, std::size_t steps,
          valijson::ValidationResults* results) {
  cost_left = steps * step_cost;
  return valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(document), results);
}

std::string explained(const valijson::Schema& schema, const Json& document) {
  try {
    valijson::ValidationResults results;
    fits(schema, document, defaults::max_explained_steps, &results);
    return first_problem(results);
  } catch (const TooManySteps&) {
    return "does not fit the schema";
  }
}

}  // namespace

struct JsonSchema::Compiled {
  std::shared_ptr<const valijson::Schema> schema;
  std::set<std::string> other_formats;
};

Result<JsonSchema> JsonSchema::compile(std::string_view schema_text) {
  return compile(schema_text, false);
}

Result<JsonSchema> JsonSchema::compile_partial(std::string_view schema_text) {
  return compile(schema_text, true);
}

Result<JsonSchema> JsonSchema::compile(std::string_view schema_text, bool is_partial) {
  if (schema_text.size() > defaults::max_schema_bytes) {
    return fail(Reason::fixture_invalid, "the schema is larger than 1 MiB");
  }
  auto read = read_json(trimmed(schema_text), 0);
  if (!read.problem.empty()) return fail(Reason::fixture_invalid, "the schema " + read.problem);
  if (is_partial) read.value = partial_schema(read.value);
  auto formats = prepare_schema(read.value);
  if (!formats) return fail(std::move(formats.error()));
  auto schema = parse(read.value);
  if (!schema) return fail(schema.error());
  std::erase_if(*formats, [](const std::string& one) { return format_pattern(one).has_value(); });
  return JsonSchema(std::make_shared<Compiled>(Compiled{std::move(*schema), std::move(*formats)}));
}

const std::set<std::string>& JsonSchema::other_formats() const {
  return compiled_->other_formats;
}

Result<SchemaFinding> JsonSchema::compare(std::string_view document_text) const {
  const auto text = unfenced(document_text);
  const auto read = read_json(text, static_cast<std::size_t>(text.data() - document_text.data()));
  if (!read.problem.empty()) return SchemaFinding{read.problem, read.gave_up};
  const valijson::Schema& schema = *compiled_->schema;
  try {
    if (fits(schema, read.value, defaults::max_check_steps, nullptr)) return SchemaFinding{};
    if (text.size() > defaults::max_explained_bytes) return SchemaFinding{"does not fit the schema"};
    return SchemaFinding{explained(schema, read.value)};
  } catch (const TooManySteps&) {
    return SchemaFinding{
        "takes more than " + std::to_string(defaults::max_check_steps) + " steps to compare with the schema",
        true};
  } catch (const std::exception& error) {
    return fail(Reason::internal_error, std::string("the schema's validator failed: ") + error.what());
  }
}

}  // namespace sluice
