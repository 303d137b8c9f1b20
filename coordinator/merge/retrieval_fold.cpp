#include "coordinator/merge/retrieval_fold.hpp"

#include <utility>

namespace sluice {

RetrievalFold::RetrievalFold(std::vector<RetrievalEvent> events) {
  if (!events.empty()) {
    judged_.summary.plugin = events.front().plugin;
    judged_.summary.embedder = events.front().embedder;
  }
  judged_.events = std::move(events);
}

void RetrievalFold::add(std::size_t case_index, CaseStatus status) {
  auto& events = judged_.events;
  while (next_ < events.size() && events[next_].case_index < case_index) ++next_;
  if (next_ == events.size() || events[next_].case_index != case_index) return;
  RetrievalEvent& event = events[next_++];
  event.status = to_string(status);
  const bool passed = status == CaseStatus::pass || status == CaseStatus::warn;
  const auto kind = static_cast<std::size_t>(event.kind);
  for (RetrievalCounts* counts : {&judged_.summary.all, &judged_.summary.by_category[event.category]}) {
    ++(*counts)[kind].cases;
    if (passed) ++(*counts)[kind].passed;
  }
}

JudgedRetrievals RetrievalFold::finish() {
  return std::exchange(judged_, {});
}

}  // namespace sluice
