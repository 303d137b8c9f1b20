#include "coordinator/suite/score_id.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

constexpr char separator = ':';

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}

/// What is left of a name where writing is no matter.
std::string without_writing(std::string_view name) {
  std::string text;
  bool has_sign = false;
  for (const char c : to_lower(name)) {
    if (c == '_' || c == '-' || c == '.') {
      has_sign = true;
      continue;
    }
    if (has_sign && is_digit(c) && !text.empty() && is_digit(text.back())) text += '-';
    has_sign = false;
    text += c;
  }
  return text;
}

/// The letters of the word at that place.
std::size_t length_of_word(std::string_view name, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_ascii_letter(name[begin - 1])) --begin;
  std::size_t end = at;
  while (end < name.size() && is_ascii_letter(name[end])) ++end;
  return end - begin;
}

}  // namespace

std::string score_text(MetricId metric, std::string_view name) {
  std::string text(info(metric).name);
  if (!name.empty()) text.append(1, separator).append(name);
  return text;
}

bool is_text_of_score(std::string_view text, MetricId metric, std::string_view name) {
  const std::string_view of_metric = info(metric).name;
  if (name.empty()) return text == of_metric;
  return text.size() == of_metric.size() + 1 + name.size() && text.starts_with(of_metric) &&
         text[of_metric.size()] == separator && text.ends_with(name);
}

ScoreParts parts_of_score(std::string_view text) {
  const auto end = text.find(separator);
  const MetricInfo* metric = find_metric(text.substr(0, end));
  if (end == std::string_view::npos) return {metric};
  const std::string_view name = text.substr(end + 1);
  if (metric == nullptr || name.empty() || !takes_name(*metric)) return {};
  return {metric, name};
}

bool takes_name(const MetricInfo& metric) {
  return metric.kind == MetricKind::scored && !is_claims_metric(metric.id);
}

bool differ_in_writing(std::string_view one, std::string_view other) {
  return without_writing(one) == without_writing(other);
}

bool differ_by_a_slip(std::string_view one, std::string_view other) {
  constexpr std::size_t fewest_letters = 4;
  const auto begin = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  std::string_view rest = one.substr(begin);
  std::string_view other_rest = other.substr(begin);
  while (!rest.empty() && !other_rest.empty() && rest.back() == other_rest.back()) {
    rest.remove_suffix(1);
    other_rest.remove_suffix(1);
  }
  const bool is_one_letter = rest.size() <= 1 && other_rest.size() <= 1;
  const bool is_swap =
      rest.size() == 2 && other_rest.size() == 2 && rest[0] == other_rest[1] && rest[1] == other_rest[0];
  return (is_one_letter || is_swap) && std::ranges::all_of(rest, is_small_letter) &&
         std::ranges::all_of(other_rest, is_small_letter) && length_of_word(one, begin) >= fewest_letters &&
         length_of_word(other, begin) >= fewest_letters;
}

}  // namespace sluice
