#include "coordinator/gate/meta_builder.hpp"

#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

nlohmann::json document_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return nullptr;
    case JsonValue::Kind::boolean:
      return value.boolean;
    case JsonValue::Kind::number:
      if (value.whole) return *value.whole;
      if (value.negative) return *value.negative;
      return value.number;
    case JsonValue::Kind::text:
      return std::string(value.text);
    case JsonValue::Kind::object:
      return nlohmann::json::object();
    case JsonValue::Kind::list:
      return nlohmann::json::array();
  }
  return nullptr;
}

}  // namespace

struct MetaBuilder::State {
  nlohmann::json root;
  std::vector<nlohmann::json*> open;  ///< Innermost last.
  std::string name;                   ///< Of the value that comes next in an object.
  std::size_t bytes = 0;
};

MetaBuilder::MetaBuilder() : state_(std::make_unique<State>()) {}
MetaBuilder::~MetaBuilder() = default;
MetaBuilder::MetaBuilder(MetaBuilder&&) noexcept = default;
MetaBuilder& MetaBuilder::operator=(MetaBuilder&&) noexcept = default;

bool MetaBuilder::key(std::string_view name) {
  state_->name = name;
  state_->bytes += name.size();
  return !state_->open.back()->contains(name);
}

void MetaBuilder::value(const JsonValue& value) {
  state_->bytes += 1 + value.text.size();
  nlohmann::json* place = &state_->root;
  if (!state_->open.empty()) {
    nlohmann::json& parent = *state_->open.back();
    if (parent.is_object()) {
      place = &parent[state_->name];
    } else {
      place = &parent.emplace_back();
    }
  }
  *place = document_of(value);
  if (place->is_structured()) state_->open.push_back(place);
}

bool MetaBuilder::close() {
  state_->open.pop_back();
  return state_->open.empty();
}

bool MetaBuilder::too_long() const {
  return state_->bytes > max_bytes;
}

std::string MetaBuilder::canonical() const {
  // Foreign bytes may stand in it, which dump would otherwise answer with an exception.
  return state_->root.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string canonical_meta(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  MetaBuilder builder;
  builder.value({.kind = JsonValue::Kind::object});
  for (const auto& [name, text] : members) {
    builder.key(name);
    builder.value({.kind = JsonValue::Kind::text, .text = text});
  }
  return builder.canonical();
}

}  // namespace sluice
