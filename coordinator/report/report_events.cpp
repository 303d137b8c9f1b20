#include "coordinator/report/report_events.hpp"

#include "common/metrics.hpp"
#include "common/text.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/timestamp.hpp"
#include "coordinator/report/report.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

using Context = ReportReader::Context;
using Field = ReportReader::Field;

struct FieldName {
  Context context;
  std::string_view name;
};

// In the order of ReportReader::Field.
constexpr std::array<FieldName, 47> fields{{{Context::other, ""},
                                            {Context::report, "schema_version"},
                                            {Context::report, "suite"},
                                            {Context::report, "config_fingerprint"},
                                            {Context::report, "timestamp"},
                                            {Context::report, "reason_code"},
                                            {Context::report, "stability"},
                                            {Context::report, "stability_details"},
                                            {Context::report, "fixture_results"},
                                            {Context::report, "run"},
                                            {Context::run, "sluice_version"},
                                            {Context::result, "id"},
                                            {Context::result, "status"},
                                            {Context::result, "metrics"},
                                            {Context::result, "missing"},
                                            {Context::result, "unexpected"},
                                            {Context::result, "forbidden"},
                                            {Context::result, "true_positives"},
                                            {Context::result, "false_negatives"},
                                            {Context::result, "category"},
                                            {Context::metric, "name"},
                                            {Context::metric, "score"},
                                            {Context::metric, "passed"},
                                            {Context::metric, "asked_by_name"},
                                            {Context::metric, "repeat_scores"},
                                            {Context::metric, "repeat_passed"},
                                            {Context::metric, "thresholding"},
                                            {Context::thresholding, "mode"},
                                            {Context::thresholding, "max_drop"},
                                            {Context::thresholding, "min_floor"},
                                            {Context::thresholding, "min_score"},
                                            {Context::thresholding, "confidence"},
                                            {Context::thresholding, "min_effect"},
                                            {Context::thresholding, "unit"},
                                            {Context::stability, "repeats"},
                                            {Context::stability, "perturbed_trials"},
                                            {Context::stability, "overall"},
                                            {Context::stability, "gate"},
                                            {Context::stability, "perturbations"},
                                            {Context::figures, "cases"},
                                            {Context::figures, "answers"},
                                            {Context::stability_gate, "min_stability"},
                                            {Context::stability_gate, "max_drop"},
                                            {Context::perturbation, "name"},
                                            {Context::perturbation, "version"},
                                            {Context::run, "selection"},
                                            {Context::run, "min_stability"}}};
static_assert(static_cast<std::size_t>(Field::run_min_stability) + 1 == fields.size());

constexpr std::size_t shown_bytes = 60;

bool is_list(Context context) {
  return context == Context::results || context == Context::metrics || context == Context::repeats ||
         context == Context::perturbations;
}

bool is_null(const JsonValue& value) {
  return value.kind == JsonValue::Kind::null;
}

}  // namespace

bool ReportReader::problem(std::string message) {
  if (!problem_) problem_ = Finding{file_, source_.line(), std::move(message)};
  return false;
}

bool ReportReader::expected(const JsonValue& value, std::string_view what) {
  return problem("`" + place() + "` is " + shown(value) + ", expected " + std::string(what));
}

std::string ReportReader::place() const {
  std::string text;
  for (const Context context : contexts_) {
    if (context == Context::results) text = "fixture_results[" + std::to_string(scores_.size()) + "]";
    if (context == Context::metrics) {
      const bool in_metric = contexts_.back() != Context::metrics;
      const auto index = result_.metrics.size() - (in_metric ? 1 : 0);
      text += ".metrics[" + std::to_string(index) + "]";
    }
    if (context == Context::thresholding) text += ".thresholding";
    if (context == Context::repeats) text += "." + name_;
    if (context == Context::run) text = "run";
    if (context == Context::stability) text = "stability_details";
    if (context == Context::figures) text += ".overall";
    if (context == Context::stability_gate) text += ".gate";
    if (context == Context::perturbations) {
      text += ".perturbations[" + std::to_string(scores_.stability_question.perturbations.size()) + "]";
    }
  }
  const bool in_list = !contexts_.empty() && is_list(contexts_.back());
  if (!in_list && !name_.empty()) text += (text.empty() ? "" : ".") + excerpt(name_, shown_bytes);
  return text;
}

std::string ReportReader::in_place() const {
  const std::string text = place();
  return text.empty() ? "" : " in `" + text + "`";
}

// --- Events ------------------------------------------------------------------------------------------------

