#include "worker/scoring/answer_checks.hpp"

#include "common/checks/detail.hpp"
#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"
#include "common/model/expectation.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "common/text/words.hpp"
#include "worker/scoring/text_distance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using JsonValue = nlohmann::json;

/// Where the value that begins there ends: its brackets are closed, those in strings apart. 0: nowhere.
std::size_t end_of_json(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return 0;
}

/// Words that follow one another, where they stand.
using Run = std::span<const std::string>;

struct RunOrder {
  bool operator()(Run a, Run b) const { return std::ranges::lexicographical_compare(a, b); }
};

/// Calls `use` with each run of n words.
void for_each_run(const std::vector<std::string>& words, std::size_t n, const auto& use) {
  for (std::size_t at = 0; at + n <= words.size(); ++at) use(Run(words).subspan(at, n));
}

bool holds(const JsonValue& given, const JsonValue& wanted) {
  if (wanted.is_object()) {
    return given.is_object() && std::ranges::all_of(wanted.items(), [&](const auto& member) {
             const auto found = given.find(member.key());
             return found != given.end() && holds(*found, member.value());
           });
  }
  if (wanted.is_array()) {
    return given.is_array() && std::ranges::equal(given, wanted, holds);
  }
  return given == wanted;
}

/// Some servers write null where there are none.
JsonValue arguments_of(const ToolCall& call) {
  auto given = parse_tree<JsonValue>(call.arguments);
  if (given.is_null()) given = JsonValue::object();
  return given;
}

bool is_too_deep(const ToolCall& call) {
  return nests_deeper_than(call.arguments, defaults::max_checked_depth);
}

std::string quoted_call(const ToolCall& call) {
  return quoted_for_detail(call.name + " " + call.arguments);
}

/// That of a name and its arguments, which follow one another in `wanted`.
std::string quoted_wanted(const std::vector<std::string>& wanted, std::size_t i) {
  return quoted_for_detail(wanted[2 * i] + " " + wanted[2 * i + 1]);
}

/// Of arguments that are no object: nobody can make such a call.
std::string broken_call(const ToolCall& call, const JsonValue& given) {
  const std::string why = is_too_deep(call)
                              ? "nest deeper than " + std::to_string(defaults::max_checked_depth) + " levels"
                          : given.is_discarded() ? "are not JSON"
                                                 : "are no JSON object";
  return "calls " + one_line(call.name) + " with arguments that " + why + ": " +
         quoted_for_detail(call.arguments);
}

}  // namespace

Result<SchemaFinding> compare_json_in(std::string_view answer, const JsonSchema& schema) {
  // What stands between brackets is looked at again from each of them.
  constexpr int most_beginnings = 256;
  constexpr std::size_t most_bytes = 4 * defaults::max_answer_bytes;
  SchemaFinding found;
  std::size_t at = answer.find_first_of("{[");
  std::size_t bytes = 0;
  int tries = 0;
  for (; at != std::string_view::npos && tries < most_beginnings && bytes < most_bytes; ++tries) {
    const std::size_t end = end_of_json(answer, at);
    bytes += (end == 0 ? answer.size() : end) - at;
    const std::string_view candidate = answer.substr(at, end == 0 ? 0 : end - at);
    if (JsonValue::accept(candidate)) {
      auto one = schema.compare(candidate);
      if (!one || one->problem.empty()) return one;
      if (found.problem.empty()) found.problem = std::move(one->problem);
      found.gave_up = found.gave_up || one->gave_up;
    }
    at = answer.find_first_of("{[", at + 1);
  }
  if (found.problem.empty()) found.problem = "no JSON object or array stands in it";
  if (at != std::string_view::npos) {
    found.problem += " (looked at its first " + std::to_string(tries) + " brackets alone)";
    found.gave_up = true;
  }
  return found;
}

std::string comparable(std::string_view answer) {
  return std::string(trimmed(with_unix_line_ends(std::string(answer))));
}

