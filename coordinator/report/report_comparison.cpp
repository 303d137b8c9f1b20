#include "coordinator/gate/billionths.hpp"
#include "coordinator/report/report_events.hpp"

#include <algorithm>
#include <array>

// What a score is judged by, what its repeats came to, and the run's stability.

namespace sluice {
namespace {

constexpr std::size_t max_repeats = 1000;  // More than a run can have.

std::size_t repeats_of(const ComparedMetric& metric) {
  return metric.repeat_scores.size() + metric.repeat_passed.size();
}

}  // namespace

bool ReportReader::take_of_thresholding(const JsonValue& value) {
  ComparedMetric& metric = result_.metrics.back();
  Thresholding& thresholding = metric.thresholding;
  switch (field_) {
    case Field::mode:
      return take_mode(value, thresholding);
    case Field::max_drop:
      return fraction(value, thresholding.max_drop);
    case Field::min_floor:
      return fraction(value, thresholding.min_floor);
    case Field::min_score:
      // In effect in this mode or beside it: it holds whatever the mode.
      return fraction(value, metric.min_score);
    case Field::confidence:
      return take_confidence(value, thresholding.confidence);
    case Field::min_effect:
      return take_min_effect(value, thresholding.min_effect);
    case Field::unit:
      thresholding.cluster_by_category = value.kind == JsonValue::Kind::text && value.text == "category";
      if (thresholding.cluster_by_category || (value.kind == JsonValue::Kind::text && value.text == "case")) {
        return true;
      }
      return expected(value, "\"case\" or \"category\"");
    default:
      return true;
  }
}

bool ReportReader::take_mode(const JsonValue& value, Thresholding& target) {
  constexpr std::array modes{ThresholdMode::relative, ThresholdMode::absolute, ThresholdMode::statistical};
  for (const ThresholdMode mode : modes) {
    if (value.kind == JsonValue::Kind::text && value.text == to_string(mode)) target.mode = mode;
  }
  return target.mode || expected(value, "\"relative\", \"absolute\" or \"statistical\"");
}

bool ReportReader::take_confidence(const JsonValue& value, std::optional<double>& target) {
  const bool in_range = value.kind == JsonValue::Kind::number && value.number > 0.5 && value.number < 1.0;
  if (!in_range) return expected(value, "a number above 0.5 and below 1");
  target = value.number;
  return true;
}

/// As of a suite: no suite is large enough to exclude a drop of 0, and none of all points is found.
bool ReportReader::take_min_effect(const JsonValue& value, std::optional<double>& target) {
  const bool in_range = value.kind == JsonValue::Kind::number && value.number > 0.0 && value.number < 1.0;
  if (!in_range) return expected(value, "a number above 0 and below 1");
  target = value.number;
  return true;
}

bool ReportReader::take_of_run(const JsonValue& value) {
  switch (field_) {
    case Field::sluice_version:
      return text(value, scores_.header.assay_version);
    case Field::selection:
      return truth(value, scores_.is_selection);
    case Field::run_min_stability:
      return fraction(value, scores_.stability_question.min_stability);
    default:
      return true;
  }
}

// --- Repeats -----------------------------------------------------------------------------------------------

bool ReportReader::take_repeat(const JsonValue& value) {
  ComparedMetric& metric = result_.metrics.back();
  if (repeats_of(metric) == max_repeats) {
    return problem("`" + place() + "` holds more than " + std::to_string(max_repeats) + " repeats");
  }
  if (field_ == Field::repeat_passed) {
    bool passed = false;
    if (!truth(value, passed)) return false;
    metric.repeat_passed.push_back(passed);
    return true;
  }
  std::optional<double> score;
  if (!fraction(value, score)) return false;
  metric.repeat_scores.push_back(score);
  return true;
}

/// All metrics of a case have as many repeats, and scored ones scores.
bool ReportReader::settle_repeats() {
  for (std::size_t i = 0; i < result_.metrics.size(); ++i) {
    const ComparedMetric& metric = result_.metrics[i];
    const std::string where = "`" + place() + ".metrics[" + std::to_string(i) + "]`";
    if (!(is_scored(metric) ? metric.repeat_passed.empty() : metric.repeat_scores.empty())) {
      return problem(where + (is_scored(metric) ? " is a score and has `repeat_passed`"
                                                : " only passes or fails and has `repeat_scores`"));
    }
    const std::size_t expected = repeats_of(result_.metrics.front());
    if (repeats_of(metric) == expected) continue;
    return problem(where + " tells of " + std::to_string(repeats_of(metric)) +
                   " repeats, and the first metric of the case of " + std::to_string(expected) +
                   ": use the sluice that wrote it, or run the suite again");
  }
  return true;
}

// --- Stability ---------------------------------------------------------------------------------------------

bool ReportReader::count(const JsonValue& value, std::uint64_t& target) {
  if (!value.whole) return expected(value, "a whole number from 0");
  target = *value.whole;
  return true;
}

bool ReportReader::take_of_stability(const JsonValue& value) {
  switch (field_) {
    case Field::repeats: {
      std::uint64_t repeats = 1;
      if (!count(value, repeats)) return false;
      figures_.repeats = static_cast<std::uint32_t>(std::min<std::uint64_t>(repeats, max_repeats));
      return true;
    }
    case Field::perturbed_trials:
      return count(value, scores_.stability_question.planned);
    case Field::overall:
      return open(value, JsonValue::Kind::object, Context::figures);
    case Field::gate:
      return value.kind == JsonValue::Kind::null ||
             open(value, JsonValue::Kind::object, Context::stability_gate);
    case Field::perturbations:
      return open(value, JsonValue::Kind::list, Context::perturbations);
    default:
      return true;
  }
}

bool ReportReader::take_of_figures(const JsonValue& value) {
  if (field_ == Field::cases) return count(value, figures_.cases);
  if (field_ == Field::answers) return count(value, figures_.answers);
  return true;
}

bool ReportReader::take_of_stability_gate(const JsonValue& value) {
  StabilityQuestion& question = scores_.stability_question;
  if (field_ == Field::min_stability) return fraction(value, question.min_stability);
  if (field_ != Field::stability_max_drop) return true;
  if (!fraction(value, question.suite.max_drop)) return false;
  // Without a largest drop no baseline judges.
  question.suite.mode = question.suite.max_drop ? ThresholdMode::relative : ThresholdMode::absolute;
  return true;
}

bool ReportReader::begin_perturbation(const JsonValue& value) {
  name_.clear();
  if (!open(value, JsonValue::Kind::object, Context::perturbation)) return false;
  forget(Field::perturbation_name, Field::perturbation_version);
  return true;
}

bool ReportReader::take_of_perturbation(const JsonValue& value) {
  if (field_ == Field::perturbation_name) return text(value, perturbation_);
  if (field_ == Field::perturbation_version) return text(value, version_);
  return true;
}

bool ReportReader::finish_perturbation() {
  name_.clear();
  if (!require(Field::perturbation_name, Field::perturbation_version, place())) return false;
  scores_.stability_question.perturbations.push_back(perturbation_ + " " + version_);
  return true;
}

/// As a baseline of the same run would have it.
void ReportReader::finish_stability() {
  StabilityQuestion& question = scores_.stability_question;
  question.score = stability_;
  question.is_selection = scores_.is_selection;
  question.answers = figures_.answers;
  if (!stability_) return;
  figures_.score = from_billionths(billionths(*stability_));
  figures_.perturbations = question.perturbations;
  scores_.stability = figures_;
}

}  // namespace sluice
