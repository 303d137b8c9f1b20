#include "coordinator/actors/await_run.hpp"

#include "common/process/supervision.hpp"
#include "common/transport/local_workers.hpp"

#include <optional>
#include <utility>

#include <caf/system_messages.hpp>

namespace sluice {

RunEnded await_run(caf::scoped_actor& self, const caf::actor& coordinator,
                   const std::vector<caf::actor>& workers, const std::string& run_id) {
  self->monitor(coordinator);
  for (const auto& worker : workers) self->monitor(worker);
  std::optional<RunEnded> ended;
  self->receive_while([&] { return !ended; })(
      [&](RunEnded& end) { ended = std::move(end); },
      [&](const WorkerEnded& worker) {
        if (worker.error) self->send(coordinator, LocalWorkerFailed{*worker.error});
      },
      [&](const caf::down_msg& down) {
        // One that ends in order has sent its last message; that may come after this one.
        if (!down.reason) return;
        const auto reason = self->system().render(down.reason);
        if (down.source != coordinator.address()) {
          self->send(coordinator, LocalWorkerFailed{unexpected_end("a worker of this process", reason)});
          return;
        }
        ended.emplace();
        ended->facts.run_id = run_id;
        ended->facts.cut_short = unexpected_end("the coordinator", reason);
      });
  return std::move(*ended);
}

}  // namespace sluice
