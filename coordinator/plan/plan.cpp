#include "coordinator/plan/plan.hpp"

#include "common/model/cache_key.hpp"
#include "coordinator/plan/case_forms.hpp"
#include "coordinator/plan/defaults.hpp"
#include "coordinator/plan/digest_hash.hpp"
#include "coordinator/plan/message_size.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/halves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace sluice {

namespace {

/// The request's part of a case, with another text in place of the perturbed one.
Case with_text(const Case& test_case, std::string text) {
  Case form;
  form.arm = test_case.arm;
  form.kind = test_case.kind;
  form.language = test_case.language;
  form.content = test_case.content;
  form.context = test_case.context;
  form.system = test_case.system;
  form.extras = test_case.extras;
  form.response_schema = test_case.response_schema;
  form.*perturbed_part(test_case).text = std::move(text);
  return form;
}

std::uint64_t place_of_text(std::size_t case_index, std::size_t perturbation) {
  return static_cast<std::uint64_t>(case_index) * TrialTable::max_perturbations + perturbation;
}

}  // namespace

/// Makes the keys of cases' requests. Not thread-safe.
class Plan::RequestKeys {
 public:
  explicit RequestKeys(const Plan& plan) : plan_(plan) {
    // What an arm's claims cases share is hashed once a repeat; text cases differ in their system prompts.
    for (std::size_t arm = 0; arm < plan.arm_count(); ++arm) {
      for (std::uint32_t repeat = 0; repeat < plan.design_.repeats; ++repeat) {
        claims_keys_.emplace_back(plan.settings(arm).provider, plan.requests_.of_claims(arm, repeat));
      }
    }
  }

  /// Of all repeats of a case in one form. A recorded answer has one.
  std::vector<Digest> of(const Case& form, const Case& test_case, const SharedText& few_shot) {
    if (test_case.recorded) return {recorded_answer_key(test_case.id, test_case.recorded->answer)};
    const bool is_claims = form.kind == CaseKind::claims;
    // Parameters of its own make a case's request one that shares nothing.
    const bool shares = is_claims && form.extras.empty();
    const std::string user = shares ? plan_.requests_.user_of_claims(form, few_shot) : std::string();
    std::vector<Digest> keys;
    keys.reserve(plan_.design_.repeats);
    for (std::uint32_t repeat = 0; repeat < plan_.design_.repeats; ++repeat) {
      keys.push_back(shares ? claims_keys_[form.arm * plan_.design_.repeats + repeat].key(user, repeat)
                            : cache_key(plan_.settings(form.arm).provider,
                                        plan_.requests_.of(form, few_shot, repeat), repeat));
    }
    return keys;
  }

 private:
  const Plan& plan_;
  std::deque<CacheKeyMaker> claims_keys_;  ///< By arm, then by repeat; they cannot be moved.
};

/// Reads cases, and makes their keys, some thousand at a time on two threads: it is most of what planning
/// takes.
class Plan::KeyedCases {
 public:
  struct KeyedCase {
    Result<CaseRef> read;
    std::vector<Digest> keys;  ///< Of the case as it is.
  };

  explicit KeyedCases(const Plan& plan) : plan_(plan), makers_{RequestKeys(plan), RequestKeys(plan)} {}

  /// REQUIRES: they are asked for one after the other, from the first on.
  KeyedCase take(std::size_t index) {
    if (index == begin_ + cases_.size()) read_from(index);
    return std::move(cases_[index - begin_]);
  }
  /// For forms of a case.
  RequestKeys& maker() { return makers_.front(); }

 private:
  void read_from(std::size_t index) {
    const CaseList& cases = plan_.suite_->cases;
    begin_ = index;
    cases_.clear();
    cases_.resize(std::min(defaults::cases_planned_at_once, cases.size() - index));
    in_halves(cases_.size(), [&](std::size_t from, std::size_t to, std::size_t half) {
      for (std::size_t i = from; i < to; ++i) {
        KeyedCase& one = cases_[i];
        one.read = cases.read(begin_ + i);
        if (one.read) one.keys = makers_[half].of(**one.read, **one.read, plan_.few_shot_of(begin_ + i));
      }
    });
  }

  const Plan& plan_;
  std::array<RequestKeys, 2> makers_;  ///< One a thread.
  std::vector<KeyedCase> cases_;
  std::size_t begin_ = 0;  ///< The first of them.
};

/// The units of a plan by their keys, which stay in the plan: 8 to 16 bytes a unit.
class Plan::UnitsByKey {
 public:
  /// `keys` are those of the plan, by unit.
  explicit UnitsByKey(const std::vector<Digest>& keys) : keys_(keys) { reserve(0); }

  void reserve(std::size_t units) {
    slots_.assign(std::bit_ceil(2 * units + 2), none);
    for (std::size_t unit = 0; unit < keys_.size(); ++unit) put(static_cast<UnitId>(unit));
  }

