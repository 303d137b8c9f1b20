#pragma once

#include "common/model/completion.hpp"

#include <string>

namespace sluice {

/// An answer that an application recorded (docs/answers.md): nobody is called for it.
struct RecordedAnswer {
  std::string text;
  std::string model;  ///< That answered, as it was recorded; may be empty.
  Usage usage;        ///< What it took then, if that was recorded.
  friend bool operator==(const RecordedAnswer&, const RecordedAnswer&) = default;
};

}  // namespace sluice
