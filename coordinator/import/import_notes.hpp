#pragma once

#include "common/documents/finding.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// What an import leaves out or changes. The same said of several places stands once, at the first. And what
/// it cannot do without.
class ImportNotes {
 public:
  void add(const std::string& file, std::uint32_t line, std::string message);
  /// Without what is wrong here nothing is imported.
  void add_error(Finding error) { errors_.push_back(std::move(error)); }
  std::vector<Finding> take_errors() { return std::exchange(errors_, {}); }
  /// By file and line, each with the number of further places.
  std::vector<Finding> take();

 private:
  struct Note {
    Finding finding;
    std::set<std::uint32_t> lines;  ///< All at which the same is said.
  };
  std::vector<Note> notes_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  ///< Of notes, by file and message.
  std::vector<Finding> errors_;
};

}  // namespace sluice