  /// Nothing: no unit has the key yet.
  std::optional<UnitId> find(const Digest& key) const {
    const UnitId unit = slots_[slot_of(key)];
    return unit == none ? std::nullopt : std::optional(unit);
  }
  /// The plan's last unit. REQUIRES: no unit before it has its key.
  void add_last() {
    if (2 * keys_.size() > slots_.size()) return reserve(keys_.size());
    put(static_cast<UnitId>(keys_.size() - 1));
  }

 private:
  static constexpr UnitId none = std::numeric_limits<UnitId>::max();

  void put(UnitId unit) { slots_[slot_of(keys_[unit])] = unit; }
  /// Where the key's unit stands, or would.
  std::size_t slot_of(const Digest& key) const {
    std::size_t at = DigestHash()(key) & (slots_.size() - 1);
    while (slots_[at] != none && keys_[slots_[at]] != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  const std::vector<Digest>& keys_;
  std::vector<UnitId> slots_;  ///< A power of two of them, at most half of them taken.
};

/// Gives requests their units: equal keys are one.
class Plan::UnitNumbering {
 public:
  UnitNumbering(Plan& plan, std::vector<UnitLoad>& loads) : plan_(plan), loads_(loads), units_(plan.keys_) {
    const std::size_t trials = plan.suite_->cases.size() * plan.design_.repeats;
    units_.reserve(trials);
    plan.keys_.reserve(trials);
    plan.unit_of_.reserve(trials);
    loads.reserve(trials);
  }

  /// All repeats of a case in one form, by their keys; what is expected of the answers is the case's.
  void add(std::span<const Digest> keys, const Case& form, const Case& test_case,
           const SharedText& few_shot) {
    const std::size_t beside = test_case.recorded ? test_case.recorded->answer.text.size()
                               : few_shot         ? few_shot->size()
                                                  : 0;
    for (const Digest& key : keys) add(key, test_case, request_bytes(form) + beside);
  }

 private:
  void add(const Digest& key, const Case& test_case, std::size_t bytes) {
    const auto known = units_.find(key);
    const UnitId unit = known.value_or(static_cast<UnitId>(plan_.keys_.size()));
    if (!known) {
      plan_.keys_.push_back(key);
      units_.add_last();
      loads_.emplace_back();
    }
    loads_[unit].add(test_case, bytes, plan_.suite_->labels);
    plan_.unit_of_.push_back(unit);
  }

  Plan& plan_;
  std::vector<UnitLoad>& loads_;  ///< By unit.
  UnitsByKey units_;
};

Plan::Plan(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
           std::vector<RequestSettings> settings, TrialDesign design)
    : suite_(&suite),
      requests_(std::move(prompt), ontology, std::move(settings)),
      tasks_(suite, ontology),
      design_(std::move(design)),
      trials_(design_.repeats) {}

Result<Plan> Plan::make(const Suite& suite, PromptTemplate prompt, const Ontology& ontology,
                        std::vector<RequestSettings> settings, TrialDesign design) {
  Plan plan(suite, std::move(prompt), ontology, std::move(settings), std::move(design));
  std::vector<UnitLoad> loads;
  if (auto numbered = plan.number_units(loads); !numbered) return fail(std::move(numbered.error()));
  plan.group_trials();
  const auto large = std::ranges::find_if_not(loads, &UnitLoad::fits_a_message);
  if (large != loads.end()) return fail(plan.too_large(static_cast<UnitId>(large - loads.begin())));
  return plan;
}

Result<void> Plan::number_units(std::vector<UnitLoad>& loads) {
  UnitNumbering numbering(*this, loads);
  KeyedCases cases(*this);
  CaseForms forms(design_.perturbations, suite_->labels);
  for (std::size_t i = 0; i < suite_->cases.size(); ++i) {
    if (design_.on_progress) design_.on_progress(i, suite_->cases.size());
    const auto keyed = cases.take(i);
    if (!keyed.read) return fail(keyed.read.error());
    const Case& test_case = **keyed.read;
    auto problem = problem_with_request(test_case, settings(test_case.arm).provider.kind);
    if (!problem.empty()) return fail(Reason::fixture_invalid, std::move(problem));
    tasks_.add(test_case);
    const auto texts = forms.of(test_case);
    std::uint32_t perturbed = 0;
    for (std::size_t n = 0; n < texts.size(); ++n) perturbed |= texts[n] ? 1u << n : 0u;
    if (!trials_.add_case(perturbed)) {
      return fail(
          Reason::usage_invalid,
          "the run has more than 4,294,967,295 trials (cases x perturbations x repeats): take fewer "
          "of --repeat or --perturb, or a part of the suite by --categories, --filter or --max-fixtures");
    }
    const SharedText few_shot = few_shot_of(i);
    numbering.add(keyed.keys, test_case, test_case, few_shot);
    for (std::size_t n = 0; n < texts.size(); ++n) {
      if (!texts[n]) continue;
      if (design_.perturbations[n].apply_once) held_texts_[place_of_text(i, n)] = texts[n];
      const Case form = with_text(test_case, *texts[n]);
      numbering.add(cases.maker().of(form, test_case, few_shot), form, test_case, few_shot);
    }
  }
  facts_ = forms.facts();
  return {};
}

bool Plan::has_provider(std::string_view name) const {
  for (std::uint32_t arm = 0; arm < arm_count(); ++arm) {
    if (settings(arm).provider.name == name && suite_->cases.lacks_answers(arm)) return true;
  }
  return false;
}

Error Plan::too_large(UnitId unit) const {
  const auto trials = trials_of(unit);
  const bool one = trials.size() == 1;
  return {
      Reason::fixture_invalid,
      (one ? "the case " : std::to_string(trials.size()) + " cases with the same request (") +
          std::string(case_id(trials.front())) + (one ? " expects" : ", ...) expect") +
          " more than one message to a worker can hold; " +
          (one ? "shorten what it expects" : "spread them over several suites, or shorten what they expect")};
}

void Plan::group_trials() {
  // Counting sort of the trials by unit: ascending within each.
  unit_begin_.assign(keys_.size() + 1, 0);
  for (const auto unit : unit_of_) ++unit_begin_[unit + 1];
  std::partial_sum(unit_begin_.begin(), unit_begin_.end(), unit_begin_.begin());
  auto next = unit_begin_;
  trials_by_unit_.resize(unit_of_.size());
  for (TrialId trial = 0; trial < unit_of_.size(); ++trial) trials_by_unit_[next[unit_of_[trial]]++] = trial;
}

std::span<const TrialId> Plan::trials_of(UnitId unit) const {
  return std::span(trials_by_unit_).subspan(unit_begin_[unit], unit_begin_[unit + 1] - unit_begin_[unit]);
}

std::string Plan::trial_name(TrialId trial) const {
  const TrialPlace place = trials_.place(trial);
  std::string how;
  if (place.perturbation > 0) how = design_.perturbations[place.perturbation - 1].name;
  if (trials_.repeats() > 1) {
    how += (how.empty() ? "repeat " : ", repeat ") + std::to_string(place.repeat + 1);
  }
  const std::string id(suite_->cases.id(place.case_index));
  return how.empty() ? id : id + " (" + how + ")";
}

SharedText Plan::few_shot_of(std::size_t case_index) const {
  return design_.few_shots.empty() ? nullptr : design_.few_shots.at(case_index);
}

Result<Case> Plan::perturbed_form(const TrialPlace& place, const Case& test_case) const {
  const std::size_t number = place.perturbation - 1;
  const RunPerturbation& perturbation = design_.perturbations[number];
  if (perturbation.apply_once) {
    const auto held = held_texts_.find(place_of_text(place.case_index, number));
    if (held != held_texts_.end()) return with_text(test_case, *held->second);
  } else {
    const PerturbedPart part = perturbed_part(test_case);
    PerturbedText perturbed = perturbation.apply(test_case.*part.text, part.language);
    if (perturbed.kind == PerturbedText::Kind::changed)
      return with_text(test_case, std::move(perturbed.text));
  }
  return fail(Reason::internal_error, "the perturbation \"" + perturbation.name + "\" of case \"" +
                                          test_case.id +
                                          "\" is another one than when the run was planned; please report "
                                          "this as a defect");
}

Result<ModelRequest> Plan::request(UnitId unit) const {
  const TrialPlace place = trials_.place(trials_of(unit).front());
  const auto test_case = suite_->cases.read(place.case_index);
  if (!test_case) return fail(test_case.error());
  const SharedText few_shot = few_shot_of(place.case_index);
  if (place.perturbation == 0) return requests_.of(**test_case, few_shot, place.repeat);
  const auto form = perturbed_form(place, **test_case);
  if (!form) return fail(form.error());
  return requests_.of(*form, few_shot, place.repeat);
}

Result<WorkUnit> Plan::render(UnitId unit) const {
  WorkUnit work;
  work.unit = unit;
  work.key = keys_[unit];
  for (const auto trial : trials_of(unit)) {
    const TrialPlace place = trials_.place(trial);
    const auto test_case = suite_->cases.read(place.case_index);
    if (!test_case) return fail(test_case.error());
    const bool is_first = work.tasks.empty();
    std::optional<Case> perturbed;
    if (place.perturbation > 0 && (is_first || TaskMaker::shows_question(**test_case))) {
      auto form = perturbed_form(place, **test_case);
      if (!form) return fail(std::move(form.error()));
      perturbed = std::move(*form);
    }
    const Case& form = perturbed ? *perturbed : **test_case;
    if (is_first) {
      work.request = requests_.of(form, few_shot_of(place.case_index), place.repeat);
      work.repeat = place.repeat;
      if (form.recorded) work.recorded = form.recorded->answer;
    }
    work.tasks.push_back(tasks_.of(trial, **test_case, form, settings((**test_case).arm)));
  }
  return work;
}

}  // namespace sluice
