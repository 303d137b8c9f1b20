#pragma once

#include "common/run_settings.hpp"
#include "worker/answer_store.hpp"

#include <map>
#include <memory>
#include <string>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

namespace sluice {

/// What a model client needs for one run.
struct ModelClientConfig {
  RunSettings settings;
  std::map<std::string, std::string> keys;  ///< API key by provider name; empty for a call without a key.
  std::shared_ptr<AnswerStore> store;
  caf::actor http;
  caf::actor worker;              ///< Gets UnitsCompleted and PauseAsked.
  std::uint64_t random_seed = 0;  ///< For the jitter of the back-off.
};

/// Starts the actor that gets answers for one run: from the cache, or from the provider with pauses and
/// retries. It alone decides whether to retry; when a call may start is the governor's to say
/// (BudgetChanged). Each unit of CompleteUnits comes back in one UnitsCompleted, except after CancelCalls;
/// what one message brought about goes on together.
caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config);

}  // namespace sluice
