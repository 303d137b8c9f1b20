#pragma once

#include "common/model/completion.hpp"

#include <string>
#include <vector>

namespace sluice {

/// Completion::finish_reason of a recorded answer.
inline constexpr const char* recorded_finish = "recorded";

/// An answer that an application recorded (docs/answers.md): nobody is called for it.
struct RecordedAnswer {
  std::string text;
  std::string model;                 ///< That answered, as it was recorded; may be empty.
  Usage usage;                       ///< What it took then, if that was recorded.
  std::vector<ToolCall> calls = {};  ///< As Completion::calls: each is a line of the text as well.
  friend bool operator==(const RecordedAnswer&, const RecordedAnswer&) = default;
};

}  // namespace sluice
