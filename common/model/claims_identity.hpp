#pragma once

#include "common/hash.hpp"
#include "common/model/claim.hpp"

#include <set>
#include <string>
#include <vector>

namespace sluice {

/// Of the claims as a set: equal for the same claims in any order, however often each.
inline Digest identity_of(const std::vector<FinalClaim>& claims) {
  std::set<std::string> forms;
  for (const FinalClaim& claim : claims) forms.insert(canonical_form(claim));
  FieldHasher hasher;
  for (const std::string& form : forms) hasher.field(form);
  return hasher.finish();
}

}  // namespace sluice
