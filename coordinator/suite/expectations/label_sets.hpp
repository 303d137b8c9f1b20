#pragma once

#include "common/documents/finding.hpp"
#include "common/model/expectation.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sluice {

/// The labels that the answers of a suite may have, by their path in the answer (TextExpectation): first
/// those that tests list, in their order, then those that are only expected.
using SuiteLabels = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Gathers them of all tests, and finds what makes them ambiguous. Of a path with too many it keeps no
/// further ones. Not thread-safe.
class LabelSets {
 public:
  /// Where a test stands: `file` is a position in the files of find_problems.
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
  };

  /// Those of the expectation and of its parts; of all metrics but label and not_label nothing. What
  /// not_label excludes is a label only if others say so: misspelt, it would always pass.
  void add(const TextExpectation& what, Place place);
  /// Labels that their own test does not list, that an answer cannot be told by, or that no answer could be:
  /// defaults::max_file_findings of them, and how many more.
  void find_problems(const std::vector<std::string>& files, std::vector<Finding>& findings) const;
  SuiteLabels all() const;

 private:
  struct Known {
    Place place;  ///< The first that has it.
    bool is_listed = false;
  };
  struct Set {
    std::map<std::string, Known> known;
    std::vector<std::string> listed;        ///< Each once.
    std::vector<std::string> last_listed;   ///< By the last test that lists any; often all do alike.
    std::map<std::string, Place> excluded;  ///< By not_label, with the first that has it.
  };
  struct Stranger {
    std::string label;
    std::string nearest;  ///< Of those that are listed, as did_you_mean says it.
    Place place;
  };

  std::map<std::string, Set> sets_;
  std::vector<Stranger> strangers_;  ///< At most defaults::max_file_findings.
  std::size_t more_strangers_ = 0;
  std::size_t more_unfilled_ = 0;  ///< Further ones that variables should have filled.
};

}  // namespace sluice
