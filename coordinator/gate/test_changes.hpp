#pragma once

#include "coordinator/gate/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Cases of tests that not both sides of a comparison have, by id.
struct TestChanges {
  std::vector<std::string> added;  ///< The base lacks them.
  std::vector<std::string> gone;   ///< The current side lacks them.
  /// A run of the ledger had them, and its suite has them no more: nothing judges its answers to them. Those
  /// that the other side lacks are added as well.
  std::vector<std::string> lost;
  std::vector<std::string> judged_otherwise;  ///< Both sides have them, with other checks or judges.
};

/// Finds them while both sides are walked through. What the spans hold must outlive it.
class TestFold {
 public:
  /// Tests that a run of the ledger had, and that its side lacks; by id.
  TestFold(std::span<const std::string> base_lost, std::span<const std::string> current_lost)
      : base_lost_(base_lost), current_lost_(current_lost) {}

  /// Lost: the other side had the test, and does not show it.
  enum class Standing : std::uint8_t { of_one_side, lost };
  /// A test that the base alone shows.
  Standing add_of_base(const std::string& id) { return add(id, current_lost_, changes_.gone); }
  /// One that the current side alone shows.
  Standing add_of_current(const std::string& id) { return add(id, base_lost_, changes_.added); }
  /// Once or several times one after the other.
  void add_judged_otherwise(const std::string& id) {
    auto& all = changes_.judged_otherwise;
    if (all.empty() || all.back() != id) all.push_back(id);
  }
  TestChanges finish();

 private:
  Standing add(const std::string& id, std::span<const std::string> lost_elsewhere,
               std::vector<std::string>& of_one_side);

  std::span<const std::string> base_lost_;
  std::span<const std::string> current_lost_;
  TestChanges changes_;
};

/// The first of the cases, and how many more there are: ``: `a`, `b`, and 7 more.``
std::string names_of_first(const std::vector<std::string>& cases);

/// `tests_added` (info), `tests_gone`, `tests_judged_otherwise` and `tests_not_judged` (failures under
/// strict): those that there are, each with how many cases there are and the first of them. `lost_failed` of
/// those that are not judged failed in the current run.
std::vector<GateNotice> test_notices(const TestChanges& changes, const std::string& base,
                                     const std::string& current, std::size_t lost_failed, bool strict);

}  // namespace sluice
