#include "coordinator/plan/case_forms.hpp"

#include "coordinator/plan/message_size.hpp"

#include <utility>

namespace sluice {
namespace {

bool fits_a_message(const Case& test_case, std::size_t original_bytes, std::size_t perturbed_bytes) {
  UnitLoad load;
  load.add(test_case, request_bytes(test_case) - original_bytes + perturbed_bytes);
  return load.fits_a_message();
}

}  // namespace

CaseForms::CaseForms(const std::vector<Variation>& variations)
    : variations_(variations), asked_(variations.size()) {
  for (const Variation& one : variations) {
    PerturbationFacts& facts = facts_.emplace_back();
    facts.name = one.name;
    facts.version = one.version;
  }
}

std::vector<SharedText> CaseForms::of(const Case& test_case) {
  std::vector<SharedText> texts(variations_.size());
  if (texts.empty()) return texts;
  const PerturbedPart part = perturbed_part(test_case);
  const std::string& original = test_case.*part.text;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    PerturbationFacts& facts = facts_[n];
    Said said = say(n, original, part.language);
    if (said.text && !fits_a_message(test_case, original.size(), said.text->size())) {
      said = {PerturbedText::Kind::skipped, nullptr, "it is longer than a message to a worker can hold"};
    }
    switch (said.kind) {
      case PerturbedText::Kind::changed:
        ++facts.changed;
        texts[n] = std::move(said.text);
        break;
      case PerturbedText::Kind::unchanged:
        ++facts.unchanged;
        break;
      case PerturbedText::Kind::skipped:
        ++facts.skipped[{part.language, std::move(said.reason)}];
        break;
      case PerturbedText::Kind::failed:
        if (facts.failed++ == 0) facts.first_failure = std::move(said.reason);
        break;
    }
  }
  return texts;
}

CaseForms::Said CaseForms::say(std::size_t variation, const std::string& original,
                               const std::string& language) {
  if (facts_[variation].given_up) return {PerturbedText::Kind::failed};
  return variations_[variation].ask_once ? say_once(variation, original, language)
                                         : ask(variation, original, language);
}

CaseForms::Said CaseForms::ask(std::size_t variation, const std::string& original,
                               const std::string& language) const {
  PerturbedText perturbed = variations_[variation].apply(original, language);
  const bool changed = perturbed.kind == PerturbedText::Kind::changed && perturbed.text != original;
  if (changed) return {perturbed.kind, share(std::move(perturbed.text))};
  if (perturbed.kind == PerturbedText::Kind::changed) return {};
  return {perturbed.kind, nullptr, std::move(perturbed.reason)};
}

CaseForms::Said CaseForms::say_once(std::size_t variation, const std::string& original,
                                    const std::string& language) {
  Asked& asked = asked_[variation];
  const auto [answer, is_new] = asked.answers.try_emplace(sha256(original));
  if (!is_new) return answer->second;
  answer->second = ask(variation, original, language);
  const bool failed = answer->second.kind == PerturbedText::Kind::failed;
  if (failed && facts_[variation].failed > 0) answer->second.reason.clear();  // The first one is told.
  asked.ever_succeeded = asked.ever_succeeded || !failed;
  facts_[variation].given_up = !asked.ever_succeeded && asked.answers.size() >= Variation::max_failures;
  return answer->second;
}

}  // namespace sluice
