#include "coordinator/session/run_retrieval.hpp"

#include "common/model/run_settings.hpp"
#include "common/text/lexical_embedder.hpp"
#include "coordinator/retrieval/outcome.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

bool embeds_here(const Settings& settings, const ResolvedEmbedding& embedding) {
  return !embedding.provider || settings.mode.value == Mode::mock;
}

Result<RunRetrieval> retrieve_here(const Suite& suite) {
  auto retrieved = retrieve_examples(suite, lexical_embedding, std::string(lexical_embedding_model));
  if (!retrieved) return fail(std::move(retrieved.error()));
  return RunRetrieval{std::move(*retrieved)};
}

std::vector<SharedText> few_shots_of(const RunRetrieval& retrieval, std::size_t cases) {
  std::vector<SharedText> few_shots(cases);
  for (const RetrievedExample& one : retrieval.of_cases) {
    if (!one.shown.empty()) few_shots[one.event.case_index] = share(one.shown);
  }
  return few_shots;
}

RunRetrieval retrieval_again(const Suite& suite, std::span<const RetrievalEvent> events) {
  std::map<std::string_view, const RetrievalEvent*> by_test;
  for (const RetrievalEvent& event : events) by_test.emplace(event.test, &event);
  const auto& [solved, plugin] = *suite.examples;
  RunRetrieval again;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto found = by_test.find(suite.cases.id(i));
    if (found == by_test.end()) continue;
    RetrievedExample one{*found->second, {}};
    one.event.case_index = static_cast<std::uint32_t>(i);
    const auto example = std::ranges::find(solved, one.event.example, &SolvedExample::id);
    if (example != solved.end()) {
      const double score = one.event.score.value_or(0.0);
      if (one.event.kind == RetrievalKind::hit) one.shown = render(Hit{&*example, score}, plugin);
      if (one.event.kind == RetrievalKind::degraded) one.shown = render(Degraded{&*example, score}, plugin);
    }
    again.of_cases.push_back(std::move(one));
  }
  return again;
}

Result<std::vector<SharedText>> longest_few_shots(const Suite& suite) {
  std::string longest;
  for (const SolvedExample& one : suite.examples->solved) {
    std::string shown = render(Degraded{&one, 0.0}, suite.examples->plugin);
    if (shown.size() > longest.size()) longest = std::move(shown);
  }
  const SharedText shared = share(std::move(longest));
  std::vector<SharedText> few_shots(suite.cases.size());
  for (std::size_t i = 0; i < few_shots.size(); ++i) {
    const auto read = suite.cases.read(i);
    if (!read) return fail(read.error());
    if (takes_example(**read)) few_shots[i] = shared;
  }
  return few_shots;
}

std::vector<RetrievalEvent> events_of(const RunRetrieval& retrieval) {
  std::vector<RetrievalEvent> events;
  for (const RetrievedExample& one : retrieval.of_cases) events.push_back(one.event);
  return events;
}

}  // namespace sluice
