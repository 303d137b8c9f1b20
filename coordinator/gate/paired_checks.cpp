#include "coordinator/gate/paired_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sluice {
namespace {

CheckDigest check_of(const ComparedMetric* metric) {
  return metric->check;
}

/// Those of a side that does not say which they are stand first.
bool says_which(IndexedCase::Metrics checks) {
  return checks.empty() || check_of(checks.front()) != 0;
}

}  // namespace

PairedChecks::PairedChecks(const IndexedCase& base, const IndexedCase& current, std::string_view name) {
  const IndexedCase::Metrics before = base.all(name);
  const IndexedCase::Metrics now = current.all(name);
  std::ranges::set_difference(before, now, std::back_inserter(missing_), {}, check_of, check_of);
  const bool are_known = says_which(before) && says_which(now);
  const std::size_t fewer = before.size() - std::min(before.size(), now.size());
  asks_otherwise_ = are_known && fewer == 0 && !missing_.empty();
  if (before.empty() || (are_known && missing_.empty())) {
    of_new_ = RowChange::added;
  } else if (asks_otherwise_ && before.size() == now.size()) {
    of_new_ = RowChange::changed;
  }
  if (!are_known || fewer == 0) missing_.resize(fewer);
}

}  // namespace sluice