std::string problem_with_distance(std::string_view answer, const std::vector<std::string>& texts,
                                  double most) {
  const auto bound = static_cast<std::size_t>(most);
  const auto is_near = [&](const std::string& text) {
    return distance_within(trimmed(answer), trimmed(text), bound).has_value();
  };
  if (std::ranges::any_of(texts, is_near)) return "";
  return "more than " + std::to_string(bound) + " changes from " + quoted_for_detail(texts.front());
}

std::optional<double> rouge_n(std::string_view answer, const std::vector<std::string>& texts, std::size_t n) {
  const auto count = [n](const auto& words) { return words.size() < n ? 0 : words.size() - n + 1; };
  const auto given = words_of(answer);
  std::optional<double> best;
  for (const std::string& text : texts) {
    const auto wanted = words_of(text);
    if (wanted.size() < n) continue;
    // Of the text's runs alone: an answer may have very many.
    std::map<Run, std::size_t, RunOrder> left;
    for_each_run(wanted, n, [&](Run run) { ++left[run]; });
    std::size_t shared = 0;
    for_each_run(given, n, [&](Run run) {
      const auto found = left.find(run);
      if (found == left.end() || found->second == 0) return;
      --found->second;
      ++shared;
    });
    const double score =
        2.0 * static_cast<double>(shared) / static_cast<double>(count(given) + count(wanted));
    best = std::max(best.value_or(0.0), std::round(score * 1e6) / 1e6);
  }
  return best;
}

std::string problem_with_calls(std::span<const ToolCall> calls, const std::vector<std::string>& wanted,
                               bool turned_round) {
  const auto arguments = parse_tree<JsonValue>(wanted[1]);
  std::string made;
  std::string broken;
  for (const ToolCall& call : calls) {
    const JsonValue given = arguments_of(call);
    if (call.name == wanted[0]) {
      if (given.is_object() ? holds(given, arguments) : turned_round) return "";
      if (!given.is_object() && broken.empty()) broken = broken_call(call, given);
    }
    made += (made.empty() ? "calls " : ", ") + quoted_call(call);
  }
  if (!broken.empty()) return broken;
  return (made.empty() ? "calls no tool" : made) + ", not " + quoted_wanted(wanted, 0);
}

namespace {

/// Which calls of an answer fit which of those that are asked for.
class CallMatch {
 public:
  CallMatch(std::span<const ToolCall> calls, const std::vector<std::string>& wanted, bool turned_round)
      : wanted_count_(wanted.size() / 2), fits_(calls.size()) {
    std::vector<JsonValue> arguments;
    for (std::size_t i = 0; i < wanted_count_; ++i)
      arguments.push_back(parse_tree<JsonValue>(wanted[2 * i + 1]));
    for (std::size_t call = 0; call < calls.size(); ++call) {
      const JsonValue given = arguments_of(calls[call]);
      for (std::size_t i = 0; i < wanted_count_; ++i) {
        const bool is_of_name = calls[call].name == wanted[2 * i];
        fits_[call].push_back(is_of_name && (given.is_object() ? holds(given, arguments[i]) : turned_round));
      }
    }
  }

  bool fits(std::size_t call, std::size_t wanted) const { return fits_[call][wanted]; }

  /// For each that is asked for a call of its own, for as many as there can be one.
  std::vector<std::optional<std::size_t>> assign() const {
    std::vector<std::optional<std::size_t>> call_of(wanted_count_);
    for (std::size_t call = 0; call < fits_.size(); ++call) {
      std::vector<bool> tried(wanted_count_);
      place(call, call_of, tried);
    }
    return call_of;
  }

 private:
  /// Moves calls that were placed before to others that they fit, until there is room for this one.
  bool place(std::size_t call, std::vector<std::optional<std::size_t>>& call_of,
             std::vector<bool>& tried) const {
    for (std::size_t i = 0; i < wanted_count_; ++i) {
      if (!fits(call, i) || tried[i]) continue;
      tried[i] = true;
      if (call_of[i] && !place(*call_of[i], call_of, tried)) continue;
      call_of[i] = call;
      return true;
    }
    return false;
  }

