#include "coordinator/run/run_controller.hpp"

/// What a run does with entries that its workers' caches lend each other: who speaks is checked here, the
/// rest is Lending's.
namespace sluice {

std::optional<WorkerId> RunController::lending_worker(const Peer& peer, const std::string& run_id,
                                                      TimePoint now, Effects& effects) {
  const auto id = worker_at(peer);
  if (!id || run_id != config_.settings.run_id) {
    effects.to_workers.push_back({peer, wire::Reject{wire::RejectCode::unknown_worker, "say HELLO first"}});
    return std::nullopt;
  }
  workers_.at(*id).last_heard = now;
  dispatcher_.heard(*id, now);
  return over_ ? std::nullopt : id;
}

void RunController::on_message(const Peer& peer, wire::Seek& seek, TimePoint now, Effects& effects) {
  const auto id = lending_worker(peer, seek.run_id, now, effects);
  if (id) lending_.on_message(*id, seek, now, effects);
}

void RunController::on_message(const Peer& peer, wire::Lent& lent, TimePoint now, Effects& effects) {
  const auto id = lending_worker(peer, lent.run_id, now, effects);
  if (id) lending_.on_message(*id, lent, now, effects);
}

void RunController::on_message(const Peer& peer, wire::Stored& stored, TimePoint now, Effects& effects) {
  const auto id = lending_worker(peer, stored.run_id, now, effects);
  if (id) lending_.on_message(*id, stored, now, effects);
}

void RunController::on_looked_up(const std::vector<EmbeddingHolder>& holders, TimePoint now,
                                 Effects& effects) {
  if (!over_) lending_.looked_up(holders, now, effects);
}

}  // namespace sluice
