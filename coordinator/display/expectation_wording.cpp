#include "coordinator/display/expectation_wording.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sluice::wording {
namespace {

/// The keys of the numbers that a suite gives; what the run adds to them has none.
std::vector<std::string_view> keys_of_numbers(MetricId metric) {
  switch (positive(metric)) {
    case MetricId::levenshtein:
      return {"max_distance"};
    case MetricId::rouge_n:
      return {"n", "min_score"};
    case MetricId::latency:
      return {"max_ms"};
    case MetricId::cost:
      return {"max_dollars"};
    case MetricId::all_of:
      return {"pass_mark"};
    default:
      return {};
  }
}

/// Cut between words where it is long: redaction does not know half of a secret.
std::string whole_words(std::string_view text) {
  if (text.size() <= defaults::max_claim_bytes) return excerpt(text, defaults::max_claim_bytes);
  const auto blank = text.substr(0, defaults::max_claim_bytes).find_last_of(" \n");
  return excerpt(text.substr(0, blank == std::string_view::npos ? 0 : blank), defaults::max_claim_bytes) +
         "...";
}

/// JSON with a space between members, so that a line can end there and not within a word; cut where it is
/// long.
std::string spaced_json(std::string_view json) {
  std::string spaced;
  bool is_text = false;
  for (std::size_t i = 0; i < json.size() && spaced.size() <= defaults::max_claim_bytes; ++i) {
    spaced += json[i];
    if (is_text && json[i] == '\\' && i + 1 < json.size()) {
      spaced += json[++i];
    } else if (json[i] == '"') {
      is_text = !is_text;
    } else if (!is_text && (json[i] == ',' || json[i] == ':')) {
      spaced += ' ';
    }
  }
  return whole_words(spaced);
}

/// `look_up {"order": 17}, refund {} in this order`
std::string calls_in_words(const TextExpectation& what) {
  std::string words;
  for (std::size_t i = 0; i + 1 < what.texts.size(); i += 2)
    words += (i == 0 ? "" : ", ") + what.texts[i] + ' ' + spaced_json(what.texts[i + 1]);
  const bool have_order = !what.numbers.empty() && what.numbers.front() != 0.0;
  return have_order ? words + " in this order" : words;
}

std::string texts_in_words(const TextExpectation& what) {
  switch (positive(what.metric)) {
    case MetricId::tool_call:
    case MetricId::tool_calls:
      return calls_in_words(what);
    case MetricId::label:
      return quoted_texts({what.texts.at(0)}) + (what.texts.at(1).empty() ? "" : " at " + what.texts[1]);
    case MetricId::json_schema:
    case MetricId::contains_json:
      return spaced_json(what.texts.empty() ? "" : what.texts.front());
    default:
      return quoted_texts(what.texts);
  }
}

}  // namespace

std::string quoted_texts(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) {
    if (list.size() > defaults::max_claim_bytes) return list + ", ...";
    list += (list.empty() ? "\"" : ", \"") + whole_words(text) + '"';
  }
  return list;
}

std::string expected_in_words(const TextExpectation& what) {
  return expected_in_words(what, std::string(info(what.metric).name));
}

std::string expected_in_words(const TextExpectation& what, std::string called) {
  std::string words = std::move(called);
  // The other texts of a command are its parameters and the hash of its files.
  if (is_command_metric(what.metric)) return words + ' ' + what.texts.at(0);
  if (!what.texts.empty()) words += ' ' + texts_in_words(what);
  const auto keys = keys_of_numbers(what.metric);
  for (std::size_t i = 0; i < std::min(keys.size(), what.numbers.size()); ++i)
    words.append(" ").append(keys[i]).append(" ").append(shortest(what.numbers[i]));
  for (const TextExpectation& part : what.parts)
    words += (&part == what.parts.data() ? " (" : "; ") + expected_in_words(part);
  return what.parts.empty() ? words : words + ")";
}

std::string asked_in_words(std::string called, const RubricTexts& texts) {
  const auto quoted = [](std::string_view text) { return quoted_texts({std::string(text)}); };
  if (texts.criteria.empty() && texts.reference.empty())
    return texts.context.empty() ? called : called + ' ' + quoted(texts.context);
  if (!texts.criteria.empty()) called += ' ' + quoted(texts.criteria);
  if (texts.reference.empty()) return called;
  return called + (texts.criteria.empty() ? " " : ", reference ") + quoted(texts.reference);
}

}  // namespace sluice::wording
