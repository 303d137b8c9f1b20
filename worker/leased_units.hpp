#pragma once

#include "worker/held_units.hpp"
#include "worker/report_schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// The units that a worker was leased in a run, and what the coordinator does not know of them yet. Pure; not
/// thread-safe.
class LeasedUnits {
 public:
  /// WORK has come: those of the units to begin with. One that is held already was leased again, since the
  /// coordinator does not know how far it is: that is to be reported. While the worker is `leaving`, what is
  /// new was on its way when the worker reported that, and is given back.
  std::vector<SharedUnit> take(std::vector<WorkUnit> units, bool leaving);
  void start(const std::vector<UnitId>& units);
  /// The result, to be reported as fit_for_report; null if the unit is not worked on (its run was dropped
  /// meanwhile).
  const UnitResult* finish(UnitResult result);
  void give_back(const std::vector<UnitId>& units);
  /// What units took that is in no result, to be reported.
  void spend(std::vector<UnitSpend> spent);
  /// READY was sent again, which does not distinguish what runs from what waits: what runs, and each result
  /// that is not acknowledged, is to be reported once more.
  void report_again();
  /// As HeldUnits::acknowledge.
  std::optional<Digest> acknowledge(const wire::Acknowledged& item) { return held_.acknowledge(item); }

  const HeldUnits& held() const { return held_; }
  bool has_results_to_report() const { return !finished_.empty(); }
  /// Or what such units took.
  bool has_units_to_return() const { return !returned_.empty() || !spent_.empty(); }
  /// How busy a worker is that works on so many units at a time.
  ReportSchedule::Load load(std::uint32_t concurrency) const;
  /// What is to be reported, which counts as reported from now on; none if there is nothing.
  std::vector<wire::Report> take_reports(const std::string& run_id, std::uint32_t window);

 private:
  HeldUnits held_;
  // Not reported yet:
  std::vector<UnitId> started_;
  std::vector<UnitResult> finished_;
  std::vector<UnitId> returned_;
  std::vector<UnitSpend> spent_;
};

}  // namespace sluice
