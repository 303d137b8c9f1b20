#include "coordinator/plan/case_forms.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/plan/message_size.hpp"

#include <utility>

namespace sluice {
namespace {

bool fits_a_message(const Case& test_case, std::size_t original_bytes, std::size_t perturbed_bytes,
                    const SuiteLabels& labels) {
  UnitLoad load;
  load.add(test_case, request_bytes(test_case) - original_bytes + perturbed_bytes, labels);
  return load.fits_a_message();
}

}  // namespace

CaseForms::CaseForms(const std::vector<RunPerturbation>& perturbations, const SuiteLabels& labels)
    : perturbations_(perturbations), labels_(labels), applied_(perturbations.size()) {
  for (const RunPerturbation& one : perturbations) {
    PerturbationFacts& facts = facts_.emplace_back();
    facts.name = one.name;
    facts.version = one.version;
  }
}

std::vector<SharedText> CaseForms::of(const Case& test_case) {
  std::vector<SharedText> texts(perturbations_.size());
  if (texts.empty()) return texts;
  const PerturbedPart part = perturbed_part(test_case);
  const std::string& original = test_case.*part.text;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    PerturbationFacts& facts = facts_[n];
    Form form = make(n, original, part.language);
    if (form.text && !fits_a_message(test_case, original.size(), form.text->size(), labels_)) {
      form = {PerturbedText::Kind::skipped, nullptr, "it is longer than a message to a worker can hold"};
    }
    switch (form.kind) {
      case PerturbedText::Kind::changed:
        ++facts.changed;
        texts[n] = std::move(form.text);
        break;
      case PerturbedText::Kind::unchanged:
        ++facts.unchanged;
        break;
      case PerturbedText::Kind::skipped:
        ++facts.skipped[{part.language, std::move(form.reason)}];
        break;
      case PerturbedText::Kind::failed:
        if (facts.failed++ == 0) facts.first_failure = std::move(form.reason);
        break;
    }
  }
  return texts;
}

CaseForms::Form CaseForms::make(std::size_t perturbation, const std::string& original,
                                const std::string& language) {
  if (facts_[perturbation].given_up) return {PerturbedText::Kind::failed};
  return perturbations_[perturbation].apply_once ? apply_once(perturbation, original, language)
                                                 : apply(perturbation, original, language);
}

CaseForms::Form CaseForms::apply(std::size_t perturbation, const std::string& original,
                                 const std::string& language) const {
  PerturbedText perturbed = perturbations_[perturbation].apply(original, language);
  const bool changed = perturbed.kind == PerturbedText::Kind::changed && perturbed.text != original;
  if (changed) return {perturbed.kind, share(std::move(perturbed.text))};
  if (perturbed.kind == PerturbedText::Kind::changed) return {};
  return {perturbed.kind, nullptr, std::move(perturbed.reason)};
}

CaseForms::Form CaseForms::apply_once(std::size_t perturbation, const std::string& original,
                                      const std::string& language) {
  Applied& applied = applied_[perturbation];
  const auto [found, is_new] = applied.forms.try_emplace(sha256(original));
  if (!is_new) return found->second;
  found->second = apply(perturbation, original, language);
  const bool failed = found->second.kind == PerturbedText::Kind::failed;
  if (failed && facts_[perturbation].failed > 0) found->second.reason.clear();  // The first one is reported.
  applied.ever_succeeded = applied.ever_succeeded || !failed;
  facts_[perturbation].given_up =
      !applied.ever_succeeded && applied.forms.size() >= defaults::max_first_failures;
  return found->second;
}

}  // namespace sluice
