#include "coordinator/session/embedding_run.hpp"

#include "common/model/embedding.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/suite/recorded_answers.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace sluice {
namespace {

/// Each text once, with the first that it is of.
class TextList {
 public:
  void add(const std::string& text, std::string_view kind, std::string_view id) {
    if (!known_.emplace(text, texts.size()).second) return;
    texts.push_back(text);
    names.push_back(std::string(kind) + " \"" + std::string(id) + '"');
  }

  std::vector<std::string> texts;
  std::vector<std::string> names;

 private:
  std::map<std::string, std::size_t, std::less<>> known_;
};

/// Compared with itself it needs no embedding but the answer's own.
Case case_of(std::size_t number, const std::string& text) {
  Case one;
  one.id = std::to_string(number);
  one.id.insert(0, std::to_string(defaults::max_texts_embedded_before).size() - one.id.size(), '0');
  one.kind = CaseKind::text;
  one.content = text;
  Expectation expectation;
  expectation.what.metric = MetricId::semantic_similarity_to;
  expectation.what.texts = {text};
  one.expectations.push_back(std::move(expectation));
  auto answered = std::make_shared<AnsweredTest>();
  answered->answer.text = text;
  one.recorded = std::move(answered);
  return one;
}

RunOptions embedding_options(const RunOptions& options) {
  RunOptions embeds;
  embeds.settings = options.settings;
  embeds.settings.repeat.value = 1;
  embeds.settings.min_stability.value.reset();
  embeds.settings.judge_min_kappa.value.reset();
  embeds.settings.save_observations.value = false;
  embeds.suite_path = options.suite_path;
  embeds.provider = options.provider;
  embeds.listen = options.listen;
  embeds.workers = options.workers;
  embeds.answers_alone = true;
  embeds.returns_embeddings = true;
  embeds.refresh = options.refresh;
  embeds.no_cache = options.no_cache;
  embeds.insecure = options.insecure;
  embeds.call_log = options.call_log;
  embeds.progress = options.progress;
  embeds.log_level = options.log_level;
  return embeds;
}

}  // namespace

bool awaits_embeddings(const RunInputs& inputs) {
  return inputs.suite.examples && !inputs.retrieval;
}

Result<EmbeddingRun> embedding_run(const RunOptions& options, const RunInputs& inputs) {
  TextList list;
  for (const SolvedExample& one : inputs.suite.examples->solved)
    list.add(one.input, "solved example", one.id);
  for (std::size_t i = 0; i < inputs.suite.cases.size(); ++i) {
    const auto read = inputs.suite.cases.read(i);
    if (!read) return fail(read.error());
    if (takes_example(**read)) list.add((*read)->content, "test", (*read)->id);
    if (list.texts.size() > defaults::max_texts_embedded_before) {
      return fail(
          Reason::usage_invalid,
          "tests and solved examples have more than " + wording::grouped(defaults::max_texts_embedded_before) +
              " different texts to be embedded: run a part of the suite (--max-fixtures, --filter), or "
              "say --embedding-model " +
              std::string(lexical_embedding_model));
    }
  }
  Suite suite;
  suite.name = inputs.suite.name + " (solved examples)";
  suite.metrics = {MetricId::semantic_similarity_to};
  for (std::size_t i = 0; i < list.texts.size(); ++i) suite.cases.push_back(case_of(i, list.texts[i]));
  RunInputs embeds{std::move(suite), inputs.prompt,          inputs.ontology_text, inputs.ontology,
                   inputs.prices,    inputs.response_schema, inputs.embedding,     {},
                   std::nullopt,     inputs.redactor,        inputs.fingerprint};
  return EmbeddingRun{embedding_options(options), std::move(embeds), std::move(list.texts),
                      std::move(list.names)};
}

void EmbeddingFold::add(std::size_t case_index, const CaseResult& result) {
  if (problem_) return;
  const std::string& name = run_.names.at(case_index);
  if (result.error != nullptr) {
    problem_ = Error{result.error->reason, "the text of " + name + ": " + result.error->message};
    return;
  }
  auto vector = unpack_embedding(result.unit->embedding);
  if (!vector) {
    problem_ = Error{Reason::internal_error, "the text of " + name + " came back without its embedding"};
  } else if (!vectors_.empty() && vectors_.begin()->second.size() != vector->size()) {
    problem_ =
        Error{Reason::embedding_count_wrong,
              "the embedding of " + name + " has " + std::to_string(vector->size()) +
                  " dimensions, and that of another text " + std::to_string(vectors_.begin()->second.size())};
  } else {
    vectors_.emplace(run_.texts.at(case_index), std::move(*vector));
  }
}

Result<RunRetrieval> EmbeddingFold::retrieve(const RunInputs& inputs,
                                             const std::optional<Error>& cut_short) const {
  const auto& problem = cut_short ? cut_short : problem_;
  if (problem) {
    return fail(problem->reason,
                "the tests' solved examples were not found, and no test was asked: " + problem->message);
  }
  const auto embed = [this](std::string_view text) { return vectors_.find(text)->second; };
  auto retrieved = retrieve_examples(inputs.suite, embed, inputs.embedding.embedding.model);
  if (!retrieved) return fail(std::move(retrieved.error()));
  return RunRetrieval{std::move(*retrieved)};
}

RunOptions options_after(const RunFacts& embedded, RunOptions options, const RunPrice& price) {
  Settings& settings = options.settings;
  if (auto& left = settings.max_run_tokens.value) *left -= std::min(*left, embedded.paid.total());
  if (auto& left = settings.max_run_cost.value)
    *left = std::max(0.0, *left - price(embedded.paid_by_arm).value_or(0.0));
  if (auto& left = settings.run_deadline.value) {
    const std::chrono::milliseconds gone(embedded.completed_at_ms - embedded.started_at_ms);
    *left = std::max(std::chrono::milliseconds(1), *left - gone);
  }
  return options;
}

void add_embedding_run(const RunFacts& embedded, RunFacts& facts) {
  facts.requests += embedded.requests;
  facts.retries += embedded.retries;
  facts.rate_limited += embedded.rate_limited;
  facts.paid += embedded.paid;
  facts.paid_by_arm += embedded.paid_by_arm;
}

}  // namespace sluice
