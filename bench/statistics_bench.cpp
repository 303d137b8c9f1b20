// What the statistics of a large run cost (docs/statistics.md): answers and scores of 100,000 cases are
// drawn, then every number that a report and a gate can ask for is worked out once, by turns a few times.
#include "coordinator/statistics/bootstrap.hpp"
#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/repeats.hpp"
#include "coordinator/statistics/score_change.hpp"
#include "coordinator/statistics/stability.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint32_t perturbations = 7;
constexpr std::uint64_t seed = 1;

/// The answers of all cases, one after the other.
struct Answers {
  std::size_t cases = 0;
  std::uint32_t repeats = 0;
  std::vector<std::uint32_t> unperturbed;
  std::vector<PerturbedAnswer> perturbed;
  std::vector<double> scores;            ///< Of `unperturbed`.
  std::vector<double> perturbed_scores;  ///< Of `perturbed`.
};

/// What the answers of a case are like.
struct Noise {
  double most = 0.3;          ///< Each case answers otherwise than usual with a probability of 0 .. this.
  std::uint32_t others = 3;   ///< In so many ways,
  bool is_sensitive = false;  ///< and in other ones yet to a perturbed input.
};

Answers draw_answers(std::size_t cases, std::uint32_t repeats, const Noise& noise) {
  RandomStream random(seed);
  Answers answers{cases, repeats, {}, {}, {}, {}};
  for (std::size_t i = 0; i < cases; ++i) {
    const double share = noise.most * random.unit();
    const auto answer = [&] { return random.unit() < share ? 1 + random.below(noise.others) : 0u; };
    const std::uint32_t perturbed_from = noise.is_sensitive ? 1 + noise.others : 0;
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
      answers.unperturbed.push_back(answer());
      answers.scores.push_back(random.unit());
      for (std::uint32_t p = 0; p < perturbations; ++p) {
        answers.perturbed.push_back({p, perturbed_from + answer()});
        answers.perturbed_scores.push_back(random.unit());
      }
    }
  }
  return answers;
}

/// One metric on both sides, noisy in every case: F1 from counts, or scores.
std::vector<PairedCase> draw_pairs(std::size_t cases, std::uint32_t base_repeats, std::uint32_t repeats,
                                   bool counts) {
  RandomStream random(seed, 2);
  std::vector<PairedCase> pairs(cases);
  for (std::size_t i = 0; i < cases; ++i) {
    pairs[i].cluster = static_cast<std::uint32_t>(i % 50);
    for (RepeatSum* side : {&pairs[i].base, &pairs[i].current}) {
      const std::uint32_t count = side == &pairs[i].base ? base_repeats : repeats;
      for (std::uint32_t repeat = 0; repeat < count; ++repeat) {
        const std::uint64_t found = random.below(7);
        side->add(counts ? share_of_f1(found, random.below(3), 6 - found) : share_of_score(random.unit()));
      }
    }
  }
  return pairs;
}

StabilityAnalysis analyse(const Answers& answers) {
  StabilityFold fold({0.95, {}, seed});
  const std::size_t repeats = answers.repeats;
  for (std::size_t i = 0; i < answers.cases; ++i) {
    const std::span unperturbed(answers.unperturbed);
    const std::span perturbed(answers.perturbed);
    fold.add({static_cast<std::uint32_t>(i % 50), unperturbed.subspan(i * repeats, repeats),
              perturbed.subspan(i * repeats * perturbations, repeats * perturbations)});
  }
  return fold.finish();
}

double score_changes(const Answers& answers) {
  ScoreChange change;
  const std::size_t repeats = answers.repeats;
  for (std::size_t i = 0; i < answers.cases; ++i) {
    change.add(
        std::span(answers.scores).subspan(i * repeats, repeats),
        std::span(answers.perturbed_scores).subspan(i * repeats * perturbations, repeats * perturbations));
  }
  return change.mean_absolute().value_or(0.0) + change.noise().value_or(0.0);
}

double pass_curve(const Answers& answers) {
  PassCurve curve(answers.repeats);
  for (std::size_t i = 0; i < answers.cases; ++i) {
    std::uint64_t passed = 0;
    for (std::size_t r = 0; r < answers.repeats; ++r)
      passed += answers.unperturbed[i * answers.repeats + r] == 0;
    curve.add(passed, answers.repeats);
  }
  return curve.points().back().pass_hat_k.value_or(0.0);
}

