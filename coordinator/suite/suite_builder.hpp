#pragma once

#include "common/documents/finding.hpp"
#include "common/hash.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/suite.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a suite file itself sets beside its thresholding; flags and environment do not count.
struct SuiteDemands {
  std::optional<double> min_stability;
  std::optional<double> repeat;
  std::optional<Digest> examples{};  ///< What stands for the solved examples and how they are used.
};

/// Puts cases from any number of files together to a suite: order, duplicate ids, metrics and fingerprint.
/// Takes 28 bytes a case beside the CaseList. Not thread-safe.
class SuiteBuilder {
 public:
  /// A number for `add`; the path is how findings name the file.
  std::uint32_t add_file(std::string path);
  /// Where a case stands; the line is that of its id.
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
  };
  /// A case without an id is left out: it has a finding.
  void add(Case held, Place place);
  /// As that, by who has its case_fingerprints already.
  void add(Case held, const CaseFingerprints& fingerprints, Place place);
  /// A case that stays in its file; `fingerprints` are its case_fingerprints.
  void add(std::shared_ptr<const CaseFile> file, CaseList::Place in_file, const Case& one,
           const CaseFingerprints& fingerprints, Place place);

  /// Those that were added, in the order of that.
  const CaseList& cases() const { return suite_.cases; }
  /// Whether any of the cases has the suite's prompts.
  bool takes_prompts() const { return takes_prompts_; }
  /// Every id that an earlier case has already, as findings at the later one; at most max_file_findings.
  void find_duplicates(std::vector<Finding>& findings);
  /// Labels of the tests that answers cannot be read as (label_sets.hpp).
  void find_wrong_labels(std::vector<Finding>& findings) const;
  /// More names of scores than defaults::max_score_names.
  void find_too_many_scores(std::vector<Finding>& findings) const;
  /// The suite; the builder is then empty. REQUIRES: no duplicates.
  Suite finish(std::string name, const Thresholding& thresholding, const SuiteDemands& demands = {});

 private:
  /// Half of a SHA-256 for each case until all are there: a million must fit.
  using ShortDigest = std::array<std::uint8_t, 16>;
  struct ScoreUse {
    std::uint64_t tests = 0;
    Place first{};
  };

  void note(const Case& one, const CaseFingerprints& fingerprints, Place place);
  std::string text_of(Place place) const;
  void note_metric(MetricId metric, const std::string& score_name, Place place);
  std::vector<ScoreId> scores() const;
  const std::vector<std::uint32_t>& order();

  Suite suite_;
  std::vector<std::string> files_;
  std::vector<Place> places_;
  std::vector<ShortDigest> digests_;
  std::vector<std::uint32_t> order_;  ///< The cases by id, then as they were added.
  std::bitset<256> metrics_;
  std::bitset<256> unnamed_scores_;  ///< By metric.
  std::map<ScoreId, ScoreUse> named_scores_;
  std::optional<Place> too_many_scores_;  ///< Where the first stands that is one too many.
  LabelSets labels_;
  bool takes_prompts_ = false;
  Digest judging_{};  ///< Of all cases, each with its id: their order is no matter.
};

}  // namespace sluice
