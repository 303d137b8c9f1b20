#include "worker/providers/json.hpp"

#include "worker/defaults.hpp"

#include <utility>

namespace sluice {

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

std::string JsonView::json() const {
  return element_ ? std::string(simdjson::minify(*element_)) : std::string();
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
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  JsonDocument document;
  document.parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root;
  if (document.parser_->allocate(text.size(), defaults::max_answer_depth) != simdjson::SUCCESS)
    return std::nullopt;
  if (document.parser_->parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  document.root_ = JsonView(root);
  return document;
}

}  // namespace sluice
