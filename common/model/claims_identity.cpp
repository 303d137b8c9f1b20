#include "common/model/claims_identity.hpp"

#include <set>
#include <string>

namespace sluice {

Digest identity_of(const std::vector<FinalClaim>& claims) {
  std::set<std::string> forms;
  for (const FinalClaim& claim : claims) forms.insert(canonical_form(claim));
  FieldHasher hasher;
  for (const std::string& form : forms) hasher.field(form);
  return hasher.finish();
}

}  // namespace sluice