  std::size_t wanted_count_;
  std::vector<std::vector<bool>> fits_;
};

std::string problem_with_order(std::span<const ToolCall> calls, const std::vector<std::string>& wanted,
                               const CallMatch& match) {
  for (std::size_t i = 0; i < std::max(calls.size(), wanted.size() / 2); ++i) {
    const std::string number = "call " + std::to_string(i + 1);
    if (i >= calls.size()) return "makes no " + number + ", which is to be " + quoted_wanted(wanted, i);
    if (i >= wanted.size() / 2) return number + " is one too many: " + quoted_call(calls[i]);
    if (!match.fits(i, i))
      return number + " is " + quoted_call(calls[i]) + ", not " + quoted_wanted(wanted, i);
  }
  return "";
}

}  // namespace

std::string problem_with_call_list(std::span<const ToolCall> calls, const std::vector<std::string>& wanted,
                                   bool in_order, bool turned_round) {
  if (calls.empty()) return "calls no tool, not " + quoted_wanted(wanted, 0);
  // More of them fit nothing in any case, and an answer may have very many.
  const auto looked_at = calls.first(std::min(calls.size(), 2 * most_listed_calls));
  const CallMatch match(looked_at, wanted, turned_round);
  if (in_order) return problem_with_order(looked_at, wanted, match);
  const auto call_of = match.assign();
  std::string problem;
  const auto missing = std::ranges::find_if(call_of, [](const auto& call) { return !call; });
  if (missing != call_of.end() && looked_at.size() == calls.size()) {
    const auto which = static_cast<std::size_t>(missing - call_of.begin());
    const auto call_at = [&](std::size_t i) { return std::span(wanted).subspan(2 * i, 2); };
    bool is_repeated = false;  // An equal one before it has its call.
    for (std::size_t i = 0; i < which; ++i) is_repeated |= std::ranges::equal(call_at(i), call_at(which));
    problem = "does not call " + quoted_wanted(wanted, which) + (is_repeated ? " once more" : "");
  }
  for (std::size_t call = 0; call < looked_at.size(); ++call) {
    if (std::ranges::find(call_of, std::optional(call)) != call_of.end()) continue;
    if (!problem.empty()) problem += ", and ";
    const JsonValue given = arguments_of(looked_at[call]);
    return problem + (given.is_object() ? "calls " + quoted_call(looked_at[call]) + " besides"
                                        : broken_call(looked_at[call], given));
  }
  return problem;
}

Result<SchemaFinding> compare_arguments(const ToolCall& call, const JsonSchema& schema) {
  const JsonValue given = arguments_of(call);
  if (!given.is_object() && !is_too_deep(call)) return SchemaFinding{broken_call(call, given)};
  auto found = schema.compare(given.empty() ? "{}" : call.arguments);
  if (found && !found->problem.empty())
    found->problem = "the call " + quoted_call(call) + " " + found->problem;
  return found;
}

std::string problem_with_latency(std::uint32_t took_ms, double most_ms) {
  if (took_ms <= most_ms) return "";
  return "took " + std::to_string(took_ms) + " ms, more than " + shortest(most_ms);
}

bool costs_nothing(const std::vector<double>& numbers) {
  return numbers[1] == 0 && numbers[2] == 0;
}

std::string problem_with_cost(const Usage& usage, const std::vector<double>& numbers) {
  constexpr double million = 1e6;
  const double dollars = (static_cast<double>(usage.input_tokens) * numbers[1] +
                          static_cast<double>(usage.output_tokens) * numbers[2]) /
                         million;
  // In binary a sum at its limit may be a trifle above it.
  constexpr double nano = 1e9;
  const double spent = std::round(dollars * nano);
  if (spent <= std::round(numbers[0] * nano)) return "";
  return "cost $" + in_digits(spent / nano) + ", more than $" + in_digits(numbers[0]);
}

}  // namespace sluice
