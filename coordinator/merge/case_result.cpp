#include "coordinator/merge/case_result.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/merge/read_ahead.hpp"
#include "coordinator/merge/result_fit.hpp"
#include "coordinator/suite/redacted_case.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

bool has_taker_of_non_answers(const Case& fixture) {
  return std::ranges::any_of(fixture.expectations,
                             [](const Expectation& one) { return takes_non_answers(one.what); });
}

Counts counts_of(const ClaimsScore& score) {
  return {.true_positives = score.matched.size(),
          .false_positives = score.unexpected.size(),
          .false_negatives = score.missing.size()};
}

// Gathers the trials of one case, and assesses them.
class CaseTrials {
 public:
  explicit CaseTrials(const RunResults& results) : results_(results) {}

  /// `shown`: the case as reports may show it. It is assessed as it is: of what was taken out of it nothing
  /// can be told apart any more.
  void begin(CaseRef test_case, CaseRef shown) {
    case_ = std::move(test_case);
    shown_ = std::move(shown);
    trials_.clear();
    units_.clear();
    errors_.clear();
  }
  const Case& test_case() const { return *case_; }

  void add_missing(TrialId number) {
    TrialResult& trial = trial_at(number);
    trial.not_started = results_.not_started && results_.not_started(number);
    error_of(trial, results_.unfinished(number));
  }

  /// The result is copied only where the case has other trials to wait for.
  void add(const CommittedTrial& committed, bool is_only_one) {
    const UnitResult& unit = is_only_one ? committed.unit : units_.emplace_back(committed.unit);
    TrialResult& trial = trial_at(committed.trial);
    trial.unit = &unit;
    // A refusal, or an empty answer, comes with the scores of those whose test asks for one.
    if (unit.error && (unit.scores.empty() || !has_taker_of_non_answers(*case_))) {
      trial.error = &*unit.error;
      return;
    }
    if (!fits_case(*case_, unit, results_.suite.labels)) {
      return error_of(trial, {Reason::internal_error,
                              "the result of case \"" + case_->id +
                                  "\" does not fit the case; are the worker and the coordinator of the same "
                                  "version?"});
    }
    const auto& outcomes = unit.scores.front().metrics;
    const auto undecided = std::ranges::find_if(outcomes, &MetricOutcome::is_undecided);
    if (undecided != outcomes.end()) {
      const auto before = std::count_if(outcomes.begin(), undecided,
                                        [&](const MetricOutcome& one) { return one.id == undecided->id; });
      const Expectation* asked = find_expectation(*case_, undecided->id, static_cast<std::size_t>(before));
      const std::string called = score_text(undecided->id, asked != nullptr ? asked->name : std::string());
      return error_of(trial, {Reason::check_undecided, called + ": " + undecided->detail});
    }
    trial.score = &unit.scores.front();
  }

  /// All trials of the case were added.
  CaseResult finish() {
    assess_all();
    CaseResult result{.fixture = *shown_, .trial = trials_.front().trial, .counts = {}};
    result.trials = trials_;
    result.ontology = results_.ontology;
    result.is_mock = results_.is_mock;
    result.shares_request = results_.shares_request && results_.shares_request(result.trial);
    result.repeats.planned = 0;
    const auto answered = std::ranges::find_if(
        trials_, [](const TrialResult& one) { return one.perturbation == 0 && one.error == nullptr; });
    std::vector<const CaseAssessment*> assessed;
    std::size_t not_started = 0;
    for (TrialResult& trial : trials_) {
      if (trial.perturbation > 0) continue;
      ++result.repeats.planned;
      not_started += trial.not_started ? 1 : 0;
      // Where every repeat is without an answer it is the case's error.
      if (answered != trials_.end() && is_without_answer(trial))
        trial.assessment = assessment_of_non_answer(answered->assessment);
      if (!trial.counts()) {
        ++result.repeats.errors;
        continue;
      }
      ++(trial.error != nullptr ? result.repeats.non_answers : result.repeats.assessed);
      assessed.push_back(&trial.assessment);
      result.repeats.failed += trial.assessment.has_failed() ? 1 : 0;
    }
    if (result.repeats.is_error()) {
      result.not_started = not_started == result.repeats.planned;
      show(result, [](const TrialResult& trial) { return trial.error != nullptr; });
      return result;
    }
    result.assessment = assessment_of_repeats(assessed);
    const CaseStatus shown = shown_status(result.assessment.status);
    if (case_->known_failure) take_as_known_failure(result.assessment);
    result.status = result.assessment.status;
    const bool is_shown = show(result, [shown](const TrialResult& trial) {
      return trial.error == nullptr && trial.assessment.status == shown;
    });
    // Of a case that came to it by repeats without an answer.
    if (!is_shown) show(result, [](const TrialResult& trial) { return trial.error == nullptr; });
    if (case_->kind == CaseKind::claims) {
      result.counts.emplace();
      for (const TrialResult& trial : trials_) {
        if (trial.perturbation == 0 && trial.error == nullptr)
          *result.counts += counts_of(trial.score->claims);
      }
    }
    return result;
  }

