#include "worker/units/answer_schema.hpp"

#include "common/model/request.hpp"
#include "worker/scoring/claims_parser.hpp"

#include <utility>

namespace sluice {

Result<ReadAnswer> read_answer(std::string_view schema_name, std::string_view text) {
  if (schema_name.empty()) return ReadAnswer{};
  if (schema_name != claims_schema_name) {
    return fail(Reason::internal_error, "no answers of the schema \"" + std::string(schema_name) +
                                            "\" are read here; run the same sluice version on both sides");
  }
  auto claims = parse_claims(text);
  if (!claims) return fail(std::move(claims.error()));
  return ReadAnswer{std::move(*claims)};
}

std::string mock_answer(std::string_view schema_name) {
  return schema_name == claims_schema_name ? R"({"claims":[]})" : "";
}

}  // namespace sluice
