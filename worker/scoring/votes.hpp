#pragma once

#include "common/error.hpp"
#include "common/model/judge.hpp"
#include "common/model/votes.hpp"

#include <string_view>
#include <vector>

namespace sluice {

/// The votes that a judge metric was given.
struct GivenVotes {
  std::vector<Vote> votes;  ///< By their index; as many as its samples.
  JudgeSource source = JudgeSource::judge;
};

/// Those of a unit: by its tasks, and by the judge metrics of each.
using UnitVotes = std::vector<std::vector<GivenVotes>>;

/// Reads a judge's answer: a JSON object, perhaps in a code fence, with a `score` from 0 to 1 and, if it
/// likes, a `rationale`. Other members are left aside. Error: judge_unparsable. Thread-safe.
Result<Vote> read_vote(std::string_view text);

/// A vote without a model: the share of the answer's words that stand in what the metric has it compared with
/// (the context, the reference, the criteria, or the prompt); of a metric that judges the context that of the
/// reference's words in the context, or of the context's in the prompt. For trying out: it knows no meaning.
/// Pure.
Vote fake_vote(const JudgeExpectation& expectation, const JudgedQuestion& question, std::string_view answer);

}  // namespace sluice
