#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Finds the example whose embedding is nearest to another, by cosine and exactly: each is compared. 1,000
/// examples take some 3 ms (docs/retrieval.md). Immutable; thread-safe.
class ExampleIndex {
 public:
  /// `ids` and `vectors` of the examples; vectors of one dimension.
  ExampleIndex(std::vector<std::string> ids, std::vector<std::vector<float>> vectors);

  struct Nearest {
    std::size_t example = 0;  ///< Its position.
    double score = 0.0;       ///< 0..1, in whole billionths.
  };
  /// The nearest that is not called `but`; of those that are as near, in billionths, the first. Nothing if
  /// there is no other.
  std::optional<Nearest> nearest(std::span<const float> query, std::string_view but = {}) const;

 private:
  std::vector<std::string> ids_;
  std::vector<std::vector<float>> vectors_;
  std::vector<double> squares_;  ///< Of their lengths.
};

}  // namespace sluice
