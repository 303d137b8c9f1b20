#include "worker/leased_units.hpp"

#include "worker/reports.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

std::vector<SharedUnit> LeasedUnits::take(std::vector<WorkUnit> units, bool leaving) {
  std::vector<SharedUnit> fresh;
  for (auto& unit : units) {
    const auto id = unit.unit;
    if (leaving && !held_.holds(id)) {
      returned_.push_back(id);
    } else if (auto shared = held_.add(std::move(unit))) {
      // The coordinator ended the lease that was given back; said now, it would end this one.
      std::erase(returned_, id);
      fresh.push_back(std::move(shared));
    } else if (held_.runs(id)) {
      started_.push_back(id);
    } else if (const auto* result = held_.unacknowledged(id)) {
      finished_.push_back(*result);
    }
  }
  return fresh;
}

void LeasedUnits::start(const std::vector<UnitId>& units) {
  for (const auto unit : units) {
    if (held_.begin(unit)) started_.push_back(unit);
  }
}

const UnitResult* LeasedUnits::finish(UnitResult result) {
  const UnitId unit = result.unit;
  if (!held_.finish(fit_for_report(std::move(result)))) return nullptr;
  return &finished_.emplace_back(*held_.unacknowledged(unit));
}

void LeasedUnits::give_back(const std::vector<UnitId>& units) {
  for (const auto unit : units) {
    if (held_.give_back(unit)) returned_.push_back(unit);
  }
}

void LeasedUnits::spend(std::vector<UnitSpend> spent) {
  std::ranges::move(spent, std::back_inserter(spent_));
}

void LeasedUnits::report_again() {
  started_ = held_.running_units();
  finished_ = held_.unacknowledged();
}

ReportSchedule::Load LeasedUnits::load(std::uint32_t concurrency) const {
  return {held_.waiting(), concurrency, held_.done() > finished_.size()};
}

std::vector<wire::Report> LeasedUnits::take_reports(const std::string& run_id, std::uint32_t window) {
  return make_reports(run_id, window, std::exchange(started_, {}), std::exchange(finished_, {}),
                      std::exchange(returned_, {}), std::exchange(spent_, {}));
}

}  // namespace sluice
