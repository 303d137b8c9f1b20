#include "coordinator/merge/run_grades.hpp"

#include <utility>

namespace sluice {
namespace {

/// `capital` of `capital@mini`: all cases of a run that grades are the candidate's.
std::string test_of(const Case& fixture) {
  return fixture.id.substr(0, fixture.id.rfind('@'));
}

class Fold {
 public:
  explicit Fold(const TakeGrade& take) : take_(take) {}

  void add(const CaseResult& result) {
    GradedTest test;
    test.id = test_of(result.fixture);
    test.category = result.fixture.category;
    GradeTotals& category = grades_.by_category[test.category];
    double sum = 0.0;
    for (const TrialResult& trial : result.trials) {
      const auto* grade = trial.unit != nullptr && trial.unit->grade ? &*trial.unit->grade : nullptr;
      if (grade == nullptr) {
        add_error(trial, test);
        for (GradeTotals* totals : {&category, &grades_.all}) add_billed(trial, *totals);
        continue;
      }
      if (take_) take_(test.id, result, trial, *grade);
      if (test.graded == 0) test.notes = grade->grade.notes;
      ++test.graded;
      sum += grade->grade.quality_score;
      for (GradeTotals* totals : {&category, &grades_.all}) add_pair(*grade, *totals);
      add_orders(grade->grade, test);
    }
    finish(std::move(test), sum, category);
  }

  RunGrades finish(double confidence, std::uint64_t seed) {
    if (!pairs_.empty()) grades_.bias = position_bias(pairs_, confidence, SwapLimits(), seed);
    return std::move(grades_);
  }

 private:
  static void add_error(const TrialResult& trial, GradedTest& test) {
    ++test.errors;
    if (test.reason || trial.error == nullptr) return;
    test.reason = trial.error->reason;
    if (test.graded == 0) test.notes = trial.error->message;
  }

  /// What the answers took that a pair without a grade has: of the baseline's that is known if this run
  /// called for it.
  static void add_billed(const TrialResult& trial, GradeTotals& totals) {
    if (trial.unit == nullptr) return;
    const Usage& answer = trial.unit->usage;
    const PaidTokens& paid = trial.unit->spend.paid;
    totals.candidate.usage += answer == Usage{} ? paid.of(CallKind::answer) : answer;
    totals.baseline.usage += paid.of(CallKind::baseline);
  }

  static void add_pair(const GradingResult& pair, GradeTotals& totals) {
    ++totals.graded;
    totals.baseline.add(pair.baseline);
    totals.candidate.add(pair.candidate);
    if (!pair.grade.orders) return;
    ++totals.compared_twice;
    if (position_flips(*pair.grade.orders)) ++totals.position_flips;
  }

  void add_orders(const Grade& grade, GradedTest& test) {
    if (grades_.grader_id.empty()) grades_.grader_id = grade.grader_id;
    if (!grade.orders) return;
    if (position_flips(*grade.orders)) ++test.position_flips;
    const auto number = static_cast<std::uint32_t>(grades_.tests.size());
    pairs_.push_back({number, grade.orders->candidate_first, grade.orders->baseline_first});
  }

  void finish(GradedTest test, double sum, GradeTotals& category) {
    if (test.graded > 0) test.quality = sum / static_cast<double>(test.graded);
    for (GradeTotals* totals : {&category, &grades_.all}) {
      ++totals->tests;
      totals->errors += test.errors;
      if (test.quality) totals->quality.add(*test.quality, 1.0);
    }
    if (test.quality) test.reason.reset();
    grades_.tests.push_back(std::move(test));
  }

  const TakeGrade& take_;
  RunGrades grades_;
  std::vector<PositionPair> pairs_;
};

}  // namespace

void GradedArm::add(const GradedAnswer& answer) {
  usage += answer.usage;
  if (answer.cache_hit) return;
  latency_ms += answer.latency_ms;
  ++timed;
}

std::optional<double> GradedArm::mean_latency_ms() const {
  if (timed == 0) return std::nullopt;
  return static_cast<double>(latency_ms) / static_cast<double>(timed);
}

Result<RunGrades> run_grades(const RunResults& results, double confidence, std::uint64_t seed,
                             const TakeGrade& take) {
  Fold fold(take);
  if (auto visited = visit_cases(results, [&](const CaseResult& result) { fold.add(result); }); !visited)
    return fail(std::move(visited.error()));
  return fold.finish(confidence, seed);
}

}  // namespace sluice
