#pragma once

#include "common/documents/document.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace sluice {

/// All that a document holds, with its lines and to the last bit: for comparing what two readers make of a
/// text.
inline std::string document_text(const DocumentNode& node) {
  const auto of = [](const auto& value) -> std::string {
    using Value = std::decay_t<decltype(value)>;
    std::string text;
    if constexpr (std::is_same_v<Value, DocumentNode::Table>) {
      for (const DocumentEntry& entry : value)
        text += entry.key + "@" + std::to_string(entry.line) + "=" + document_text(entry.value) + ",";
      return "{" + text + "}";
    } else if constexpr (std::is_same_v<Value, DocumentNode::Array>) {
      for (const DocumentNode& element : value) text += document_text(element) + ",";
      return "[" + text + "]";
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return "\"" + value + "\"";
    } else if constexpr (std::is_same_v<Value, double>) {
      return "double " + std::to_string(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<Value, DocumentDate>) {
      return "date " + value.text;
    } else if constexpr (std::is_same_v<Value, DocumentNull>) {
      return "null";
    } else if constexpr (std::is_same_v<Value, bool>) {
      return value ? "true" : "false";
    } else {
      return std::to_string(value);
    }
  };
  return std::to_string(node.line) + ":" + std::visit(of, node.value);
}

}  // namespace sluice
