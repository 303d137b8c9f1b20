#include "coordinator/suite/expectation_check.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

using RemarkKind = ExpectationRemark::Kind;

std::string text_of(const ExpectedClaim& claim) {
  return excerpt(to_text(claim.subject, claim.predicate, claim.value), defaults::quoted_bytes);
}

/// Whether an answer with a value of the type can agree with the value (worker/scoring/matcher.hpp).
bool fits(const ClaimValue& value, ValueType type) {
  switch (type) {
    case ValueType::boolean:
      if (const auto* text = std::get_if<std::string>(&value)) return boolean_word(*text).has_value();
      return std::holds_alternative<bool>(value);
    case ValueType::number:
      return std::holds_alternative<double>(value);
    case ValueType::text:
      return true;
  }
  return true;
}

class CaseCheck {
 public:
  CaseCheck(const Case& test_case, const Ontology& ontology) : case_(test_case), ontology_(ontology) {}

  std::vector<ExpectationRemark> run() {
    std::unordered_map<std::string, const ExpectedClaim*> required;
    std::unordered_map<std::string, const ExpectedClaim*> forbidden;
    for (const ExpectedClaim& written : case_.must_contain) check(written, required);
    for (const ExpectedClaim& written : case_.must_not_contain) {
      const ExpectedClaim taken = check(written, forbidden);
      const auto other = required.find(canonical_form(taken.subject, taken.predicate, taken.value));
      if (other == required.end()) continue;
      add(RemarkKind::finding, "requires " + text_of(*other->second) + " and forbids " + text_of(written) +
                                   ", which are one claim, " + text_of(taken));
    }
    return std::move(remarks_);
  }

 private:
  void add(RemarkKind kind, const std::string& words) { remarks_.push_back({kind, case_.id + " " + words}); }

  /// Returns what it is taken for.
  ExpectedClaim check(const ExpectedClaim& written,
                      std::unordered_map<std::string, const ExpectedClaim*>& seen) {
    ExpectedClaim taken = ontology_.canonical(written);
    const auto type = ontology_.type_of(taken.subject, taken.predicate);
    if (!type) {
      add(RemarkKind::warning,
          "names " + written.subject + "/" + written.predicate + ", which the ontology does not have");
    } else if (!fits(taken.value, *type)) {
      add(RemarkKind::warning,
          "names " + text_of(written) + ", where the ontology asks for a " + std::string(to_string(*type)));
    } else if (taken != written) {
      add(RemarkKind::note, "names " + text_of(written) + ", taken for " + text_of(taken));
    }
    const auto [first, is_new] =
        seen.emplace(canonical_form(taken.subject, taken.predicate, taken.value), &written);
    if (!is_new) {
      add(RemarkKind::finding, "lists " + text_of(*first->second) + " and " + text_of(written) +
                                   ", which are one claim, " + text_of(taken));
    }
    return taken;
  }

  const Case& case_;
  const Ontology& ontology_;
  std::vector<ExpectationRemark> remarks_;
};

}  // namespace

std::string_view to_string(ExpectationRemark::Kind kind) {
  switch (kind) {
    case RemarkKind::note:
      return "note";
    case RemarkKind::warning:
      return "warning";
    case RemarkKind::finding:
      return "error";
  }
  return "";
}

std::vector<ExpectationRemark> check_expectations(const Case& test_case, const Ontology& ontology) {
  return CaseCheck(test_case, ontology).run();
}

}  // namespace sluice
