#pragma once

#include "common/model/request.hpp"
#include "coordinator/plan/digest_hash.hpp"
#include "coordinator/plan/variation.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sluice {

/// The forms that a run's perturbations give to its cases, case by case, and what comes of it over all.
/// Keeps what perturbations that are asked once have said, for equal texts. Not thread-safe.
class CaseForms {
 public:
  /// The variations must outlive it.
  explicit CaseForms(const std::vector<Variation>& variations);

  /// The perturbed part of the case in each form, in the order of the variations; null where it is not
  /// another one, or longer than a message to a worker can hold.
  std::vector<SharedText> of(const Case& test_case);
  /// Over the cases so far; in the order of the variations.
  const std::vector<PerturbationFacts>& facts() const { return facts_; }

 private:
  struct Said {
    PerturbedText::Kind kind = PerturbedText::Kind::unchanged;
    SharedText text{};
    std::string reason{};
  };
  /// Of one perturbation that is asked once.
  struct Asked {
    std::unordered_map<Digest, Said, DigestHash> answers;  ///< By text.
    bool ever_succeeded = false;
  };

  Said say(std::size_t variation, const std::string& original, const std::string& language);
  Said ask(std::size_t variation, const std::string& original, const std::string& language) const;
  Said say_once(std::size_t variation, const std::string& original, const std::string& language);

  const std::vector<Variation>& variations_;
  std::vector<PerturbationFacts> facts_;
  std::vector<Asked> asked_;  ///< By variation.
};

}  // namespace sluice
