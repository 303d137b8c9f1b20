#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/case_list.hpp"
#include "coordinator/suite/score_id.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// What people say of the answers to tests: JSON Lines of `{"id": TEST, "passed": true}`, where `metric` may
/// name the judge score that is meant (score_text), else all of the test are.
class Labels {
 public:
  /// The verdict on a test by this score; one that names the score goes before one that names none.
  std::optional<bool> find(std::string_view test, const ScoreId& score) const;
  std::size_t size() const { return labels_.size(); }

  /// A finding for each label that says nothing: of a test that is not there, or that no judge metric, or not
  /// the one whose score is named, asks of; after defaults::max_file_findings how many more. `is_part`: tests
  /// that are not among the cases may be elsewhere in the suite.
  std::vector<Finding> check_tests(const CaseList& cases, bool is_part) const;

 private:
  friend tl::expected<Labels, std::vector<Finding>> parse_labels(std::string_view text,
                                                                 const std::string& file);
  struct Label {
    bool passed = false;
    std::uint32_t line = 0;
  };
  using Key = std::pair<std::string, std::optional<ScoreId>>;

  std::string file_;
  std::map<Key, Label> labels_;
};

/// Either all labels, or everything that is wrong: lines that are no such object, unknown keys, a metric that
/// no judge gives, a test that is labelled twice, no label at all. Lines without anything are passed over.
tl::expected<Labels, std::vector<Finding>> parse_labels(std::string_view text, const std::string& file);
/// The same of a file of at most defaults::max_labels_bytes.
tl::expected<Labels, std::vector<Finding>> load_labels(const std::string& file);

}  // namespace sluice
