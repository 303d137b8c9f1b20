#include "coordinator/output/json_writer.hpp"
#include "coordinator/score_files/baseline_file.hpp"

namespace sluice {
namespace {

void write_stability(Json& json, const BaselineStability& stability) {
  json.key("stability").open('{');
  json.member("score", stability.score);
  json.member("cases", stability.cases);
  json.member("answers", stability.answers);
  json.member("repeats", std::uint64_t{stability.repeats});
  json.key("perturbations").open('[');
  for (const std::string& perturbation : stability.perturbations) json.value(perturbation);
  json.close(']');
  json.close('}');
}

/// `true`, or a list where the test makes several checks by the metric.
void write_checks(Json& json, const BaselineEntry& entry) {
  json.key("passed");
  if (entry.scores.empty()) {
    json.value(entry.score > 0.0);
    if (!entry.checks.empty()) json.member("check", check_text(entry.checks.front()));
    return;
  }
  json.open('[');
  for (const double passed : entry.scores) json.value(passed > 0.0);
  json.close(']');
  if (entry.checks.empty()) return;
  json.key("check").open('[');
  for (const CheckDigest check : entry.checks) json.value(check_text(check));
  json.close(']');
}

}  // namespace

void write_baseline(const Baseline& baseline, Sink& sink) {
  BufferedWriter writer(sink);
  Json json(writer.text());
  const auto member = [&json](std::string_view name, const auto& value) {
    json.line(1);
    json.member(name, value);
  };
  json.open('{');
  member("schema_version", baseline_schema_version);
  member("suite", baseline.header.suite);
  if (!baseline.header.suite_path.empty()) member("suite_path", baseline.header.suite_path);
  member("assay_version", baseline.header.assay_version);
  member("created_at", baseline.header.created_at);
  member("config_fingerprint", baseline.header.config_fingerprint);
  if (!baseline.header.mode.empty()) member("mode", baseline.header.mode);
  if (baseline.stability) {
    json.line(1);
    write_stability(json, *baseline.stability);
  }
  json.line(1);
  json.key("entries").open('[');
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    const BaselineEntry entry = baseline.entry(i);
    json.line(2);
    json.open('{');
    json.member("test_id", entry.test_id);
    json.member("metric", entry.metric);
    if (entry.kind == PinKind::checks) {
      write_checks(json, entry);
    } else {
      json.member("score", entry.score);
    }
    if (entry.kind == PinKind::score && !entry.scores.empty()) {
      json.key("scores").open('[');
      for (const double score : entry.scores) json.value(score);
      json.close(']');
    }
    if (!entry.meta.empty()) {
      json.key("meta");
      json.text() += entry.meta;
    }
    json.close('}');
    writer.passed();
  }
  if (baseline.size() > 0) json.text() += "\n  ";
  json.close(']');
  json.text() += '\n';
  json.close('}');
  json.text() += '\n';
}

}  // namespace sluice
