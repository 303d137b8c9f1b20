#include "coordinator/suite/expectations/label_sets.hpp"

#include "common/checks/label_form.hpp"
#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

std::string in_quotes(std::string_view label) {
  return '"' + excerpt(one_line(label), defaults::quoted_bytes) + '"';
}

/// Why no answer can be this label; empty if one can.
std::string problem_with(const std::string& label, const Result<std::string>& form) {
  if (!form) return form.error().message;
  if (label.size() > most_label_bytes) return "has more than " + std::to_string(most_label_bytes) + " bytes";
  if (one_line(label) != label)
    return "must be one line, with single blanks between its words and none at its ends";
  if (form->empty()) return "is empty without the quotes, full stop and Markdown that answers may have";
  return "";
}

std::string problem_with_excluded(const std::string& label, const std::vector<std::string_view>& labels) {
  const std::string nearest = did_you_mean(label, labels);
  return "no answer can be the label " + in_quotes(label) + " of not_label, which no test lists or expects" +
         (nearest.empty() ? "; list all labels as \"labels\"" : nearest);
}

/// It was to be filled in: what hindered that is a finding of its own.
bool may_be_unfilled(std::string_view label) {
  return label == stand_in_value || label.find("{{") != std::string_view::npos;
}

}  // namespace

void LabelSets::add(const TextExpectation& what, Place place) {
  for (const TextExpectation& part : what.parts) add(part, place);
  // Where it could not be read there is a finding already.
  const bool is_of_labels = positive(what.metric) == MetricId::label;
  if (!is_of_labels || what.texts.size() < first_label || what.texts.front().empty()) return;
  Set& set = sets_[what.texts[1]];
  if (set.known.size() > most_labels) return;  // That is wrong already; a million others take no memory.
  const auto listed = labels_in(what.texts);
  if (!std::ranges::equal(listed, set.last_listed)) {
    set.last_listed.assign(listed.begin(), listed.end());
    for (const std::string& label : listed) {
      Known& known = set.known.try_emplace(label, Known{place}).first->second;
      if (!std::exchange(known.is_listed, true)) set.listed.push_back(label);
    }
  }
  const std::string& expected = what.texts.front();
  if (is_negated(what.metric)) {
    if (set.excluded.size() <= most_labels) set.excluded.try_emplace(expected, place);
    return;
  }
  set.known.try_emplace(expected, Known{place});
  if (listed.empty() || std::ranges::find(listed, expected) != listed.end()) return;
  if (strangers_.size() == defaults::max_file_findings) {
    ++(may_be_unfilled(expected) ? more_unfilled_ : more_strangers_);
  } else {
    const std::vector<std::string_view> candidates(listed.begin(), listed.end());
    strangers_.push_back({expected, did_you_mean(expected, candidates), place});
  }
}

void LabelSets::find_problems(const std::vector<std::string>& files, std::vector<Finding>& findings) const {
  const std::size_t before = findings.size();
  std::size_t more = more_strangers_ + (before > 0 ? 0 : more_unfilled_);
  const auto report = [&](Place place, std::string message) {
    if (findings.size() - before == defaults::max_file_findings) {
      ++more;
    } else {
      findings.push_back({files.at(place.file), place.line, std::move(message)});
    }
  };
  for (const Stranger& one : strangers_) {
    if (before > 0 && may_be_unfilled(one.label)) continue;
    report(one.place, "the expected label " + in_quotes(one.label) + " is none of the test's \"labels\"" +
                          (one.nearest.empty() ? "; add it to them" : one.nearest));
  }
  for (const auto& [path, set] : sets_) {
    std::map<std::string, std::string_view> by_form;
    for (const auto& [label, known] : set.known) {
      const auto form = label_form(label);
      const std::string problem = problem_with(label, form);
      if (!problem.empty()) {
        report(known.place, "the label " + in_quotes(label) + " " + problem);
        continue;
      }
      const auto [same, is_new] = by_form.emplace(*form, label);
      if (is_new) continue;
      const Place other = set.known.at(std::string(same->second)).place;
      report(known.place,
             "the label " + in_quotes(label) + " cannot be told from " + in_quotes(same->second) + " (" +
                 files.at(other.file) + ":" + std::to_string(other.line) +
                 "): case, quotes, a full stop and Markdown do not count in an answer; write one of "
                 "them in both places");
    }
    for (const auto& [label, place] : set.excluded) {
      if (set.known.contains(label) || (before > 0 && may_be_unfilled(label))) continue;
      std::vector<std::string_view> names;
      for (const auto& [name, known] : set.known) names.push_back(name);
      report(place, problem_with_excluded(label, names));
    }
    if (set.known.size() > most_labels) {
      report(set.known.begin()->second.place,
             "the suite has more than " + std::to_string(most_labels) + " labels" +
                 (path.empty() ? "" : " at " + in_quotes(path)) +
                 ": texts that are none of a fixed list are checked by exact_match");
    }
  }
  if (more > 0)
    findings.push_back(
        {files.front(), 0,
         std::to_string(more) + " more " + (more == 1 ? "label" : "labels") + " cannot be used"});
}

SuiteLabels LabelSets::all() const {
  SuiteLabels labels;
  for (const auto& [path, set] : sets_) {
    std::vector<std::string>& of_path = labels[path];
    of_path = set.listed;
    for (const auto& [label, known] : set.known) {
      if (!known.is_listed) of_path.push_back(label);
    }
  }
  return labels;
}

}  // namespace sluice
