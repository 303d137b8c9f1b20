#include "coordinator/import/bound_checks.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace sluice {
namespace {

bool needs_model(const ImportedCheck& check) {
  const MetricInfo* metric = find_metric(check.type);
  return metric != nullptr && (is_judge_metric(metric->id) || metric->id == MetricId::semantic_similarity_to);
}

bool shows_values(const ImportedCheck& check) {
  return check.source && !check.variables.empty();
}

DocumentNode part_of(const ImportedCheck& check) {
  DocumentNode part = check.expectation;
  if (check.weight)
    std::get<DocumentNode::Table>(part.value)
        .push_back({"weight", check.line, {*check.weight, check.line, {}}});
  return part;
}

}  // namespace

void finish(ImportedCheck& check, DocumentNode expectation) {
  check.type = *text_in(expectation, "type");
  const MetricInfo* metric = find_metric(check.type);
  check.is_scored = metric != nullptr && metric->kind == MetricKind::scored;
  check.expectation = std::move(expectation);
}

tl::expected<void, std::string> finish(ImportedCheck& check, CheckSource source) {
  check.leniency = leniency_of(source);
  check.variables = source.variables;
  check.source = std::make_shared<const CheckSource>(std::move(source));
  const bool has_variables = !check.variables.empty();
  if (has_variables && needs_values(*check.source)) return {};
  auto expectation = has_variables ? expectation_of(*check.source) : expectation_of(*check.source, {});
  if (!expectation) return tl::unexpected(std::move(expectation.error()));
  finish(check, std::move(*expectation));
  return {};
}

bool make_group(ImportedCheck& group) {
  if (std::ranges::any_of(group.parts, needs_model)) return false;
  group.variables.clear();
  DocumentNode::Array of;
  for (const ImportedCheck& part : group.parts) {
    of.push_back(part_of(part));
    group.variables.insert(part.variables.begin(), part.variables.end());
  }
  const std::uint32_t line = group.line;
  DocumentNode::Table table;
  table.push_back({"type", line, {std::string("all_of"), line, {}}});
  table.push_back({"pass_mark", line, {group.pass_mark, line, {}}});
  table.push_back({"of", line, {std::move(of), line, {}}});
  finish(group, {std::move(table), line, {}});
  return true;
}

void note_weight(const ImportedCheck& check, const ImportFile& from) {
  from.with(check.file)
      .note(check.line, "\"weight\" of the check " + excerpt(check.foreign_type, defaults::quoted_bytes) +
                            " counts beside a \"threshold\" alone: left out, and it must pass as any other");
}

std::vector<ImportedCheck> with_sets_flat(std::vector<ImportedCheck> checks, const ImportFile& from) {
  std::vector<ImportedCheck> flat;
  for (ImportedCheck& check : checks) {
    if (!check.is_set) {
      flat.push_back(std::move(check));
      continue;
    }
    if (check.weight) note_weight(check, from);
    std::ranges::move(with_sets_flat(std::move(check.parts), from), std::back_inserter(flat));
  }
  return flat;
}

bool needs_values(const ImportedCheck& check) {
  return check.program || (shows_values(check) && needs_values(*check.source)) ||
         std::ranges::any_of(check.parts, [](const ImportedCheck& part) { return needs_values(part); });
}

bool depends_on_values(const ImportedCheck& check, const Variables& values) {
  return check.program || (shows_values(check) && depends_on_values(*check.source, values)) ||
         std::ranges::any_of(check.parts,
                             [&](const ImportedCheck& part) { return depends_on_values(part, values); });
}

std::optional<ImportedCheck> bound_check(ImportedCheck check, const Variables& values,
                                         const ImportFile& from) {
  if (check.source && shows_values(check)) check.leniency = leniency_of(*check.source, values);
  if (check.source && asks_for_space(*check.source, values)) check.leniency.loss = Loss::change;
  if (check.program || !depends_on_values(check, values)) return check;
  if (check.source) {
    auto expectation = expectation_of(*check.source, values);
    if (!expectation) leave_out(check, expectation.error(), from);
    if (!expectation) return std::nullopt;
    finish(check, std::move(*expectation));
    check.variables.clear();
    return check;
  }
  std::vector<ImportedCheck> parts;
  for (ImportedCheck& part : check.parts) {
    if (auto bound = bound_check(std::move(part), values, from)) parts.push_back(std::move(*bound));
  }
  check.parts = std::move(parts);
  if (check.parts.empty() || !make_group(check)) return std::nullopt;
  return check;
}

std::vector<ImportedCheck> in_one_group(std::vector<ImportedCheck> checks, double pass_mark,
                                        const ImportFile& from, std::uint32_t line) {
  if (checks.empty()) return checks;
  ImportedCheck group;
  group.foreign_type = "assert-set";
  group.file = from.name;
  group.line = line;
  group.pass_mark = pass_mark;
  group.parts = std::move(checks);
  if (make_group(group)) {
    for (const ImportedCheck& part : group.parts) {
      if (part.parts.empty()) continue;
      from.with(part.file).change(
          part.line,
          "an assert-set in a test with a \"threshold\" passes as a whole or not; there the share of its "
          "checks that pass counts");
    }
    return {std::move(group)};
  }
  from.change(
      line,
      "the \"threshold\" of a test whose checks a model judges, which no group takes: each check must "
      "pass, whatever its weight");
  return with_sets_flat(std::move(group.parts), from);
}

}  // namespace sluice
