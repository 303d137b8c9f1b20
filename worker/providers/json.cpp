#include "worker/providers/json.hpp"

#include "common/json_depth.hpp"

#include <utility>

namespace sluice {

std::optional<Json> parse_json(std::string_view text) {
  if (nests_deeper_than(text, max_json_depth)) return std::nullopt;
  Json document = Json::parse(text.data(), text.data() + text.size(), nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

Json* member(Json* node, const char* key) {
  if (node == nullptr || !node->is_object()) return nullptr;
  const auto found = node->find(key);
  return found == node->end() ? nullptr : &*found;
}

Json* first(Json* node) {
  if (node == nullptr || !node->is_array() || node->empty()) return nullptr;
  return &node->front();
}

std::string* text_of(Json* node) {
  return node == nullptr ? nullptr : node->get_ptr<std::string*>();
}

std::string take_text(Json* node) {
  std::string* text = text_of(node);
  return text == nullptr ? std::string() : std::move(*text);
}

std::uint64_t count_of(Json* node) {
  if (node == nullptr) return 0;
  if (const auto* number = node->get_ptr<const Json::number_unsigned_t*>()) return *number;
  return 0;
}

}  // namespace sluice
