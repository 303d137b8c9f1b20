#include "worker/providers/json.hpp"

#include "common/text/text.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// Half of a pair of UTF-16 surrogates, as `\uD83D` at the beginning of the text writes it; 0 for anything
/// else.
char32_t escaped_surrogate(std::string_view text) {
  constexpr std::size_t digits = 4;
  if (text.size() < 2 + digits || text[0] != '\\' || text[1] != 'u') return 0;
  std::uint32_t unit = 0;
  const char* const end = text.data() + 2 + digits;
  if (const auto read = std::from_chars(text.data() + 2, end, unit, 16);
      read.ec != std::errc() || read.ptr != end)
    return 0;
  return unit >= 0xD800 && unit <= 0xDFFF ? unit : 0;
}

/// The JSON with U+FFFD in place of each surrogate without its other half. RFC 8259, section 8.2, allows
/// them, and whoever cuts a text in the middle of a character writes one.
std::string with_paired_surrogates(std::string_view json) {
  constexpr std::size_t escape = 6;  // Bytes of `\uXXXX`.
  const auto is_high = [](char32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; };
  const auto is_low = [](char32_t unit) { return unit >= 0xDC00; };
  std::string paired;
  paired.reserve(json.size());
  while (!json.empty()) {
    const std::size_t plain = std::min(json.find('\\'), json.size());
    paired += json.substr(0, plain);
    json.remove_prefix(plain);
    const char32_t first = escaped_surrogate(json);
    if (first == 0) {
      const std::size_t two = std::min<std::size_t>(2, json.size());
      paired += json.substr(0, two);
      json.remove_prefix(two);
    } else if (is_high(first) && is_low(escaped_surrogate(json.substr(escape)))) {
      paired += json.substr(0, 2 * escape);
      json.remove_prefix(2 * escape);
    } else {
      paired += "\\ufffd";
      json.remove_prefix(escape);
    }
  }
  return paired;
}

}  // namespace

bool JsonView::is_true() const {
  bool value = false;
  return element_ && element_->get(value) == simdjson::SUCCESS && value;
}

JsonView JsonView::operator[](std::string_view key) const {
  simdjson::dom::object object;
  simdjson::dom::element found;
  if (!element_ || element_->get(object) != simdjson::SUCCESS) return {};
  if (object.at_key(key).get(found) != simdjson::SUCCESS) return {};
  return JsonView(found);
}

std::vector<std::pair<std::string_view, JsonView>> JsonView::members() const {
  std::vector<std::pair<std::string_view, JsonView>> members;
  simdjson::dom::object object;
  if (!element_ || element_->get(object) != simdjson::SUCCESS) return members;
  for (const auto& [name, value] : object) members.emplace_back(name, JsonView(value));
  return members;
}

JsonView JsonView::at(std::string_view pointer) const {
  simdjson::dom::element found;
  if (!element_ || element_->at_pointer(pointer).get(found) != simdjson::SUCCESS) return {};
  return JsonView(found);
}

JsonView JsonView::first() const {
  simdjson::dom::array array;
  if (!element_ || element_->get(array) != simdjson::SUCCESS) return {};
  const auto begin = array.begin();
  return begin == array.end() ? JsonView() : JsonView(*begin);
}

std::vector<JsonView> JsonView::elements() const {
  std::vector<JsonView> elements;
  simdjson::dom::array array;
  if (!element_ || element_->get(array) != simdjson::SUCCESS) return elements;
  elements.reserve(array.size());
  for (const auto element : array) elements.emplace_back(element);
  return elements;
}

std::optional<std::string_view> JsonView::text() const {
  std::string_view text;
  if (!element_ || element_->get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

std::string JsonView::text_or_empty() const {
  return std::string(text().value_or(std::string_view()));
}

std::optional<std::uint64_t> JsonView::unsigned_integer() const {
  std::uint64_t value = 0;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> JsonView::whole() const {
  if (const auto integer = unsigned_integer()) return integer;
  constexpr double exact_below = 9'007'199'254'740'992.0;  // 2^53.
  const auto value = number();
  if (!value || !(*value >= 0) || !(*value < exact_below) || std::floor(*value) != *value)
    return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::string JsonView::json() const {
  return element_ ? std::string(simdjson::minify(*element_)) : std::string();
}

std::optional<double> JsonView::number() const {
  double value = 0;
  if (!element_ || element_->get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<std::vector<double>> JsonView::numbers() const {
  simdjson::dom::array array;
  if (!element_ || element_->get(array) != simdjson::SUCCESS) return std::nullopt;
  std::vector<double> numbers;
  numbers.reserve(array.size());
  for (const auto element : array) {
    if (element.get(numbers.emplace_back()) != simdjson::SUCCESS) return std::nullopt;
  }
  return numbers;
}

std::optional<JsonDocument> JsonDocument::parse(std::string_view text) {
  // Some gateways send one, which is no JSON but harmless (RFC 8259, section 8.1).
  text = without_byte_order_mark(text);
  JsonDocument document;
  document.parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root;
  if (document.parser_->allocate(text.size(), defaults::max_answer_depth) != simdjson::SUCCESS)
    return std::nullopt;
  auto error = document.parser_->parse(text.data(), text.size()).get(root);
  if (error == simdjson::STRING_ERROR)
    error = document.parser_->parse(with_paired_surrogates(text)).get(root);
  if (error != simdjson::SUCCESS) return std::nullopt;
  document.root_ = JsonView(root);
  return document;
}

}  // namespace sluice
