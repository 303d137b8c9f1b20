#pragma once

#include "coordinator/suite/score_id.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

/// Cases of which a notice has something to say, counted by score.
class CasesByScore {
 public:
  void add(const ScoreId& score, std::string_view test_id);
  bool empty() const { return found_.empty(); }
  /// "faithfulness of 1 case (`a`), rubric of 3 cases (first `b`)"
  std::string in_words() const;

 private:
  struct OfScore {
    std::uint64_t cases = 0;
    std::string first;
  };
  std::map<ScoreId, OfScore> found_;
};

}  // namespace sluice
