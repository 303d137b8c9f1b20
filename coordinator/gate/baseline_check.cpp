#include "coordinator/gate/baseline_check.hpp"

#include "coordinator/gate/quoted.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Whole, since the user is to find it.
std::string named(const std::string& file) {
  return "`" + file + "`";
}

std::string export_command(const GatedRun& run) {
  return "`sluice run " + run.suite_path + " --export-baseline " + run.baseline_file + "`";
}

/// What makes the file anew that is compared with.
std::string command_for_base(const GatedRun& run) {
  if (!run.base_is_report) return export_command(run);
  return "`sluice run " + run.suite_path + " --format json --output " + run.baseline_file + "`";
}

tl::unexpected<Error> other_suite(const BaselineHeader& header, const GatedRun& run) {
  const std::string what = named(run.baseline_file) + " is a " +
                           (run.base_is_report ? "report" : "baseline") + " of the suite " +
                           backquoted(header.suite) + ", but ";
  const std::string suite = " is of " + backquoted(run.suite) + ": ";
  if (run.current_file) {
    return fail(Reason::baseline_invalid,
                what + named(*run.current_file) + suite + "name two files of the same suite.");
  }
  return fail(Reason::baseline_invalid,
              what + "this run" + suite + "name the baseline of this suite, or write one with `sluice run " +
                  run.suite_path + " --export-baseline FILE`.");
}

GateNotice::Severity warning_of(const GatedRun& run) {
  return run.strict ? GateNotice::Severity::failure : GateNotice::Severity::warning;
}

}  // namespace

Result<std::vector<GateNotice>> check_baseline(const BaselineHeader& header, const GatedRun& run) {
  if (header.suite != run.suite) return other_suite(header, run);
  std::vector<GateNotice> notices;
  if (header.config_fingerprint != run.config_fingerprint) {
    notices.push_back({warning_of(run), "fingerprint_mismatch",
                       named(run.baseline_file) +
                           " was made with other tests, prompts, thresholds, model settings or metric "
                           "versions than " +
                           (run.current_file ? named(*run.current_file) : "this run") +
                           ": where that is intended, write it anew with " + command_for_base(run) + "."});
  }
  if (header.assay_version != run.tool_version) {
    notices.push_back(
        {GateNotice::Severity::warning, "tool_version_mismatch",
         named(run.baseline_file) + " was written by version " + escaped_excerpt(header.assay_version) +
             " and " + (run.current_file ? named(*run.current_file) + " by " : "this is ") +
             escaped_excerpt(run.tool_version) + ": if scores differ without a reason, write it anew with " +
             command_for_base(run) + ".",
         false});
  }
  return notices;
}

void NamedScores::add(std::string_view test_id, std::string_view metric) {
  ++count_;
  if (first_.size() < shown) first_.push_back(backquoted(test_id) + " " + escaped_excerpt(metric));
}

std::string NamedScores::counted(std::string_view singular, std::string_view plural) const {
  return std::to_string(count_) + " " + std::string(count_ == 1 ? singular : plural);
}

std::string NamedScores::names() const {
  std::string text;
  for (const std::string& name : first_) text += (text.empty() ? "" : ", ") + name;
  if (count_ > first_.size()) text += ", and " + std::to_string(count_ - first_.size()) + " more";
  return text;
}

void UnusedEntries::count_next() {
  const BaselineEntry entry = baseline_->entry(next_++);
  unused_.add(entry.test_id, entry.metric);
}

void UnusedEntries::pass_to(std::string_view test_id) {
  while (next_ < baseline_->size() && baseline_->entry(next_).test_id < test_id) count_next();
}

void UnusedEntries::visit(std::string_view test_id, std::span<const JudgedMetric> metrics) {
  pass_to(test_id);
  while (next_ < baseline_->size() && baseline_->entry(next_).test_id == test_id) {
    const std::string_view name = baseline_->entry(next_).metric;
    const bool answered = std::ranges::any_of(metrics, [name](const JudgedMetric& metric) {
      const MetricInfo& known = info(metric.id);
      return known.kind == MetricKind::scored && known.name == name;
    });
    if (answered) {
      ++next_;
    } else {
      count_next();
    }
  }
}

void UnusedEntries::visit_error(std::string_view test_id) {
  pass_to(test_id);
  while (next_ < baseline_->size() && baseline_->entry(next_).test_id == test_id) ++next_;
}

std::optional<GateNotice> UnusedEntries::finish(const GatedRun& run) {
  while (next_ < baseline_->size()) count_next();
  if (unused_.count() == 0) return std::nullopt;
  return GateNotice{
      warning_of(run), "unused_entries",
      named(run.baseline_file) + " has " +
          unused_.counted("entry that this run has no score for", "entries that this run has no scores for") +
          " (" + unused_.names() +
          "): if those tests or metrics were removed by intention, write the baseline anew with " +
          export_command(run) + "."};
}

void MissingEntries::visit(std::string_view test_id, std::span<const JudgedMetric> metrics) {
  for (const JudgedMetric& metric : metrics) {
    if (metric.score && metric.cause == MetricCause::missing_in_baseline) {
      missing_.add(test_id, info(metric.id).name);
    }
  }
}

std::optional<GateNotice> MissingEntries::finish(const GatedRun& run) const {
  if (missing_.count() == 0) return std::nullopt;
  return GateNotice{GateNotice::Severity::info, "missing_entries",
                    missing_.counted("score has", "scores have") + " no entry in " +
                        named(run.baseline_file) + " (" + missing_.names() +
                        "): add them on the main branch with " + export_command(run) + "."};
}

}  // namespace sluice