/// Four metrics with their intervals, tests and decisions.
std::size_t gate(const std::vector<std::vector<PairedCase>>& metrics, bool clustered) {
  std::vector<PairedComparison> comparisons;
  std::size_t intervals = 0;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const PairedSample sample = pair_cases(metrics[i], clustered);
    comparisons.push_back(compare_paired(sample, {}, seed + i));
    intervals += bootstrap_intervals(sample, {}, seed + i).drop.has_value();
  }
  return intervals + assess_changes(comparisons, {}).size();
}

/// The fastest of some turns, in seconds: what the work takes when nothing else gets in the way.
template <class Work>
double fastest(int turns, double& checksum, Work work) {
  double best = 1e9;
  for (int turn = 0; turn < turns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    checksum += static_cast<double>(work());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

constexpr int turns = 3;

std::vector<std::vector<PairedCase>> four_metrics(std::size_t cases, std::uint32_t base_repeats,
                                                  std::uint32_t repeats) {
  std::vector<std::vector<PairedCase>> metrics;
  for (const bool counts : {true, true, true, false}) {
    metrics.push_back(draw_pairs(cases, base_repeats, repeats, counts));
  }
  return metrics;
}

void measure(std::size_t cases, std::uint32_t repeats, double& checksum) {
  const Answers answers = draw_answers(cases, repeats, {});
  const std::vector<std::vector<PairedCase>> metrics = four_metrics(cases, repeats, repeats);
  const double stability = fastest(turns, checksum, [&] { return analyse(answers).cases.size(); });
  const double changes = fastest(turns, checksum, [&] { return score_changes(answers); });
  const double curve = fastest(turns, checksum, [&] { return pass_curve(answers); });
  const double by_case = fastest(turns, checksum, [&] { return gate(metrics, false); });
  const double by_category = fastest(turns, checksum, [&] { return gate(metrics, true); });
  std::printf("| %zu | %u | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", cases, repeats, stability, changes,
              curve, by_case, by_category, stability + changes + curve + by_case);
}

/// Where answers are of many kinds, most cases have a permutation distribution of their own.
void measure_many_kinds(std::size_t cases, std::uint32_t repeats, std::uint32_t kinds, double& checksum) {
  double seconds[2] = {};
  for (const bool is_sensitive : {false, true}) {
    const Answers answers = draw_answers(cases, repeats, {0.9, kinds, is_sensitive});
    seconds[is_sensitive] = fastest(turns, checksum, [&] { return analyse(answers).cases.size(); });
  }
  std::printf("| %zu | %u | %u | %.3f | %.3f |\n", cases, repeats, kinds, seconds[0], seconds[1]);
}

void measure_unequal(std::size_t cases, std::uint32_t base_repeats, std::uint32_t repeats, double& checksum) {
  const std::vector<std::vector<PairedCase>> metrics = four_metrics(cases, base_repeats, repeats);
  const double by_case = fastest(turns, checksum, [&] { return gate(metrics, false); });
  const double by_category = fastest(turns, checksum, [&] { return gate(metrics, true); });
  std::printf("| %zu | %u | %u | %.3f | %.3f |\n", cases, base_repeats, repeats, by_case, by_category);
}

}  // namespace
}  // namespace sluice

int main() {
  double checksum = 0.0;
  std::printf("Seconds for every statistic of a run, 7 perturbations, 4 metrics, one thread:\n\n");
  std::printf(
      "| cases | repeats | stability | score change | pass^k | gate by case | gate by category | in all |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const std::size_t cases : {100u, 2'000u, 5'000u, 100'000u}) {
    for (const std::uint32_t repeats : {1u, 3u, 5u, 10u}) sluice::measure(cases, repeats, checksum);
  }
  std::printf("\nStability where answers are of many kinds, 7 perturbations that flip none or all:\n\n");
  std::printf("| cases | repeats | kinds | noise alone | all flipped |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const std::uint32_t kinds : {4u, 8u, 30u}) {
    sluice::measure_many_kinds(100'000, 10, kinds, checksum);
    sluice::measure_many_kinds(500, 10, kinds, checksum);
    sluice::measure_many_kinds(1'000, 30, kinds, checksum);
    sluice::measure_many_kinds(2'000, 50, kinds, checksum);
  }
  std::printf("\nThe gate of 4 metrics where repeats are unequal:\n\n");
  std::printf("| cases | repeats in the base | now | by case | by category |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const std::size_t cases : {100u, 1'000u, 2'000u, 100'000u}) {
    for (const std::uint32_t repeats : {5u, 10u}) sluice::measure_unequal(cases, 1, repeats, checksum);
    sluice::measure_unequal(cases, 5, 10, checksum);
  }
  return checksum > 0.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
