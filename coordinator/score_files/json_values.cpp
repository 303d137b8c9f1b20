#include "coordinator/score_files/json_values.hpp"

#include "common/text/text.hpp"
#include "common/text/timestamp.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>

namespace sluice {

std::string_view to_string(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::boolean:
      return "a boolean";
    case JsonNode::Kind::number:
      return "a number";
    case JsonNode::Kind::text:
      return "a text";
    case JsonNode::Kind::object:
      return "an object";
    case JsonNode::Kind::list:
      return "a list";
  }
  return "null";
}

const JsonNode* JsonNode::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &std::pair<std::string, JsonNode>::first);
  return found == members.end() || kind != Kind::object ? nullptr : &found->second;
}

std::string shown(const JsonNode& value) {
  if (value.kind == JsonNode::Kind::boolean) return value.boolean ? "true" : "false";
  if (value.kind == JsonNode::Kind::number) return shortest(value.number);
  if (value.kind == JsonNode::Kind::text) return "the text " + backquoted(value.text);
  return std::string(to_string(value.kind));
}

JsonAt JsonAt::operator[](std::string_view name) const {
  return {node_ != nullptr ? node_->find(name) : nullptr, this, name, std::nullopt};
}

JsonAt JsonAt::operator[](std::size_t index) const {
  return {&node_->members[index].second, this, "", index};
}

JsonAt JsonAt::member(std::size_t index) const {
  const auto& [name, node] = node_->members[index];
  return {&node, this, name, std::nullopt};
}

JsonAt JsonAt::element(const JsonAt& root, std::string_view list, std::size_t index, const JsonNode& node) {
  return {&node, &root, list, index};
}

std::string JsonAt::place() const {
  std::string text = above_ != nullptr ? above_->place() : "";
  if (!name_.empty()) text += (text.empty() ? "" : ".") + escaped_excerpt(name_);
  if (index_) text += "[" + std::to_string(*index_) + "]";
  return text;
}

bool JsonValues::problem(std::uint32_t line, std::string message) {
  if (!problem_ || (line > 0 && line < problem_->line)) problem_ = Finding{file_, line, std::move(message)};
  return false;
}

bool JsonValues::expected(const JsonAt& value, std::string_view what) {
  if (!value) return missing(*value.above(), value.name(), (*value.above())->line);
  return problem(value->line,
                 "`" + value.place() + "` is " + shown(*value) + ", expected " + std::string(what));
}

bool JsonValues::missing(const JsonAt& object, std::string_view name, std::uint32_t line) {
  const std::string place = object.place();
  return problem(line, (place.empty() ? "has" : "`" + place + "` has") + " no `" + std::string(name) +
                           "`, which is required");
}

bool JsonValues::text(const JsonAt& value, std::string& target) {
  if (!value.is(JsonNode::Kind::text) || value->text.empty()) {
    return expected(value, "a text that is not empty");
  }
  target = value->text;
  return true;
}

bool JsonValues::time(const JsonAt& value, std::string& target) {
  if (!value.is(JsonNode::Kind::text) || !parse_rfc3339(value->text)) {
    return expected(value, "a time as of RFC 3339, like \"2025-12-21T12:00:00Z\"");
  }
  target = value->text;
  return true;
}

bool JsonValues::truth(const JsonAt& value, bool& target) {
  if (!value.is(JsonNode::Kind::boolean)) return expected(value, "true or false");
  target = value->boolean;
  return true;
}

bool JsonValues::count(const JsonAt& value, std::uint64_t& target) {
  if (!value || !value->whole) return expected(value, "a whole number from 0");
  target = *value->whole;
  return true;
}

bool JsonValues::number(const JsonAt& value, double& target) {
  const bool in_range = value.is(JsonNode::Kind::number) && value->number >= 0.0 && value->number <= 1.0;
  if (!in_range) return expected(value, "a number from 0 to 1");
  target = value->number + 0.0;  // 0 for -0, which would be written as another text.
  return true;
}

bool JsonValues::fraction(const JsonAt& value, std::optional<double>& target) {
  if (!value) return expected(value, "");
  if (value.is(JsonNode::Kind::null)) return true;
  if (!value.is(JsonNode::Kind::number) || value->number < 0.0 || value->number > 1.0) {
    return expected(value, "a number from 0 to 1, or null");
  }
  target = value->number;
  return true;
}

bool JsonValues::fraction_if_there(const JsonAt& value, std::optional<double>& target) {
  return !value || fraction(value, target);
}

bool JsonValues::digest(const JsonAt& value, std::uint64_t& target) {
  const auto read = value.is(JsonNode::Kind::text) ? digest_from_text(value->text) : std::nullopt;
  if (!read) return expected(value, "16 hex digits");
  target = *read;
  return true;
}

bool JsonValues::list(const JsonAt& value) {
  return value.is(JsonNode::Kind::list) || expected(value, "a list");
}

bool JsonValues::object(const JsonAt& value) {
  return value.is(JsonNode::Kind::object) || expected(value, "an object");
}

bool JsonValues::texts(const JsonAt& object_of, std::map<std::string, std::string, std::less<>>& target) {
  if (!object(object_of)) return false;
  for (std::size_t i = 0; i < object_of->members.size(); ++i) {
    const JsonAt member = object_of.member(i);
    if (!text(member, target[std::string(member.name())])) return false;
  }
  return true;
}

}  // namespace sluice
