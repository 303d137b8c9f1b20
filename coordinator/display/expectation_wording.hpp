#pragma once

#include "common/model/expectation.hpp"
#include "common/model/judge.hpp"

#include <string>
#include <vector>

/// What a test expects of an answer, as reports and `sluice show` say it.
namespace sluice::wording {

/// `"a", "b"`, each cut where it is long.
std::string quoted_texts(const std::vector<std::string>& texts);

/// `icontains "a", "b"`, `latency max_ms 200`, `command ["./check.sh"]`, `json_schema {"type": "object"}`,
/// `any_of (icontains "a"; cost max_dollars 1)`.
std::string expected_in_words(const TextExpectation& what);
/// The same of a score that is called otherwise than its metric.
std::string expected_in_words(const TextExpectation& what, std::string called);
/// What a judge is asked: `rubric v1 "It is kind."`, `rubric (tone v1) "It is kind.", reference "Dear all"`,
/// `faithfulness v1`. `called`: the score with its rubric; of `texts` the metric's own.
std::string asked_in_words(std::string called, const RubricTexts& texts);

}  // namespace sluice::wording
