#include "coordinator/import/bound_checks.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <cstddef>
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

double limit_of(const DocumentNode& expectation) {
  return number_in(expectation, "min_score").value_or(defaults::judge_min_score);
}

/// Of two that become one, the stricter limit holds for both.
void take_stricter_limit(DocumentNode& own, const DocumentNode& other) {
  const double limit = limit_of(other);
  if (limit_of(own) >= limit) return;
  auto& table = std::get<DocumentNode::Table>(own.value);
  std::erase_if(table, [](const DocumentEntry& entry) { return entry.key == "min_score"; });
  table.push_back({"min_score", other.line, {limit, other.line, {}}});
}

/// What a score asks for, whatever it is called and its limit is.
std::string question_of(const DocumentNode& expectation) {
  DocumentNode::Table table = std::get<DocumentNode::Table>(expectation.value);
  std::erase_if(table,
                [](const DocumentEntry& entry) { return entry.key == "min_score" || entry.key == "name"; });
  return canonical_json({std::move(table), expectation.line, {}});
}

std::string name_in(const DocumentNode& expectation) {
  const std::string* name = text_in(expectation, "name");
  return name != nullptr ? *name : std::string();
}

/// After the type, which comes first.
void set_name(ImportedCheck& check, const std::string& name) {
  if (name.empty()) return;
  auto& table = std::get<DocumentNode::Table>(check.expectation.value);
  table.insert(table.begin() + 1, {"name", check.line, {name, check.line, {}}});
}

bool ask_for_the_same(const ImportedCheck& one, const ImportedCheck& other) {
  return one.is_scored && one.type == other.type &&
         question_of(one.expectation) == question_of(other.expectation);
}

/// The check's own, or the first number behind it that is free.
std::string free_name(const ImportedCheck& check, std::span<const ImportedCheck> checks,
                      std::span<const ImportedCheck> shared) {
  const auto is_taken = [&](const std::string& name) {
    const auto has_it = [&](const ImportedCheck& one) {
      return one.is_scored && one.type == check.type && name_in(one.expectation) == name;
    };
    return std::ranges::any_of(checks, has_it) || std::ranges::any_of(shared, has_it);
  };
  const std::string own = check.score_name;
  std::string name = own;
  for (std::size_t n = 2; is_taken(name); ++n) name = (own.empty() ? "" : own + "-") + std::to_string(n);
  return name;
}

}  // namespace

void finish(ImportedCheck& check, DocumentNode expectation) {
  check.type = *text_in(expectation, "type");
  const MetricInfo* metric = find_metric(check.type);
  check.is_scored = metric != nullptr && metric->kind == MetricKind::scored;
  check.expectation = std::move(expectation);
}

tl::expected<void, std::string> finish(ImportedCheck& check, CheckSource source) {
  check.leniency = leniency_of(source.check);
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
      from.with(part.file).note(
          part.line,
          "an assert-set in a test with a \"threshold\" passes as a whole or not; there the share of its "
          "checks that pass counts");
    }
    return {std::move(group)};
  }
  from.note(line,
            "the \"threshold\" of a test whose checks a model judges, which no group takes: each check must "
            "pass, whatever its weight");
  return with_sets_flat(std::move(group.parts), from);
}

std::vector<ImportedCheck> with_names_of_scores(std::vector<ImportedCheck> checks,
                                                std::span<const ImportedCheck> shared) {
  std::vector<ImportedCheck> result;
  for (ImportedCheck& check : checks) {
    const auto asks_for_it = [&](const ImportedCheck& one) { return ask_for_the_same(one, check); };
    const auto same = std::ranges::find_if(result, asks_for_it);
    if (same != result.end()) {
      take_stricter_limit(same->expectation, check.expectation);
      continue;
    }
    const auto replaced = std::ranges::find_if(shared, asks_for_it);
    if (replaced != shared.end()) {
      take_stricter_limit(check.expectation, replaced->expectation);
      set_name(check, name_in(replaced->expectation));
    } else if (check.is_scored) {
      set_name(check, free_name(check, result, shared));
    }
    result.push_back(std::move(check));
  }
  return result;
}

}  // namespace sluice
