#include "coordinator/import/score_names.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/prompts/arms.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace sluice {
namespace {

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

/// What a scored check asks for, whatever its limit is: before the values of a test are filled in, as they
/// differ where the question is one.
std::string question_of(const ImportedCheck& check) {
  const ForeignCheck& asked = check.source->check;
  std::string question = (asked.is_negated ? "not\n" : "\n") + asked.context.value_or("");
  for (const std::string& value : asked.values) question += '\n' + json_string(value);
  return question;
}

/// After the type, which comes first.
void set_name(ImportedCheck& check, const std::string& name) {
  auto& table = std::get<DocumentNode::Table>(check.expectation.value);
  std::erase_if(table, [](const DocumentEntry& entry) { return entry.key == "name"; });
  if (name.empty()) return;
  table.insert(table.begin() + 1, {"name", check.line, {name, check.line, {}}});
}

std::string numbered(const std::string& name, std::size_t number) {
  const std::string suffix = (name.empty() ? "" : "-") + std::to_string(number);
  return name.substr(0, defaults::max_arm_name_bytes - suffix.size()) + suffix;
}

bool is_numbered(const std::string& name, const std::string& own) {
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto dash = name.rfind('-');
  const auto read = std::from_chars(name.data() + (dash == std::string::npos ? 0 : dash + 1), end, number);
  return read.ec == std::errc() && read.ptr == end && name == numbered(own, number);
}

}  // namespace

std::vector<ImportedCheck> ScoreNames::of_default(std::vector<ImportedCheck> checks) {
  std::vector<ImportedCheck> result = named(std::move(checks));
  for (const ImportedCheck& check : result) {
    if (!check.is_scored) continue;
    const Question question(check.type, question_of(check));
    reserved_[check.type].insert(names_.at(question));
    defaults_.emplace(question, check);
  }
  return result;
}

std::vector<ImportedCheck> ScoreNames::of_test(std::vector<ImportedCheck> checks) {
  std::vector<ImportedCheck> result = named(std::move(checks));
  for (ImportedCheck& check : result) {
    if (!check.is_scored) continue;
    const auto replaced = defaults_.find({check.type, question_of(check)});
    if (replaced == defaults_.end()) continue;
    note_other_judge(check, replaced->second);
    take_stricter_limit(check.expectation, replaced->second.expectation);
  }
  return result;
}

void ScoreNames::learn(const std::vector<ImportedCheck>& checks) {
  std::map<std::string, std::size_t> of_metric;
  for (const ImportedCheck& check : checks) of_metric[check.type] += check.is_scored ? 1 : 0;
  std::vector<const ImportedCheck*> several;
  for (const ImportedCheck& check : checks) {
    if (check.is_scored && of_metric[check.type] > 1) several.push_back(&check);
  }
  (void)names_for(several);
}

std::vector<std::string> ScoreNames::names_for(const std::vector<const ImportedCheck*>& checks) {
  std::vector<std::string> names(checks.size());
  std::vector<std::size_t> unnamed;
  std::map<std::string, std::set<std::string>> taken;  // By metric.
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto known = names_.find({checks[i]->type, question_of(*checks[i])});
    if (known == names_.end() || !taken[checks[i]->type].insert(known->second).second) {
      unnamed.push_back(i);
    } else {
      names[i] = known->second;
    }
  }
  for (const std::size_t i : unnamed) {
    auto& of_metric = taken[checks[i]->type];
    names[i] = free_name(*checks[i], of_metric);
    of_metric.insert(names[i]);
    names_.emplace(Question(checks[i]->type, question_of(*checks[i])), names[i]);
  }
  return names;
}

std::vector<ImportedCheck> ScoreNames::named(std::vector<ImportedCheck> checks) {
  std::vector<ImportedCheck> result = without_equal_ones(std::move(checks));
  std::vector<const ImportedCheck*> scored;
  for (const ImportedCheck& check : result) {
    if (check.is_scored) scored.push_back(&check);
  }
  const std::vector<std::string> names = names_for(scored);
  auto name = names.begin();
  for (ImportedCheck& check : result) {
    if (!check.is_scored) continue;
    if (!check.score_name.empty()) note_other_name(check, *name);
    set_name(check, *name++);
  }
  return result;
}

