#pragma once

#include "coordinator/gate/gate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A fixture's F1 in the run that a baseline came from, and now. Empty: nothing is expected of it and nothing
/// was found, which is the best that can be.
struct FixtureScores {
  std::string id;
  std::optional<double> before;
  std::optional<double> after;
  friend bool operator==(const FixtureScores&, const FixtureScores&) = default;
};

/// `fixtures_changed` (info): which fixtures got worse and better in F1 since the run that the manifest's
/// aggregates are those of, the largest changes first. Nothing where no fixture was compared. `run` is its
/// id, as people name it.
std::optional<GateNotice> fixtures_changed_notice(std::vector<FixtureScores> compared, const std::string& run,
                                                  const std::string& manifest);

}  // namespace sluice
