#pragma once

#include "tests/actors/model_client_fixture.hpp"

namespace sluice {

using Spent = std::vector<wire::SpentPermit>;
using Settled = std::vector<wire::SettledCall>;

/// A model client under granted budgets.
class ModelClientBudgetTest : public ModelClientTest {
 protected:
  /// A client that needs a permit for each call.
  void start_limited() {
    start();
    budget(true, {permits({})});
    worker.take<DemandChanged>();
  }
  wire::Demand last_demand() {
    auto told = demands();
    EXPECT_FALSE(told.empty());
    return told.empty() ? wire::Demand{} : std::move(told.back());
  }
  static std::string message_of(const CompletedUnit& done) {
    const auto* error = std::get_if<Error>(&done.outcome);
    return error ? error->message : "";
  }
};

}  // namespace sluice
