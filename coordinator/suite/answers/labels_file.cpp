#include "coordinator/suite/answers/labels_file.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/json_lines.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <array>
#include <map>

namespace sluice {
namespace {

constexpr std::string_view label_example = R"(a label is {"id": "TEST", "passed": true})";
constexpr std::array<std::string_view, 3> label_keys{"id", "metric", "passed"};

struct ParsedLabel {
  std::string id;
  std::optional<ScoreId> score;
  bool passed = false;
};

std::string judge_metric_names() {
  std::string names;
  for (const MetricInfo& one : metric_catalogue()) {
    if (!is_judge_metric(one.id)) continue;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  return names;
}

/// What is wrong with the line; nothing if the label is read.
std::optional<std::string> read_label(const DocumentNode::Table& entries, ParsedLabel& label) {
  bool has_id = false;
  bool has_passed = false;
  for (const auto& [key, line, value, place] : entries) {
    if (key == "id") {
      const auto* text = std::get_if<std::string>(&value.value);
      if (text == nullptr || text->empty()) return "`id` must be the id of a test, as a string";
      label.id = *text;
      has_id = true;
    } else if (key == "passed") {
      const auto* passed = std::get_if<bool>(&value.value);
      if (passed == nullptr) {
        return "`passed` is " + std::string(type_name(value, Notation::json)) + ", expected true or false";
      }
      label.passed = *passed;
      has_passed = true;
    } else if (key == "metric") {
      const auto* name = std::get_if<std::string>(&value.value);
      const ScoreParts score = name == nullptr ? ScoreParts{} : parts_of_score(*name);
      if (score.metric == nullptr || !is_judge_metric(score.metric->id)) {
        return "`metric` must be one that a judge scores: " + judge_metric_names() +
               "; with the name that a test gives the score, as \"rubric:tone\"";
      }
      label.score = ScoreId{score.metric->id, std::string(score.name)};
    } else {
      return "unknown key \"" + excerpt(key, 80) + "\"; " + std::string(label_example) +
             did_you_mean(key, label_keys);
    }
  }
  if (!has_id) return "`id` is missing; " + std::string(label_example);
  if (!has_passed) return "`passed` is missing; " + std::string(label_example);
  return std::nullopt;
}

/// Why the label says nothing of the test; empty if it does.
std::string not_asked(const Case& test, const std::optional<ScoreId>& labelled) {
  std::string names;
  for (const Expectation& expectation : test.expectations) {
    const ScoreId score{expectation.what.metric, expectation.name};
    if (!is_judge_metric(score.metric)) continue;
    if (!labelled || score == *labelled) return "";
    names += (names.empty() ? "" : ", ") + to_string(score);
  }
  const std::string words = "the test \"" + excerpt(test.id, 80) + "\" ";
  if (names.empty()) return words + "has no judge metric, so nothing is compared with the label; take it out";
  return words + "is not judged by `" + to_string(*labelled) + "` but by " + names +
         "; name that one, or take the label out";
}

/// `"t1@a", "t1@b", ...`: what the answers to the test are called under arms; empty if there are none.
std::string ids_under_arms(const std::map<std::string_view, std::size_t>& places, const std::string& test) {
  const std::string start = test + arm_separator;
  std::string ids;
  std::size_t count = 0;
  for (auto at = places.lower_bound(start); at != places.end() && at->first.starts_with(start); ++at) {
    if (++count > defaults::named_entries) return ids + ", ...";
    ids += (ids.empty() ? "\"" : ", \"") + excerpt(at->first, 80) + '"';
  }
  return ids;
}

}  // namespace

std::optional<bool> Labels::find(std::string_view test, const ScoreId& score) const {
  for (const std::optional<ScoreId>& of : {std::optional(score), std::optional<ScoreId>()}) {
    const auto found = labels_.find({std::string(test), of});
    if (found != labels_.end()) return found->second.passed;
  }
  return std::nullopt;
}

std::vector<Finding> Labels::check_tests(const CaseList& cases, bool is_part) const {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < cases.size(); ++i) places.emplace(cases.id(i), i);
  std::vector<Finding> findings;
  for (const auto& [key, label] : labels_) {
    const auto& [id, score] = key;
    const auto found = places.find(id);
    std::string problem;
    if (found != places.end()) {
      const auto test = cases.read(found->second);
      problem = test ? not_asked(**test, score) : test.error().message;
    } else if (const std::string under_arms = ids_under_arms(places, id); !under_arms.empty()) {
      problem = "the test \"" + excerpt(id, 80) + "\" is answered by several arms: label each answer, as " +
                under_arms;
    } else if (!is_part) {
      problem = "the suite has no test \"" + excerpt(id, 80) +
                "\"; take the label out, or name the test as the suite does";
    }
    if (!problem.empty()) findings.push_back({file_, label.line, std::move(problem)});
  }
  sort_findings(findings);
  shorten_findings(findings, file_, "more labels that fit no test");
  return findings;
}

tl::expected<Labels, std::vector<Finding>> parse_labels(std::string_view text, const std::string& file) {
  Labels labels;
  labels.file_ = file;
  std::vector<Finding> findings;
  JsonLines lines(text);
  while (findings.size() < defaults::max_file_findings) {
    const auto line = lines.next();
    if (!line) break;
    const auto& [number, node] = *line;
    if (!node) {
      findings.push_back({file, node.error().line, node.error().message});
      continue;
    }
    const auto* entries = std::get_if<DocumentNode::Table>(&node->value);
    if (entries == nullptr) {
      findings.push_back({file, number,
                          "the line is " + std::string(type_name(*node, Notation::json)) + "; " +
                              std::string(label_example)});
      continue;
    }
    ParsedLabel label;
    if (auto problem = read_label(*entries, label)) {
      findings.push_back({file, number, std::move(*problem)});
      continue;
    }
    const auto [place, is_new] =
        labels.labels_.try_emplace({label.id, label.score}, Labels::Label{label.passed, number});
    if (is_new) continue;
    findings.push_back({file, number,
                        "the test \"" + excerpt(label.id, 80) + "\" is labelled in line " +
                            std::to_string(place->second.line) + " already; leave one of the two"});
  }
  if (findings.empty() && labels.size() == 0)
    findings.push_back({file, 0, "there is no label in it; " + std::string(label_example)});
  if (!findings.empty()) return tl::unexpected(std::move(findings));
  return labels;
}

tl::expected<Labels, std::vector<Finding>> load_labels(const std::string& file) {
  const auto text = read_file(file, defaults::max_labels_bytes);
  if (!text) return tl::unexpected(std::vector<Finding>{{file, 0, text.error().message}});
  return parse_labels(*text, file);
}

}  // namespace sluice
