#pragma once

#include "coordinator/merge/case_result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Why a case failed, in words.
namespace sluice::wording {

/// What a failed or warned case's explanation is made of.
enum class CaseLineKind : std::uint8_t {
  change,   ///< Beside the baseline's checks, or what the suite knows of it.
  repeats,  ///< How many failed, where there were several.
  score,
  expected,
  rationale,
  judgement,  ///< A judge's own words, in one line.
  got,
  nothing_got,
  detail,
  forbidden,
  unexpected,
};

struct CaseLine {
  CaseLineKind kind = CaseLineKind::detail;
  std::string text;  ///< Foreign text in it is neither printable nor escaped yet.
  /// Of a check, where others failed as well: how it stands to the baseline, as `broke`. Else empty.
  std::string_view standing{};
};

/// `Expected`, `Got`, ...; `Expected (broke)` of a check that stands to the baseline so.
std::string label_of(const CaseLine& line);

/// What the test expects by the n-th metric of the case: `must_contain "Paris"`; empty where it says nothing
/// by it, as for claims. `rubrics` are Suite::rubrics.
std::string expectation_in_words(const CaseResult& result, std::size_t metric,
                                 std::span<const Rubric> rubrics);

/// What a case failed or warned by and its answer alone does not say, each in a line: the scores beside what
/// they missed, as `assessed` has them, the checks that passed in the baseline, or failed there as well, and
/// that the suite says that it fails.
std::vector<std::string> missed_by(const CaseResult& result);

/// Why a case failed or warned: the metrics that decided so, what was expected and why, and what came. What
/// is worse than in the baseline comes first, what had failed before last.
/// `rubrics` are Suite::rubrics, `details` is memory to reuse.
std::vector<CaseLine> explanation(const CaseResult& result, std::span<const Rubric> rubrics,
                                  CaseDetails& details);
/// The explanation in plain text: `Label: words` a line, each ending with a line feed.
std::string plain_text(const std::vector<CaseLine>& explanation);
/// The explanation in one short line: its first score, or what was expected and what came, or else the
/// change; of several repeats then how many failed.
std::string headline(const std::vector<CaseLine>& explanation);
/// The text's first line, cut where it is long.
std::string first_line(std::string_view text);

}  // namespace sluice::wording