bool ReportReader::key(std::string_view name) {
  if (contexts_.back() == Context::other) return true;
  name_ = name;
  field_ = Field::none;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    if (fields[i].context == contexts_.back() && fields[i].name == name) field_ = static_cast<Field>(i);
  }
  if (field_ == Field::none) return true;
  if (has(field_)) return problem("the key `" + place() + "` stands there twice");
  seen_ |= bit(field_);
  return true;
}

bool ReportReader::value(const JsonValue& value) {
  opened_ = Context::other;
  if (contexts_.empty()) {
    if (value.kind != JsonValue::Kind::object) {
      return problem("holds " + shown(value) + ", expected a JSON object");
    }
    opened_ = Context::report;
  } else if (!take(contexts_.back(), value)) {
    return false;
  }
  if (!opens(value)) return true;
  if (contexts_.size() == max_depth) {
    return problem("is nested deeper than " + std::to_string(max_depth) + " levels" + in_place());
  }
  contexts_.push_back(opened_);
  return true;
}

bool ReportReader::close() {
  const Context closed = contexts_.back();
  bool well = true;
  if (closed == Context::metric) well = finish_metric();
  if (closed == Context::result) well = finish_result();
  if (closed == Context::perturbation) well = finish_perturbation();
  contexts_.pop_back();
  report_closed_ = contexts_.empty();
  return well;
}

void ReportReader::broken(std::string_view token, bool out_of_range) {
  const bool in_character = stops_in_character(token);
  const std::string at = in_character ? std::string("a character that is not ASCII")
                                      : "`" + to_valid_utf8(end_of(token, shown_bytes)) + "`";
  if (source_.end() == JsonSource::End::unreadable) {
    problem("cannot be read to its end");
  } else if (source_.end() == JsonSource::End::text_too_long ||
             source_.end() == JsonSource::End::piece_too_long) {
    problem("holds more text than any report does" + in_place());
  } else if (report_closed_) {
    problem("goes on after the end of its JSON object with " + at + ": remove what follows it");
  } else if (out_of_range) {
    problem("holds the number " + at + in_place() + ", which is too large");
  } else if (source_.end() == JsonSource::End::whole) {
    problem("ends too early" + in_place() + ": it was cut off; copy it again, or run the suite again");
  } else {
    problem((!in_character && invalid_utf8_at(token) ? "is not UTF-8 text at " : "is not JSON at ") + at +
            in_place());
  }
}

// --- What stands where -------------------------------------------------------------------------------------

bool ReportReader::take(Context context, const JsonValue& value) {
  switch (context) {
    case Context::report:
      return take_of_report(value);
    case Context::results:
      return begin_result(value);
    case Context::result:
      return take_of_result(value);
    case Context::metrics:
      return begin_metric(value);
    case Context::metric:
      return take_of_metric(value);
    case Context::thresholding:
      return take_of_thresholding(value);
    case Context::run:
      return take_of_run(value);
    case Context::repeats:
      return take_repeat(value);
    case Context::stability:
      return take_of_stability(value);
    case Context::figures:
      return take_of_figures(value);
    case Context::stability_gate:
      return take_of_stability_gate(value);
    case Context::perturbations:
      return begin_perturbation(value);
    case Context::perturbation:
      return take_of_perturbation(value);
    case Context::claims:
      ++*claims_;
      return true;
    case Context::other:
      return true;
  }
  return true;
}

bool ReportReader::take_of_report(const JsonValue& value) {
  BaselineHeader& header = scores_.header;
  switch (field_) {
    case Field::schema_version:
      return schema_version(value);
    case Field::suite:
      return text(value, header.suite);
    case Field::config_fingerprint:
      return text(value, header.config_fingerprint);
    case Field::timestamp:
      if (value.kind != JsonValue::Kind::text || !is_rfc3339(value.text)) {
        return expected(value, "a time as of RFC 3339, like \"2025-12-21T12:00:00Z\"");
      }
      return text(value, header.created_at);
    case Field::reason_code:
      return is_null(value) || text(value, scores_.reason_code);
    case Field::stability:
      return fraction(value, stability_);
    case Field::stability_details:
      return open(value, JsonValue::Kind::object, Context::stability);
    case Field::fixture_results:
      return open(value, JsonValue::Kind::list, Context::results);
    case Field::run:
      return open(value, JsonValue::Kind::object, Context::run);
    default:
      return true;
  }
}

