#include "worker/calls/model_calls.hpp"

#include <utility>

/// ModelCalls: what a cache holds is not paid for, be it this worker's or another's
/// (docs/protocol.md, "Entries of other caches").
namespace sluice {

/// A stored answer, if the mode wants one; an Error ends the job. Nothing: call the provider.
std::optional<UnitOutcome> ModelCalls::from_store(Job& job) const {
  const auto& settings = config_.settings;
  const auto& unit = *job.unit();
  if (settings.mode == Mode::mock) {
    // Nothing is said: no claims, or no text.
    return Completion{unit.request.response_schema ? R"({"claims":[]})" : "", "stop", "mock", {}, 0, {}};
  }
  const bool replay = settings.mode == Mode::cached;
  if (!replay && !settings.read_cache) return std::nullopt;
  auto found = replay ? config_.store->find_replay(unit.key, unit.pinned_answer)
                      : config_.store->find_answer(unit.key);
  if (!found) return found.error();
  if (*found) {
    job.spend.cache_hit = true;
    return std::move(**found);
  }
  if (replay) return Error{Reason::cache_miss, "the cache does not hold this answer"};
  return std::nullopt;
}

/// The job waits for its answer from another cache, and no longer than its time lasts.
void ModelCalls::seek_answer(Id id) {
  auto& job = jobs_.at(id);
  const auto& key = job.unit()->key;
  job.state = Job::State::seeks_answer;
  sought_answers_.emplace(key, id);
  exchange_.seek({EntryKind::answer, key});
  alarms_.set(id, job.retry.deadline());
}

void ModelCalls::take(const EntriesFound& found, const Moment& moment) {
  at_ = moment;
  for (const auto& [key, bytes] : found.entries) {
    if (!exchange_.take_verdict(key, !bytes.empty())) continue;
    if (key.kind == EntryKind::embedding) {
      take_embeddings(embedder_->found(key.digest, bytes, problems_.emplace_back()));
    } else {
      take_answer(key.digest, bytes);
    }
  }
  std::erase(problems_, std::string());
}

void ModelCalls::take_answer(const Digest& key, std::string_view entry) {
  const auto node = sought_answers_.extract(key);
  if (node.empty()) return;
  const auto id = node.mapped();
  auto& job = jobs_.at(id);
  if (!entry.empty()) {
    auto answer = config_.store->take_answer(key, job.unit()->pinned_answer, entry);
    if (answer) {
      job.spend.cache_hit = true;
      return embed(id, std::move(*answer));
    }
    problems_.push_back(answer.error().message);
  }
  make_ready(id);
}

}  // namespace sluice
