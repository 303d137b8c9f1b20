#include "coordinator/gate/baseline_check.hpp"

#include "common/documents/json_depth.hpp"
#include "common/text/joined.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// `sluice run SUITE` with the run's flags.
std::string run_words(const GatedRun& run) {
  return "`sluice run " + shell_word(run.suite_path) + run.flags;
}

/// What was answered costs nothing again; only a live run asks for what was not.
std::string export_command(const GatedRun& run, const std::string& file) {
  const std::string mode = run.flags.find(" --mode ") == std::string::npos ? " --mode live" : "";
  return run_words(run) + mode + " --export-baseline " + file + "`";
}

std::string export_command(const GatedRun& run) {
  return export_command(run, shell_word(run.baseline_file));
}

/// Flags that decide neither what is asked nor what an answer is worth.
constexpr std::array<std::string_view, 30> gate_flags{"baseline",   "baseline-arm",  "fail-on-regression",
                                                      "strict",     "threshold",     "min-stability",
                                                      "categories", "filter",        "max-fixtures",
                                                      "sample",     "format",        "quiet",
                                                      "verbose",    "log-level",     "log-format",
                                                      "refresh",    "judge-refresh", "confirm-above",
                                                      "max-tokens", "max-cost",      "deadline",
                                                      "no-cache",   "min-pass-rate", "failed",
                                                      "errors",     "flaky",         "dry-run",
                                                      "only cases", "pins scores",   "fail-on-mismatch"};

/// "`fix`", and where it lies if that distinguishes the two.
std::string suite_in_words(const std::string& name, const std::string& place, bool with_place) {
  return backquoted(name) + (with_place ? " in " + backquoted(place) : "");
}

bool lies_elsewhere(const BaselineHeader& header, const GatedRun& run) {
  return !header.suite_path.empty() && !run.suite_place.empty() && header.suite_path != run.suite_place;
}

std::string what_to_do(const GatedRun& run) {
  if (run.current_file)
    return std::string(": name two ") + (run.base_is_run ? "runs" : "files") + " of the same suite.";
  return ": name the baseline of this suite, or write one with " + export_command(run, "FILE") + ".";
}

tl::unexpected<Error> other_suite(const BaselineHeader& header, const GatedRun& run) {
  const bool same_name = header.suite == run.suite;
  return fail(Reason::baseline_invalid,
              base_in_words(run) + " is a " + (run.base_is_report ? "report" : "baseline") +
                  " of the suite " + suite_in_words(header.suite, header.suite_path, same_name) + ", but " +
                  current_in_words(run) + " is of " + suite_in_words(run.suite, run.suite_place, same_name) +
                  what_to_do(run));
}

tl::unexpected<Error> of_a_mock_run(const GatedRun& run) {
  const std::string scores =
      base_in_words(run) + " has the scores of a mock run, whose answers no model gave, ";
  if (run.current_file) {
    return fail(Reason::baseline_invalid,
                scores + "and " + current_in_words(run) +
                    " has not: what differs would say nothing about a model; compare two of one kind.");
  }
  return fail(Reason::baseline_invalid,
              scores + "and this is none: write it anew with " + export_command(run) + ".");
}

/// What the name of a part of a fingerprint stands for.
std::string part_in_words(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> known{
      {{"checks", "the tests or how they are assessed"},
       {"claims", "the prompt or ontology of claims"},
       {"embeddings", "the embedding model"},
       {"judge", "the judge or its settings"},
       {"metrics", "the metrics or their versions"},
       {"model", "the model or its settings"},
       {"requests", "what the tests ask"}}};
  for (const auto& [part, words] : known) {
    if (part == name) return std::string(words);
  }
  for (const char* kind : {"arm", "prompt"}) {
    const std::string start = std::string(kind) + ' ';
    if (name.starts_with(start)) return "the " + start + backquoted(name.substr(start.size()));
  }
  return backquoted(name);
}

