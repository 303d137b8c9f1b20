#pragma once

#include "common/documents/finding.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// What an import leaves out or changes. The same said of several places stands once, at the first.
class ImportNotes {
 public:
  void add(const std::string& file, std::uint32_t line, std::string message);
  /// By file and line, each with the number of further places.
  std::vector<Finding> take();

 private:
  struct Note {
    Finding finding;
    std::size_t further = 0;
  };
  std::vector<Note> notes_;
};

}  // namespace sluice
