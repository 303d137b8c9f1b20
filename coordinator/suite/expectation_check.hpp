#pragma once

#include "common/model/ontology.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What the ontology makes of a case's expectations.
struct ExpectationRemark {
  enum class Kind : std::uint8_t {
    note,     ///< Taken for a claim in other words: it works.
    warning,  ///< No answer in the ontology's words will match it.
    finding,  ///< The case can never be right.
  };
  Kind kind = Kind::note;
  std::string words;  ///< A sentence that begins with the case's id.
  friend bool operator==(const ExpectationRemark&, const ExpectationRemark&) = default;
};

/// "note", "warning" or "error".
std::string_view to_string(ExpectationRemark::Kind kind);

/// In the order of the expectations; empty if all are written in the ontology's words and types. Pure.
std::vector<ExpectationRemark> check_expectations(const Case& test_case, const Ontology& ontology);

}  // namespace sluice
