#pragma once

#include "common/model/claim.hpp"
#include "coordinator/output/json_writer.hpp"

namespace sluice {

/// A claim as the answer has it.
inline void write_parsed_claim(Json& json, const ParsedClaim& claim) {
  json.open('{');
  json.member("subject", claim.subject);
  json.member("predicate", claim.predicate);
  json.member("value", claim.value);
  json.member("confidence", claim.confidence);
  json.member("line", claim.line);
  json.close('}');
}

/// The members of a claim as the ontology has it, in an object that is open.
inline void write_final_claim(Json& json, const FinalClaim& claim) {
  json.member("concept_path", claim.concept_path);
  json.member("predicate", claim.predicate);
  json.member("value", claim.value);
  json.member("confidence", claim.confidence);
  json.member("line", claim.line);
  json.member("matched_ontology", claim.matched_ontology);
  json.member("fuzzy_matched", claim.fuzzy_matched);
}

}  // namespace sluice
