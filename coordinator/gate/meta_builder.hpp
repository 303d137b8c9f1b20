#pragma once

#include "coordinator/gate/json_value.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

/// Builds the `meta` of a baseline's entry from a parser's events and gives its canonical text: keys sorted
/// by bytes, no white space, numbers in a short form that reads back as the same. REQUIRES: events of one
/// whole JSON object.
class MetaBuilder {
 public:
  /// Longest `meta`, counted as a byte for each value beside those of keys and texts.
  static constexpr std::size_t max_bytes = 64 << 10;

  MetaBuilder();
  ~MetaBuilder();
  MetaBuilder(MetaBuilder&&) noexcept;
  MetaBuilder& operator=(MetaBuilder&&) noexcept;

  /// False if the key stands in its object already.
  bool key(std::string_view name);
  void value(const JsonValue& value);
  /// Closes the innermost object or list; true if that was the whole.
  bool close();
  bool too_long() const;
  std::string canonical() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The canonical text of an object of texts.
std::string canonical_meta(std::initializer_list<std::pair<std::string_view, std::string_view>> members);

}  // namespace sluice