 private:
  TrialResult& trial_at(TrialId number) {
    TrialResult& trial = trials_.emplace_back();
    trial.trial = number;
    if (results_.table != nullptr) {
      const TrialPlace place = results_.table->place(number);
      trial.perturbation = place.perturbation;
      trial.repeat = place.repeat;
    }
    return trial;
  }

  void error_of(TrialResult& trial, Error error) { trial.error = &errors_.emplace_back(std::move(error)); }

  void assess_all() {
    std::vector<TrialResult*> assessed;
    for (TrialResult& trial : trials_) {
      if (trial.error == nullptr) assessed.push_back(&trial);
    }
    const auto perturbed = std::stable_partition(assessed.begin(), assessed.end(),
                                                 [](const auto* one) { return one->perturbation == 0; });
    std::vector<ScoredAnswer> answers;
    for (const TrialResult* one : assessed) answers.push_back({one->score->metrics, one->score->judged});
    auto assessments = results_.gate.assess_answers(
        *case_, answers, static_cast<std::size_t>(std::distance(assessed.begin(), perturbed)));
    for (std::size_t n = 0; n < assessed.size(); ++n) assessed[n]->assessment = std::move(assessments[n]);
  }

  /// Shows the first unperturbed trial that `fits` as the case's answer; false where none does.
  template <class Fits>
  bool show(CaseResult& result, const Fits& fits_case) const {
    const auto found = std::ranges::find_if(
        trials_, [&](const TrialResult& trial) { return trial.perturbation == 0 && fits_case(trial); });
    if (found == trials_.end()) return false;
    result.error = found->error;
    result.unit = found->unit;
    result.score = found->score;
    return true;
  }

  const RunResults& results_;
  CaseRef case_;
  CaseRef shown_;
  std::vector<TrialResult> trials_;
  std::deque<UnitResult> units_;  ///< Deques: what points into them stays where it is.
  std::deque<Error> errors_;
};

// The cases of a suite in their order; of those that stay in files, the next ones are read while one is used.
class CasesInOrder {
 public:
  explicit CasesInOrder(const CaseList& cases)
      : cases_(cases),
        blocks_(
            [&cases](std::size_t block) { return read_block(cases, block * defaults::cases_read_at_once); },
            cases.reads_files() ? blocks_of(cases) : 0) {}

  /// Any order is possible; only that of the suite is read ahead.
  Result<CaseRef> read(std::size_t index) {
    if (index == end_ && blocks_taken_ < blocks_.count()) {
      block_ = blocks_.next();
      ++blocks_taken_;
      begin_ = end_;
      end_ += block_.size();
    }
    if (index < begin_ || index >= end_) return cases_.read(index);
    return block_[index - begin_];
  }

 private:
  using Block = std::vector<Result<CaseRef>>;

  static std::size_t blocks_of(const CaseList& cases) {
    return (cases.size() + defaults::cases_read_at_once - 1) / defaults::cases_read_at_once;
  }

  static Block read_block(const CaseList& cases, std::size_t begin) {
    Block block;
    const std::size_t end = std::min(begin + defaults::cases_read_at_once, cases.size());
    for (std::size_t i = begin; i < end; ++i) block.push_back(cases.read(i));
    return block;
  }

  const CaseList& cases_;
  ReadAhead<Block> blocks_;
  std::size_t blocks_taken_ = 0;
  Block block_;
  std::size_t begin_ = 0;  ///< Of the block's cases in the suite...
  std::size_t end_ = 0;    ///< ...and behind them.
};

// Hands out each case of the plan, its trials with their committed results or with the reason why there is
// none.
class PlanOrder {
 public:
  PlanOrder(const RunResults& results, const std::function<void(const CaseResult&)>& visit)
      : results_(results), visit_(visit), cases_(results.suite.cases), trials_(results) {}

  void committed(const CommittedTrial& trial) {
    if (broken_) return;
    if (trial.trial < next_ || trial.trial >= results_.trials) {
      broken_ = Error{Reason::internal_error,
                      "the committed results name trial " + std::to_string(trial.trial) +
                          ", which is not of this run's plan or came before; please report this as a defect"};
      return;
    }
    skip_to(trial.trial);
    if (!begin_trial()) return;
    trials_.add(trial, last_of_case_ == first_of_case_);
    end_trial();
  }

  Result<void> finish() {
    skip_to(results_.trials);
    if (broken_) return fail(*broken_);
    return {};
  }

