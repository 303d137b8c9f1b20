#pragma once

#include "coordinator/gate/baseline_comparison.hpp"
#include "coordinator/report/answer_diff.hpp"
#include "coordinator/report/report.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the reports for people say of repeats and stability: words and numbers, not their layout.
namespace sluice::wording {

/// `0.92`, with a third digit where two would show a share below 1 as 1.00.
std::string share(const std::optional<double>& share);
/// `0.88 to 0.95`; a dash if unknown.
std::string interval(const std::optional<Interval>& interval);

/// A line on each: how stable, on which perturbation alone that rests, what the repeats agree on, pass@k, how
/// far scores move, what was left out.
std::vector<std::string> stability_summary(const ReportInput& input);
/// What the limits on stability came to; empty without one.
std::string stability_gate(const BaselineComparison& gate);
/// `stable` where no answer differs; `unstable`, `within noise`, `too few repeats to tell`, `floor unknown`
/// where some do; `no answers`; `changed no case` where it had nothing to change, or could not.
std::string stability_word(const PerturbationSummary& perturbation);
/// A perturbation's row in the tables.
struct PerturbationWords {
  std::string name;  ///< As the user gave it.
  std::string cases, flips, stability, interval, floor, p, decision, unchanged, skipped;
};
PerturbationWords words_for(const PerturbationSummary& perturbation);
/// Of the column with p: Holm's correction over the perturbations is in it.
inline constexpr std::string_view p_heading = "Holm p";
/// A category's row in the tables.
struct CategoryWords {
  std::string name;  ///< Of the suite; `(none)` if empty.
  std::string cases, answers, stability, interval, floor;
};
/// In the analysis' order. One category alone says what the whole run says: then there are no rows.
std::vector<CategoryWords> category_words(const RunStability& run);
/// Above skipped_words().
inline constexpr std::string_view skipped_heading = "Skipped, since it could have changed the meaning";
/// `3 cases (Makefile): sluice does not know ...`, for each perturbation, language and reason.
std::vector<std::string> skipped_words(const RunStability& run);

/// A case of the least stable ones, with copies of what its answers differ in.
struct UnstableCase {
  std::string title;
  CaseStability figures;
  bool too_few_repeats = false;
  struct FlippedAnswer {
    std::string perturbation;
    std::uint32_t times = 1;               ///< Repeats of this perturbation that differ in the same way.
    CaseStatus before = CaseStatus::pass;  ///< Of the unperturbed answer by itself.
    CaseStatus after = CaseStatus::pass;
    AnswerDiff diff;
  };
  std::vector<FlippedAnswer> flips;
  std::uint64_t more_flips = 0;  ///< Beyond those that are shown, repeats of those apart.
};

/// The least stable cases that have a flip: those beyond the floor first, then by stability, then in plan
/// order. One visit to all cases.
Result<std::vector<UnstableCase>> least_stable_cases(const ReportInput& input, std::size_t most,
                                                     std::size_t most_flips);
/// `stability 0.57 (7 answers), repeats agree 1.00, unstable beyond the floor (p 0.01)`.
std::string figures_of(const UnstableCase& one);
/// `crlf (pass → fail)`, with repeats `crlf, 2 of 3 repeats (pass → refused)`.
std::string flip_title(const UnstableCase::FlippedAnswer& flip, std::uint32_t repeats);
/// The sides of a flip in one line each: claims with semicolons between them, or the text; what is empty says
/// so, and what is no answer why: `(refused)`.
std::string side_without(const AnswerDiff& diff);
std::string side_with(const AnswerDiff& diff);

}  // namespace sluice::wording
