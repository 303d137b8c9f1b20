#pragma once

#include "common/error.hpp"
#include "common/model/votes.hpp"

#include <string_view>

namespace sluice {

/// How the answers of one kind of judge are written.
struct JudgeAnswerForm {
  std::string_view what;   ///< "vote"
  std::string_view score;  ///< The member with a number from 0 to 1: it stands there once.
  std::string_view words;  ///< The member with a text; it may be missing or null.
  Reason unreadable = Reason::judge_unparsable;
};

/// Reads a judge's answer: a JSON object, perhaps in a code fence, with the form's members. Other members are
/// left aside. Error: the form's. Thread-safe.
Result<Vote> read_judge_answer(std::string_view text, const JudgeAnswerForm& form);

}  // namespace sluice