 private:
  /// Reads the case of the next trial if it is the case's first. False if its file cannot be read any more.
  bool begin_trial() {
    if (broken_) return false;
    if (next_ > 0 && next_ <= last_of_case_) return true;
    const auto trial = static_cast<TrialId>(next_);
    std::size_t index = 0;
    first_of_case_ = last_of_case_ = next_;
    if (results_.table != nullptr) {
      index = results_.table->place(trial).case_index;
      last_of_case_ = results_.table->first_trial(index + 1) - 1;
    } else {
      index = results_.case_of(trial);
    }
    auto one = cases_.read(index);
    if (!one) {
      broken_ = std::move(one.error());
      return false;
    }
    const bool is_redacted = results_.redactor != nullptr && !results_.redactor->empty();
    CaseRef shown = is_redacted ? std::make_shared<const Case>(redacted(**one, *results_.redactor)) : *one;
    trials_.begin(std::move(*one), std::move(shown));
    return true;
  }

  void end_trial() {
    if (next_++ == last_of_case_) visit_(trials_.finish());
  }

  void skip_to(std::size_t trial) {
    while (next_ < trial && begin_trial()) {
      trials_.add_missing(static_cast<TrialId>(next_));
      end_trial();
    }
  }

  const RunResults& results_;
  const std::function<void(const CaseResult&)>& visit_;
  CasesInOrder cases_;
  CaseTrials trials_;
  std::size_t next_ = 0;
  std::size_t first_of_case_ = 0;
  std::size_t last_of_case_ = 0;
  std::optional<Error> broken_;
};

// The last two segments: what the matcher compares of a subject.
std::string_view tail(std::string_view subject) {
  const auto last = subject.rfind('/');
  if (last == std::string_view::npos || last == 0) return subject;
  const auto before = subject.rfind('/', last - 1);
  return before == std::string_view::npos ? subject : subject.substr(before + 1);
}

const FinalClaim* nearest_claim(const ExpectedClaim& expected, const CaseResult& result) {
  const auto is_taken = [&](std::size_t claim) {
    return std::ranges::any_of(result.score->claims.matched,
                               [&](const ClaimMatch& match) { return match.claim == claim; });
  };
  const auto nearness = [&](const FinalClaim& claim) {
    const bool same_predicate = claim.predicate == expected.predicate;
    return std::tuple(same_predicate, same_predicate && to_text(claim.value) == to_text(expected.value),
                      claim.confidence);
  };
  const FinalClaim* best = nullptr;
  const auto& claims = result.unit->claims;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (tail(claims[i].concept_path) != tail(expected.subject) || is_taken(i)) continue;
    if (best == nullptr || nearness(claims[i]) > nearness(*best)) best = &claims[i];
  }
  return best;
}

/// What the ontology makes of it; nothing if that is what was written.
std::optional<ExpectedClaim> taken_for(const ExpectedClaim& written, const Ontology* ontology) {
  if (ontology == nullptr) return std::nullopt;
  auto taken = ontology->canonical(written);
  if (taken == written) return std::nullopt;
  return taken;
}

}  // namespace

std::optional<UnitId> CaseResult::first_unit() const {
  const auto answered = std::ranges::find_if(
      trials, [](const TrialResult& trial) { return trial.perturbation == 0 && trial.unit != nullptr; });
  return answered == trials.end() ? std::nullopt : std::optional(answered->unit->unit);
}

bool is_without_answer(const TrialResult& trial) {
  return trial.error != nullptr && is_non_answer(trial.error->reason);
}

Result<void> visit_cases(const RunResults& results, const std::function<void(const CaseResult&)>& visit) {
  PlanOrder plan_order(results, visit);
  const auto visited =
      results.source.visit([&](const CommittedTrial& trial) { plan_order.committed(trial); });
  if (!visited) return fail(visited.error());
  return plan_order.finish();
}

void explain(const CaseResult& result, CaseDetails& details) {
  details.missing.clear();
  details.unexpected.clear();
  details.forbidden.clear();
  if (result.score == nullptr) return;
  const ClaimsScore& score = result.score->claims;
  const auto& claims = result.unit->claims;
  for (const auto index : score.missing) {
    const ExpectedClaim& expected = result.fixture.must_contain[index];
    auto taken = taken_for(expected, result.ontology);
    const FinalClaim* got = nearest_claim(taken ? *taken : expected, result);
    const bool unsure = got != nullptr && got->confidence < result.fixture.min_confidence;
    details.missing.push_back(
        {.expected = &expected, .taken_for = std::move(taken), .got = got, .below_min_confidence = unsure});
  }
  for (const auto& match : score.forbidden) {
    const ExpectedClaim& forbidden = result.fixture.must_not_contain[match.expectation];
    details.forbidden.push_back({.forbidden = &forbidden,
                                 .taken_for = taken_for(forbidden, result.ontology),
                                 .got = &claims[match.claim]});
  }
  for (const auto index : score.unexpected) {
    const bool is_forbidden =
        std::ranges::any_of(score.forbidden, [&](const ClaimMatch& match) { return match.claim == index; });
    if (!is_forbidden) details.unexpected.push_back(&claims[index]);
  }
}

}  // namespace sluice
