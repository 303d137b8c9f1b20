#pragma once

#include "common/model/request.hpp"
#include "coordinator/plan/digest_hash.hpp"
#include "coordinator/plan/trial_design.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"

#include <unordered_map>
#include <vector>

namespace sluice {

/// The forms that a run's perturbations give to its cases, case by case, and what comes of it over all.
/// Keeps the forms of perturbations that are applied once, for equal texts. Not thread-safe.
class CaseForms {
 public:
  /// The perturbations and the suite's labels must outlive it.
  CaseForms(const std::vector<RunPerturbation>& perturbations, const SuiteLabels& labels);

  /// The perturbed part of the case in each form, in the order of the perturbations; null where it is not
  /// another one, or longer than a message to a worker can hold.
  std::vector<SharedText> of(const Case& test_case);
  /// Over the cases so far; in the order of the perturbations.
  const std::vector<PerturbationFacts>& facts() const { return facts_; }

 private:
  struct Form {
    PerturbedText::Kind kind = PerturbedText::Kind::unchanged;
    SharedText text{};
    std::string reason{};
  };
  /// Of one perturbation that is applied once.
  struct Applied {
    std::unordered_map<Digest, Form, DigestHash> forms;  ///< By text.
    bool ever_succeeded = false;
  };

  Form make(std::size_t perturbation, const std::string& original, const std::string& language);
  Form apply(std::size_t perturbation, const std::string& original, const std::string& language) const;
  Form apply_once(std::size_t perturbation, const std::string& original, const std::string& language);

  const std::vector<RunPerturbation>& perturbations_;
  const SuiteLabels& labels_;
  std::vector<PerturbationFacts> facts_;
  std::vector<Applied> applied_;  ///< By perturbation.
};

}  // namespace sluice
