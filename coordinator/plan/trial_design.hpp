#pragma once

#include "common/model/request.hpp"
#include "coordinator/suite/case.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What a perturbation made of a text.
struct PerturbedText {
  enum class Kind : std::uint8_t {
    changed,    ///< `text` is another one that means the same.
    unchanged,  ///< There was nothing to change.
    skipped,    ///< It cannot be done safely; `reason` says why.
    failed,     ///< It should have been done, and `reason` says why it was not.
  };
  Kind kind = Kind::unchanged;
  std::string text{};
  std::string reason{};
};

/// A perturbation as a run uses it: of the catalogue, or a command. `apply` takes a text and its language as
/// the case names it (empty: plain text), and is called for the same text more than once: at plan time, and
/// when the trial is handed out.
struct RunPerturbation {
  std::string name;
  std::string version;
  std::function<PerturbedText(std::string_view text, std::string_view language)> apply{};
  /// What `apply` returns may differ from time to time, or it is slow (an external command): it is called
  /// once for each text, whatever its language, and what it returned is held. If it fails for the first
  /// `defaults::max_first_failures` texts it is not called any more.
  bool apply_once = false;
};

/// The trials of each case: how many repeats, and in which forms (unperturbed, and by each perturbation).
struct TrialDesign {
  std::vector<RunPerturbation> perturbations;  ///< At most TrialTable::max_perturbations.
  std::uint32_t repeats = 1;                   ///< > 0
  /// By case: what stands in front of its request in every form, null for nothing. Empty: nothing anywhere.
  std::vector<SharedText> few_shots{};
  /// Called while the perturbed texts are made, which takes long where commands make them: cases done, of
  /// all.
  std::function<void(std::size_t, std::size_t)> on_progress{};
};

/// What a perturbation came to over the cases of a run, for the report.
struct PerturbationFacts {
  std::string name;
  std::string version;
  std::uint64_t changed = 0;    ///< Cases of which it has trials.
  std::uint64_t unchanged = 0;  ///< Cases in which it had nothing to change.
  /// Cases that were skipped, by language and reason.
  std::map<std::pair<std::string, std::string>, std::uint64_t> skipped;
  std::uint64_t failed = 0;     ///< Cases for which it failed, or was not called any more.
  std::string first_failure{};  ///< Why, for the first of them.
  bool given_up = false;        ///< It failed for the first texts, and was not called any more.

  std::uint64_t skipped_cases() const {
    std::uint64_t cases = 0;
    for (const auto& [why, count] : skipped) cases += count;
    return cases;
  }
};

/// The text of a case that perturbations change, and its language.
struct PerturbedPart {
  std::string Case::*text = nullptr;
  std::string language;  ///< A name, or a file name's ending; empty: plain text.
};

/// The code of a claims case in its language; of a text case the context if there is one, else the prompt: as
/// the ending of its file says (`input.file`), else as plain text, since a prompt's language is the reader's.
PerturbedPart perturbed_part(const Case& test_case);

}  // namespace sluice
