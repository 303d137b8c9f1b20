#pragma once

#include "common/model/votes.hpp"
#include "coordinator/output/json_writer.hpp"

namespace sluice {

/// What each vote says, in an object that is open.
inline void write_each_vote(Json& json, const JudgeScore& judged) {
  json.key("samples").open('[');
  for (const CountedVote& vote : judged.votes) json.value(vote.passed);
  json.close(']');
  json.key("scores").open('[');
  for (const CountedVote& vote : judged.votes) json.value(vote.score);
  json.close(']');
}

}  // namespace sluice
