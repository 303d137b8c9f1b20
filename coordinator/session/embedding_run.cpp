#include "coordinator/session/embedding_run.hpp"

#include "common/model/embedding.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view solved_examples = " (solved examples)";

/// Compared with itself it needs no embedding but the answer's own.
Case case_of(std::size_t number, const std::string& name, const std::string& text) {
  Case one;
  one.id = std::to_string(number);
  one.id.insert(0, std::to_string(defaults::max_texts_embedded_before).size() - one.id.size(), '0');
  one.id += ' ' + name;  // The number keeps the order.
  one.kind = CaseKind::text;
  one.content = one.id;  // Nobody is asked.
  Expectation expectation;
  expectation.what.metric = MetricId::semantic_similarity_to;
  expectation.what.texts = {text};
  one.expectations.push_back(std::move(expectation));
  auto answered = std::make_shared<AnsweredTest>();
  answered->answer.text = text;
  one.recorded = std::move(answered);
  return one;
}

/// A case for each text, each once.
struct TextCases {
  CaseList cases;
  std::vector<std::string> names;

  Result<void> add(const std::string& text, std::string_view kind, std::string_view id) {
    if (!known_.insert(sha256(text)).second) return {};
    bytes_ += text.size();
    if (names.size() >= defaults::max_texts_embedded_before || bytes_ > defaults::max_bytes_embedded_before) {
      return fail(Reason::usage_invalid,
                  "tests and solved examples have more than " +
                      wording::grouped(defaults::max_texts_embedded_before) + " different texts or " +
                      std::to_string(defaults::max_bytes_embedded_before >> 20) +
                      " MiB to be embedded: run a part of the suite (--max-fixtures, --filter), or say "
                      "--embedding-model " +
                      std::string(lexical_embedding_model));
    }
    const std::string name = std::string(kind) + " \"" + std::string(id) + '"';
    cases.push_back(case_of(names.size(), name, text));
    names.push_back(name);
    return {};
  }

 private:
  std::set<Digest> known_;
  std::size_t bytes_ = 0;
};

RunOptions embedding_options(const RunOptions& options) {
  RunOptions embeds;
  embeds.settings = options.settings;
  embeds.settings.repeat.value = 1;
  embeds.settings.min_stability.value.reset();
  embeds.settings.judge_min_kappa.value.reset();
  embeds.settings.save_observations.value = false;
  // A suite of its own for whoever looks for the latest run of one.
  embeds.suite_path = options.suite_path + std::string(solved_examples);
  embeds.provider = options.provider;
  embeds.listen = options.listen;
  embeds.workers = options.workers;
  embeds.answers_alone = true;
  embeds.returns_embeddings = true;
  embeds.refresh = options.refresh;
  embeds.no_cache = options.no_cache;
  embeds.fleet = options.fleet;
  embeds.call_log = options.call_log;
  embeds.metrics_listen = options.metrics_listen;
  embeds.progress = options.progress;
  embeds.log_level = options.log_level;
  return embeds;
}

}  // namespace

bool awaits_embeddings(const RunInputs& inputs) {
  return inputs.suite.examples && !inputs.retrieval;
}

Result<EmbeddingRun> embedding_run(const RunOptions& options, const RunInputs& inputs) {
  TextCases texts;
  for (const SolvedExample& one : inputs.suite.examples->solved) {
    if (auto added = texts.add(one.input, "solved example", one.id); !added) return fail(added.error());
  }
  for (std::size_t i = 0; i < inputs.suite.cases.size(); ++i) {
    const auto read = inputs.suite.cases.read(i);
    if (!read) return fail(read.error());
    if (!takes_example(**read)) continue;
    if (auto added = texts.add((*read)->content, "test", (*read)->id); !added) return fail(added.error());
  }
  Suite suite;
  suite.name = inputs.suite.name + std::string(solved_examples);
  suite.metrics = {MetricId::semantic_similarity_to};
  suite.cases = std::move(texts.cases);
  RunInputs embeds{std::move(suite), inputs.prompt,          inputs.ontology_text, inputs.ontology,
                   inputs.prices,    inputs.response_schema, inputs.embedding,     {},
                   std::nullopt,     inputs.redactor,        inputs.fingerprint};
  return EmbeddingRun{embedding_options(options), std::move(embeds), std::move(texts.names)};
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
    vectors_.emplace(sha256(result.fixture.recorded->answer.text), std::move(*vector));
  }
}

Result<RunRetrieval> EmbeddingFold::retrieve(const RunInputs& inputs,
                                             const std::optional<Error>& cut_short) const {
  const auto& problem = cut_short ? cut_short : problem_;
  if (problem) {
    return fail(problem->reason,
                "the tests' solved examples were not found, and no test was asked: " + problem->message);
  }
  const auto embed = [this](std::string_view text) { return vectors_.at(sha256(text)); };
  auto retrieved = retrieve_examples(inputs.suite, embed, inputs.embedding.embedding.model);
  if (!retrieved) return fail(std::move(retrieved.error()));
  return RunRetrieval{std::move(*retrieved)};
}

void add_embedding_run(const RunFacts& embedded, RunFacts& facts) {
  facts.requests += embedded.requests;
  facts.retries += embedded.retries;
  facts.rate_limited += embedded.rate_limited;
  facts.paid += embedded.paid;
  facts.paid_by_arm += embedded.paid_by_arm;
  facts.unmetered |= embedded.unmetered;
}

}  // namespace sluice
