#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {

/// Decides when calls to a provider may start (budget.md). No limit can be set yet, so permits are unlimited;
/// what it holds are the pauses: a provider that asked one worker for silence is left in peace by all of
/// them. Pure; not thread-safe.
class Governor {
 public:
  /// A worker's demand. True if it made or lengthened a pause that all workers should hear of now.
  bool hear(const std::vector<wire::Demand>& demands, TimePoint now);
  /// What each provider that was ever asked for grants now.
  std::vector<wire::Grant> grants(TimePoint now) const;

 private:
  std::map<std::string, TimePoint> paused_until_;
};

}  // namespace sluice
