#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

/// A text packed in one piece (zstd), for as long as it is only kept.
class PackedText {
 public:
  explicit PackedText(std::string_view text);
  /// What it takes now.
  std::size_t bytes() const { return packed_.size(); }
  /// internal_error if it could not be packed, for which memory was missing.
  Result<std::string> unpacked() const;

 private:
  std::size_t size_;
  std::string packed_;
};

}  // namespace sluice
