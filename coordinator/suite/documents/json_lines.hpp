#pragma once

#include "common/documents/document.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// Goes through a text of JSON values, one a line. Blank lines count and are passed over; a byte order mark
/// and CR LF are fine. The text must outlive it.
class JsonLines {
 public:
  struct Line {
    std::uint32_t number = 0;  ///< From 1.
    tl::expected<DocumentNode, DocumentError> value;
  };

  explicit JsonLines(std::string_view text);

  /// The next line that holds anything; nothing at the end.
  std::optional<Line> next();

 private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
};

}  // namespace sluice
