#include "coordinator/suite/manifest.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"

namespace sluice {
namespace {

AggregateBaseline read_baseline(TableReader reader) {
  AggregateBaseline baseline;
  baseline.precision = reader.number_in("precision", 0.0, 1.0);
  baseline.recall = reader.number_in("recall", 0.0, 1.0);
  baseline.f1 = reader.number_in("f1", 0.0, 1.0);
  baseline.prompt_version = reader.text("prompt_version").value_or("");
  baseline.model = reader.text("model").value_or("");
  baseline.measured_at = reader.date("measured_at").value_or("");
  reader.finish();
  return baseline;
}

}  // namespace

ParsedManifest parse_manifest(std::string_view toml, const std::string& file) {
  ParsedManifest result;
  const auto document = parse_toml(toml);
  if (!document) {
    result.findings.push_back({file, document.error().line, document.error().message});
    return result;
  }
  TableReader top(*document, "", file, result.findings);
  if (const TomlNode* table = top.table("corpus")) {
    TableReader corpus(*table, "[corpus]", file, result.findings);
    result.manifest.corpus_version = corpus.text("version").value_or("");
    result.manifest.total_fixtures = corpus.count("total_fixtures");
    result.total_line = corpus.line_of("total_fixtures");
    corpus.finish();
  }
  if (const TomlNode* table = top.table("baseline")) {
    result.manifest.baseline = read_baseline(TableReader(*table, "[baseline]", file, result.findings));
  }
  top.finish();
  sort_findings(result.findings);
  return result;
}

}  // namespace sluice