/// Those that differ, in words; empty where either side does not know its parts, or none differs.
std::string differing_parts(const FingerprintParts& then, const FingerprintParts& now) {
  if (then.empty() || now.empty()) return "";
  std::map<std::string, std::string> differing;
  for (const auto& [name, digest] : then) {
    const auto found = now.find(name);
    if (found == now.end()) differing[name] = part_in_words(name) + " (gone)";
    if (found != now.end() && found->second != digest) differing[name] = part_in_words(name);
  }
  for (const auto& [name, digest] : now) {
    if (!then.contains(name)) differing[name] = part_in_words(name) + " (new)";
  }
  // Other prompts and other tests are other requests.
  const bool is_explained = std::ranges::any_of(
      differing, [](const auto& one) { return one.first == "checks" || one.first.starts_with("prompt "); });
  if (is_explained) differing.erase("requests");
  std::vector<std::string> words;
  for (auto& [name, in_words] : differing) words.push_back(std::move(in_words));
  if (words.size() <= defaults::named_entries) return joined(words);
  const std::size_t more = words.size() - defaults::named_entries;
  words.resize(defaults::named_entries);
  return joined(words) + ", and " + std::to_string(more) + " more";
}

std::string other_configuration(const BaselineHeader& header, const GatedRun& run) {
  const std::string current = current_in_words(run);
  const std::string parts = differing_parts(header.fingerprint_parts, run.fingerprint_parts);
  const std::string what =
      parts.empty() ? "other tests, prompts, thresholds, model settings or metric versions than " + current
                    : "another configuration than " + current + " (what differs: " + parts + ")";
  return base_in_words(run) + " was made with " + what +
         advice_on_base(run, "once you accept what that changes");
}

}  // namespace

std::string base_in_words(const GatedRun& run) {
  return "`" + run.baseline_file + "`";
}

std::string current_in_words(const GatedRun& run) {
  return run.current_file ? "`" + *run.current_file + "`" : "this run";
}

std::string advice_on_base(const GatedRun& run, const std::string& when) {
  if (run.base_is_run || run.current_is_baseline) return ".";
  const std::string command =
      run.base_is_report ? run_words(run) + " --format json --output " + shell_word(run.baseline_file) + "`"
                         : export_command(run);
  return ": " + when + ", write it anew with " + command + ".";
}

std::string flags_to_repeat(std::string_view given_flags) {
  const auto given = parse_tree<nlohmann::json>(given_flags);
  std::string words;
  if (!given.is_object()) return words;
  for (const auto& [name, values] : given.items()) {
    if (std::ranges::find(gate_flags, name) != gate_flags.end()) continue;
    for (const auto& value : values) {
      if (!value.is_string()) continue;
      const auto text = value.get<std::string>();
      words += " --" + name;
      if (text != "true") words += ' ' + shell_word(text);
    }
  }
  return words;
}

Result<std::vector<GateNotice>> check_baseline(const BaselineHeader& header, const GatedRun& run) {
  if (header.suite != run.suite || lies_elsewhere(header, run)) return other_suite(header, run);
  if (header.mode == "mock" && !run.takes_mock_base) return of_a_mock_run(run);
  std::vector<GateNotice> notices;
  if (run.is_rerun && !run.strict) return notices;
  if (header.config_fingerprint != run.config_fingerprint) {
    notices.push_back({warning_of(run), "fingerprint_mismatch", other_configuration(header, run)});
  }
  if (header.assay_version != run.tool_version) {
    notices.push_back(
        {GateNotice::Severity::warning, "tool_version_mismatch",
         base_in_words(run) + " was written by version " + escaped_excerpt(header.assay_version) + " and " +
             (run.current_file ? current_in_words(run) + " by " : "this is ") +
             escaped_excerpt(run.tool_version) + advice_on_base(run, "if scores differ without a reason"),
         false});
  }
  return notices;
}

Error shares_no_case(const GatedRun& run) {
  return {Reason::baseline_invalid, base_in_words(run) + " shares no case with " + current_in_words(run) +
                                        ", so that nothing can be compared" + what_to_do(run)};
}

Result<void> check_shared_cases(const Baseline& baseline, const CaseList& cases, const GatedRun& run) {
  if (baseline.size() == 0 || cases.empty()) return {};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto entries = baseline.of_test(cases.id(i));
    if (entries.first != entries.last) return {};
  }
  return fail(shares_no_case(run));
}