bool ReportReader::take_of_result(const JsonValue& value) {
  const auto count = [&](std::size_t& target) {
    claims_ = &target;
    return open(value, JsonValue::Kind::list, Context::claims);
  };
  switch (field_) {
    case Field::id:
      return text(value, result_.test_id);
    case Field::status:
      return status(value);
    case Field::metrics:
      return open(value, JsonValue::Kind::list, Context::metrics);
    case Field::missing:
      return count(missing_);
    case Field::unexpected:
      return count(unexpected_);
    case Field::forbidden:
      return count(forbidden_);
    case Field::true_positives:
    case Field::false_negatives:
      return count_of_expected(value);
    case Field::category:
      if (value.kind != JsonValue::Kind::text) return expected(value, "a text");
      result_.category = value.text;
      return true;
    default:
      return true;
  }
}

bool ReportReader::take_of_metric(const JsonValue& value) {
  ComparedMetric& metric = result_.metrics.back();
  switch (field_) {
    case Field::name:
      return text(value, metric.name);
    case Field::score:
      return fraction(value, metric.score);
    case Field::passed:
      if (is_null(value)) return true;
      if (value.kind != JsonValue::Kind::boolean) return expected(value, "true, false or null");
      passed_.back() = value.boolean;
      return true;
    case Field::asked_by_name:
      return truth(value, metric.asked_by_name);
    case Field::repeat_scores:
    case Field::repeat_passed:
      return open(value, JsonValue::Kind::list, Context::repeats);
    case Field::thresholding:
      if (is_null(value)) return true;
      forget(Field::mode, Field::unit);
      return open(value, JsonValue::Kind::object, Context::thresholding);
    default:
      return true;
  }
}

bool ReportReader::begin_result(const JsonValue& value) {
  name_.clear();
  if (!open(value, JsonValue::Kind::object, Context::result)) return false;
  forget(Field::id, Field::category);
  result_.is_error = false;
  result_.metrics.clear();
  result_.category.clear();
  passed_.clear();
  missing_ = unexpected_ = forbidden_ = zero_counts_ = 0;
  return true;
}

bool ReportReader::begin_metric(const JsonValue& value) {
  name_.clear();
  if (!open(value, JsonValue::Kind::object, Context::metric)) return false;
  forget(Field::name, Field::thresholding);
  result_.metrics.emplace_back();
  passed_.emplace_back();
  return true;
}

bool ReportReader::schema_version(const JsonValue& value) {
  if (value.whole && *value.whole == report_schema_version) return true;
  if (!value.whole) return expected(value, "the whole number " + std::to_string(report_schema_version));
  return problem("is a report with schema_version " + std::to_string(*value.whole) +
                 ", and this sluice reads " + std::to_string(report_schema_version) +
                 ": use the sluice that wrote it, or run the suite again");
}

bool ReportReader::text(const JsonValue& value, std::string& target) {
  if (value.kind != JsonValue::Kind::text || value.text.empty()) {
    return expected(value, "a text that is not empty");
  }
  target = value.text;
  return true;
}

bool ReportReader::status(const JsonValue& value) {
  constexpr std::array all{CaseStatus::pass, CaseStatus::warn, CaseStatus::flaky, CaseStatus::fail,
                           CaseStatus::error};
  const bool is_known = value.kind == JsonValue::Kind::text && std::ranges::any_of(all, [&](CaseStatus one) {
                          return to_string(one) == value.text;
                        });
  if (!is_known) return expected(value, "pass, warn, flaky, fail or error");
  result_.is_error = value.text == to_string(CaseStatus::error);
  return true;
}

bool ReportReader::fraction(const JsonValue& value, std::optional<double>& target) {
  if (is_null(value)) return true;
  const bool in_range = value.kind == JsonValue::Kind::number && value.number >= 0.0 && value.number <= 1.0;
  if (!in_range) return expected(value, "a number from 0 to 1, or null");
  target = value.number;
  return true;
}

bool ReportReader::truth(const JsonValue& value, bool& target) {
  if (value.kind != JsonValue::Kind::boolean) return expected(value, "true or false");
  target = value.boolean;
  return true;
}

bool ReportReader::open(const JsonValue& value, JsonValue::Kind kind, Context context) {
  if (value.kind != kind) return expected(value, to_string(kind));
  opened_ = context;
  return true;
}

// --- What is whole -----------------------------------------------------------------------------------------

void ReportReader::forget(Field first, Field last) {
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    seen_ &= ~bit(static_cast<Field>(i));
  }
}

bool ReportReader::require(Field first, Field last, const std::string& where) {
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    if (has(static_cast<Field>(i))) continue;
    return problem((where.empty() ? "has" : "`" + where + "` has") + " no `" + std::string(fields[i].name) +
                   "`, which is required");
  }
  return true;
}

}  // namespace sluice
