#pragma once

#include "coordinator/import/value_renderer.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace sluice {

/// A test's description as promptfoo shows it: with its variables filled in. As it stands where one of them
/// has no value.
std::string filled_name(const std::string& description, ValueRenderer renderer);

/// Gives each test an id of its own.
class TestIds {
 public:
  /// Of its name, or of its number where that has no letters that an id may have.
  std::string next(const std::string& name);

 private:
  std::set<std::string, std::less<>> ids_;
  std::map<std::string, std::size_t, std::less<>> same_;
  std::size_t number_ = 0;
};

}  // namespace sluice