void NamedScores::add(std::string_view test_id, std::string_view metric) {
  ++count_;
  if (first_.size() < defaults::named_entries)
    first_.push_back(backquoted(test_id) + " " + escaped_excerpt(metric));
}

std::string NamedScores::counted(std::string_view singular, std::string_view plural) const {
  return std::to_string(count_) + " " + std::string(count_ == 1 ? singular : plural);
}

std::string NamedScores::names() const {
  std::string text = joined(first_);
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

namespace {

/// Each pin is taken by a check, as the gate takes them.
bool checks_are_answered(const BaselineEntry& entry, std::span<const AssessedMetric> metrics) {
  const auto of_metric = [&](const AssessedMetric& metric) { return info(metric.id).name == entry.metric; };
  if (entry.checks.empty()) return entry.scores.size() <= 1 && std::ranges::count_if(metrics, of_metric) == 1;
  std::vector<CheckDigest> now;
  for (const AssessedMetric& one : metrics) {
    if (of_metric(one)) now.push_back(one.check());
  }
  std::vector<CheckDigest> pinned(entry.checks.begin(), entry.checks.end());
  std::ranges::sort(now);
  std::ranges::sort(pinned);
  return std::ranges::includes(now, pinned);
}

bool is_answered(const BaselineEntry& entry, std::span<const AssessedMetric> metrics) {
  if (entry.kind == PinKind::checks) return checks_are_answered(entry, metrics);
  if (entry.metric == passed_name) return std::ranges::any_of(metrics, &AssessedMetric::is_check);
  return std::ranges::any_of(metrics, [&](const AssessedMetric& metric) {
    return metric.is_scored() && is_text_of_score(entry.metric, metric.id, metric.name);
  });
}

}  // namespace

void UnusedEntries::visit(std::string_view test_id, std::span<const AssessedMetric> metrics) {
  pass_to(test_id);
  while (next_ < baseline_->size() && baseline_->entry(next_).test_id == test_id) {
    if (is_answered(baseline_->entry(next_), metrics)) {
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
  if (run.base_is_arm) {
    return GateNotice{warning_of(run), "unused_entries",
                      run.baseline_file + " has " + unused_.counted("score", "scores") +
                          " that another arm has none for (" + unused_.names() + ")."};
  }
  return GateNotice{
      warning_of(run), "unused_entries",
      base_in_words(run) + " has " +
          unused_.counted("entry that nothing in this run answers",
                          "entries that nothing in this run answers") +
          " (" + unused_.names() +
          "): if those tests or metrics were removed by intention, write the baseline anew with " +
          export_command(run) + "."};
}

void MissingEntries::visit(std::string_view test_id, std::span<const AssessedMetric> metrics) {
  for (const AssessedMetric& metric : metrics) {
    if (metric.asked_otherwise) {
      asked_otherwise_.add(test_id, metric.shown_name());
    } else if (metric.score && metric.cause == MetricCause::missing_in_baseline) {
      missing_.add(test_id, metric.shown_name());
    }
  }
}

std::vector<GateNotice> MissingEntries::finish(const GatedRun& run) const {
  std::vector<GateNotice> notices;
  if (asked_otherwise_.count() > 0 && (!run.is_rerun || run.strict)) {
    notices.push_back({warning_of(run), "expectation_mismatch",
                       base_in_words(run) + " has " + asked_otherwise_.counted("score", "scores") +
                           " of what the tests asked before (" + asked_otherwise_.names() +
                           "), which nothing is compared with: once you accept what is asked now, write it "
                           "anew with " +
                           export_command(run) + "."});
  }
  if (missing_.count() == 0) return notices;
  const std::string missing = missing_.counted("score has", "scores have");
  const std::string message =
      run.base_is_arm ? missing + " no counterpart under " + run.baseline_file + ", which had none there (" +
                            missing_.names() + "): run again if its answer was an error."
                      : missing + " no entry in " + base_in_words(run) + " (" + missing_.names() +
                            "): add them on the main branch with " + export_command(run) + ".";
  notices.push_back({GateNotice::Severity::info, "missing_entries", message});
  return notices;
}

}  // namespace sluice
