#include "coordinator/session/asked_cases.hpp"

#include "common/hash.hpp"
#include "coordinator/suite/fingerprint.hpp"

#include <cstring>
#include <string_view>

namespace sluice {
namespace {

/// Noting so many takes half a second and 2 MB; whoever has more compares files.
constexpr std::size_t most_cases = 50'000;

/// What judges the case, and what its trials are: a repeat in the place of a perturbation is another
/// question.
std::int64_t judged_by(FieldHasher& hasher, const Digest& judging, const RunOptions& options,
                       const TrialTable& trials, std::size_t case_index) {
  hasher.field(std::string_view(reinterpret_cast<const char*>(judging.data()), judging.size()));
  hasher.field(std::uint64_t{trials.repeats()});
  if (const std::uint32_t perturbed = trials.perturbations_of(case_index); perturbed != 0) {
    hasher.field(std::uint64_t{perturbed});
    for (const std::string& name : options.perturbations) hasher.field(name);
    for (const auto& command : options.perturb_commands) hasher.field(command.name);
  }
  const Digest digest = hasher.finish();
  std::int64_t bits = 0;
  std::memcpy(&bits, digest.data(), sizeof bits);
  return bits;
}

}  // namespace

Result<std::vector<AskedCase>> asked_cases(const RunOptions& options, const RunInputs& inputs,
                                           const Plan& plan) {
  std::vector<AskedCase> asked;
  const Suite& suite = inputs.suite;
  if (suite.examples || suite.cases.size() > most_cases) return asked;
  CaseJudging judging(suite, fingerprint_settings(options, inputs));
  FieldHasher hasher;
  const TrialTable& trials = plan.trials();
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto one = suite.cases.read(i);
    if (!one) return fail(one.error());
    asked.push_back({std::string(suite.cases.id(i)),
                     static_cast<std::uint32_t>(trials.first_trial(i + 1) - trials.first_trial(i)),
                     judged_by(hasher, judging.of(**one), options, trials, i)});
  }
  return asked;
}

SharedCases shared_cases(std::span<const AskedCase> then, std::span<const AskedCase> now) {
  SharedCases shared;
  auto current = now.begin();
  TrialId first_then = 0;
  TrialId first_now = 0;
  for (const AskedCase& past : then) {
    for (; current != now.end() && current->id < past.id; ++current) first_now += current->trials;
    if (current == now.end() || current->id != past.id) {
      shared.lost.push_back(past.id);
      shared.first_of_lost.push_back(first_then);
    } else if (*current != past) {
      shared.otherwise.push_back(past.id);
    } else {
      shared.trials.push_back({first_then, first_now, past.trials});
    }
    first_then += past.trials;
  }
  return shared;
}

}  // namespace sluice
