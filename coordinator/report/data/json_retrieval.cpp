#include "coordinator/report/data/json_retrieval.hpp"

namespace sluice {
namespace {

void write_counts(Json& json, const RetrievalCounts& counts) {
  for (const auto kind : {RetrievalKind::hit, RetrievalKind::degraded, RetrievalKind::miss}) {
    const RetrievedCases& one = counts[static_cast<std::size_t>(kind)];
    json.key(to_string(kind)).open('{');
    json.member("cases", one.cases);
    json.member("passed", one.passed);
    json.close('}');
  }
}

}  // namespace

void write_json_retrieval(Json& json, const RetrievalSummary& retrieval) {
  json.line(1);
  json.key("retrieval").open('{');
  json.line(2);
  json.member("plugin", retrieval.plugin);
  json.member("embedder", retrieval.embedder);
  json.line(2);
  write_counts(json, retrieval.all);
  json.line(2);
  json.key("by_category").open('{');
  for (const auto& [category, counts] : retrieval.by_category) {
    json.line(3);
    json.key_of(category).open('{');
    write_counts(json, counts);
    json.close('}');
  }
  json.text() += retrieval.by_category.empty() ? "" : "\n    ";
  json.close('}');
  json.text() += "\n  ";
  json.close('}');
}

}  // namespace sluice