std::vector<ImportedCheck> ScoreNames::without_equal_ones(std::vector<ImportedCheck> checks) const {
  std::vector<ImportedCheck> result;
  std::map<Question, std::size_t> places;
  for (ImportedCheck& check : checks) {
    const bool is_new =
        !check.is_scored || places.try_emplace({check.type, question_of(check)}, result.size()).second;
    if (is_new) {
      result.push_back(std::move(check));
      continue;
    }
    ImportedCheck& same = result[places.at({check.type, question_of(check)})];
    note_other_judge(check, same);
    take_stricter_limit(same.expectation, check.expectation);
    if (!check.score_name.empty() && check.score_name != same.score_name) note_lost_name(check);
  }
  return result;
}

std::string ScoreNames::free_name(const ImportedCheck& check, const std::set<std::string>& taken) {
  const std::set<std::string>& reserved = reserved_[check.type];
  const std::string own = check.score_name.empty() ? "" : own_name(check);
  std::string name = own;
  for (std::size_t n = 2; taken.contains(name) || reserved.contains(name); ++n) name = numbered(own, n);
  return name;
}

const std::string& ScoreNames::own_name(const ImportedCheck& check) {
  const auto [known, is_new] = own_names_.try_emplace(check.score_name);
  if (!is_new) return known->second;
  const std::string plain = arm_name_of(check.score_name);
  std::string name = plain;
  const auto is_taken = [&] {
    return std::ranges::any_of(own_names_, [&](const auto& one) { return one.second == name; });
  };
  for (std::size_t n = 2; is_taken(); ++n) name = numbered(plain, n);
  known->second = name;
  if (name != check.score_name) {
    from_.with(check.file)
        .note(check.line, "the score " + json_string(excerpt(check.score_name, defaults::quoted_bytes)) +
                              " is called " + json_string(name) +
                              ": names are of letters, digits, \".\", \"_\" and \"-\"");
  }
  return known->second;
}

void ScoreNames::note_other_name(const ImportedCheck& check, const std::string& name) {
  const std::string own = own_name(check);
  if (name == own) return;
  if (!is_numbered(name, own)) return note_lost_name(check);
  from_.with(check.file)
      .note(check.line, "a further score of the kind " + check.type + " with the \"metric\" " +
                            json_string(excerpt(check.score_name, defaults::quoted_bytes)) + " is called " +
                            json_string(name));
}

void ScoreNames::note_other_judge(const ImportedCheck& check, const ImportedCheck& same) const {
  const MetricInfo* metric = find_metric(check.type);
  if (metric == nullptr || !is_judge_metric(positive(metric->id))) return;
  const auto judge_of = [&](const ImportedCheck& one) { return one.judge.empty() ? judge_ : one.judge; };
  const auto prompt_of = [](const ImportedCheck& one) {
    return one.rubric_prompt ? canonical_json(*one.rubric_prompt) : std::string();
  };
  if (judge_of(check) == judge_of(same) && prompt_of(check) == prompt_of(same)) return;
  from_.with(check.file)
      .change(check.line, "the check " + excerpt(check.foreign_type, defaults::quoted_bytes) +
                              " asks for the same as another, by another \"provider\" or \"rubricPrompt\", "
                              "of which a suite has one: one check stands for both");
}

void ScoreNames::note_lost_name(const ImportedCheck& check) const {
  from_.with(check.file)
      .note(check.line, "\"metric\" of the check " + excerpt(check.foreign_type, defaults::quoted_bytes) +
                            ", " + json_string(excerpt(check.score_name, defaults::quoted_bytes)) +
                            ": left out, as another check asks for the same, which has a name");
}

}  // namespace sluice
