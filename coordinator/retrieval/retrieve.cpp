#include "coordinator/retrieval/retrieve.hpp"

#include "coordinator/retrieval/example_index.hpp"
#include "coordinator/retrieval/outcome.hpp"
#include "coordinator/suite/prompts/arm.hpp"

#include <utility>

namespace sluice {
namespace {

ExampleIndex index_of(const std::vector<SolvedExample>& examples, const Embed& embed) {
  std::vector<std::string> ids;
  std::vector<std::vector<float>> vectors;
  for (const SolvedExample& one : examples) {
    ids.push_back(one.id);
    vectors.push_back(embed(one.input));
  }
  return {std::move(ids), std::move(vectors)};
}

struct KindOf {
  RetrievalKind operator()(const Hit&) const { return RetrievalKind::hit; }
  RetrievalKind operator()(const Degraded&) const { return RetrievalKind::degraded; }
  RetrievalKind operator()(const Miss&) const { return RetrievalKind::miss; }
};

/// A case's id as the suite writes it: under arms it is TEST@ARM.
std::string_view written_id(const Case& one, bool has_arms) {
  const std::string_view id = one.id;
  return has_arms ? id.substr(0, id.rfind(arm_separator)) : id;
}

}  // namespace

bool takes_example(const Case& one) {
  return one.examples.are_wanted && !one.recorded;
}

Result<std::vector<RetrievedExample>> retrieve_examples(const Suite& suite, const Embed& embed,
                                                        const std::string& embedder) {
  const SuiteExamples& examples = *suite.examples;
  const Plugin& plugin = examples.plugin;
  const ExampleIndex index = index_of(examples.solved, embed);
  std::vector<RetrievedExample> retrieved;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto read = suite.cases.read(i);
    if (!read) return fail(read.error());
    const Case& one = **read;
    if (!takes_example(one)) continue;
    const TaskTriple triple{one.examples.task_class, one.language, one.examples.build_system};
    const Floors& floors = plugin.floors_of(triple);
    RetrievedExample found;
    RetrievalEvent& event = found.event;
    event.case_index = static_cast<std::uint32_t>(i);
    event.test = one.id;
    event.category = one.category;
    event.high_floor = floors.high;
    event.degraded_floor = floors.degraded;
    event.plugin = plugin.name;
    event.embedder = embedder;
    event.task_class = triple.task_class;
    event.language = triple.language;
    event.build_system = triple.build_system;
    if (const auto nearest = index.nearest(embed(one.content), written_id(one, suite.cases.has_arms()))) {
      const SolvedExample& example = examples.solved[nearest->example];
      const RetrievalOutcome outcome = classify(example, nearest->score, floors);
      event.kind = std::visit(KindOf{}, outcome);
      event.score = nearest->score;
      event.example = example.id;
      found.shown = render(outcome, plugin);
    }
    retrieved.push_back(std::move(found));
  }
  return retrieved;
}

}  // namespace sluice
