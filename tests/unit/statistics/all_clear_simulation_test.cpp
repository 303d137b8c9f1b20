// Simulated runs whose true drop is min_effect: `no_regression` must not be decided for them in more than one
// of twenty. Every model is stated where it is drawn; one seed for all. The test's p plays no part here, so
// that the cheapest one does.
#include "clopper_pearson.hpp"
#include "coordinator/statistics/change_decision.hpp"
#include "coordinator/statistics/random_stream.hpp"
#include "paired_cases.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::all_clear_simulation_test {

constexpr std::uint64_t seed = 20251123;
constexpr std::uint64_t many_runs = 1000;
constexpr std::uint64_t some_runs = 400;
constexpr SwapLimits cheapest{0, 0, 0, 0, 1.0};

using Model = std::function<std::vector<PairedCase>(RandomStream&)>;

struct Counted {
  std::uint64_t all_clears = 0;
  std::uint64_t runs = 0;
};

Counted counted(const Model& model, std::uint64_t runs, double min_effect, bool clustered = false) {
  Counted counted{0, runs};
  for (std::uint64_t run = 0; run < runs; ++run) {
    RandomStream random(seed, run);
    const auto comparison = compare_paired(model(random), clustered, cheapest, 1);
    counted.all_clears +=
        assess_changes({&comparison, 1}, {0.95, min_effect}).at(0).decision == ChangeDecision::no_regression;
  }
  return counted;
}

void expect_rare(const Counted& counted, const std::string& model) {
  EXPECT_LE(clopper_pearson_lower(counted.all_clears, counted.runs, 0.95), 0.05)
      << counted.all_clears << " of " << counted.runs << ": " << model;
}

/// Calls `check` for suites of 60 .. 400 cases and a min_effect of 0.03 .. 0.10.
void visit_suites(const std::function<void(int cases, double min_effect)>& check) {
  for (const int cases : {60, 100, 200, 400}) {
    for (const double min_effect : {0.03, 0.05, 0.10}) check(cases, min_effect);
  }
}

std::string named(const std::string& model, int cases, double min_effect) {
  return model + ", " + std::to_string(cases) + " cases, min_effect " + std::to_string(min_effect);
}

TEST(AllClear, RareTotalFailures) {
  // A model without noise, of whose cases a change breaks a share of min_effect.
  visit_suites([](int cases, double min_effect) {
    const Model model = [=](RandomStream& random) {
      std::vector<PairedCase> drawn;
      for (int i = 0; i < cases; ++i) drawn.push_back(scored(1.0, random.unit() < min_effect ? 0.0 : 1.0));
      return drawn;
    };
    expect_rare(counted(model, many_runs, min_effect), named("total failures", cases, min_effect));
  });
}

TEST(AllClear, RareTotalFailuresAmongNoise) {
  // The same, while the scores of all cases move by up to 0.0005, so that all of them changed.
  visit_suites([](int cases, double min_effect) {
    const Model model = [=](RandomStream& random) {
      std::vector<PairedCase> drawn;
      for (int i = 0; i < cases; ++i) {
        const double noise = 0.001 * (random.unit() - 0.5);
        drawn.push_back(random.unit() < min_effect ? scored(1.0, 0.0) : scored(0.8, 0.8 + noise));
      }
      return drawn;
    };
    expect_rare(counted(model, many_runs, min_effect), named("failures among noise", cases, min_effect));
  });
}

TEST(AllClear, LossesAndGains) {
  // Beside what is lost a tenth as much again is lost, and gained.
  visit_suites([](int cases, double min_effect) {
    const Model model = [=](RandomStream& random) {
      std::vector<PairedCase> drawn;
      for (int i = 0; i < cases; ++i) {
        const double kind = random.unit() / min_effect;
        drawn.push_back(kind < 1.1 ? scored(1, 0) : kind < 1.2 ? scored(0, 1) : scored(1, 1));
      }
      return drawn;
    };
    expect_rare(counted(model, some_runs, min_effect), named("losses and gains", cases, min_effect));
  });
}

TEST(AllClear, Repeats) {
  // Three repeats a side, or one against four: answers that nearly always pass, and a share of 2 x min_effect
  // of the cases that pass half of the time now.
  visit_suites([](int cases, double min_effect) {
    for (const auto& [base, current] : {std::pair{3, 3}, {1, 4}}) {
      const Model model = [cases, min_effect, base = base, current = current](RandomStream& random) {
        std::vector<PairedCase> drawn(static_cast<std::size_t>(cases));
        for (PairedCase& one : drawn) {
          const double now = random.unit() < 2 * min_effect ? 0.49 : 0.99;
          for (int i = 0; i < base; ++i) one.base.add(share_of_pass(random.unit() < 0.99));
          for (int i = 0; i < current; ++i) one.current.add(share_of_pass(random.unit() < now));
        }
        return drawn;
      };
      expect_rare(counted(model, some_runs, min_effect), named("repeats", cases, min_effect));
    }
  });
}

TEST(AllClear, NoisyScores) {
  // Scores in steps of 0.05 around a level of 0.35 .. 0.65, off by up to `width`.
  for (const double width : {0.1, 0.25}) {
    const Model model = [=](RandomStream& random) {
      std::vector<PairedCase> drawn;
      for (int i = 0; i < 60; ++i) {
        const double level = 0.35 + 0.3 * random.unit();
        const auto score = [&](double mean) {
          return std::round((mean + width * (2 * random.unit() - 1)) * 20) / 20;
        };
        drawn.push_back(scored(score(level), score(level - 0.1)));
      }
      return drawn;
    };
    expect_rare(counted(model, many_runs, 0.1), "noisy scores");
  }
}

TEST(AllClear, ClustersOfUnequalSize) {
  // Categories break as a whole, each with a chance of min_effect: one of 100 cases and 59 of one, and twenty
  // of thirty cases beside sixty of one.
  struct Sizes {
    int large = 0;
    int of = 0;
    int small = 0;
  };
  for (const auto& [large, of, small] : {Sizes{1, 100, 59}, Sizes{20, 30, 60}, Sizes{60, 5, 60}}) {
    for (const double min_effect : {0.05, 0.10}) {
      const Model model = [min_effect, large = large, of = of, small = small](RandomStream& random) {
        std::vector<PairedCase> drawn;
        for (int cluster = 0; cluster < large + small; ++cluster) {
          const PairedCase one =
              scored(1, random.unit() < min_effect ? 0 : 1, static_cast<std::uint32_t>(cluster));
          drawn.insert(drawn.end(), static_cast<std::size_t>(cluster < large ? of : 1), one);
        }
        return drawn;
      };
      expect_rare(counted(model, many_runs, min_effect, true), named("clusters", large, min_effect));
    }
  }
}

TEST(AllClear, IsGivenWhereNothingDropped) {
  // Identical runs of 100 cases, scores off by up to 0.05 on each side: a bound that is never met would hold
  // all that is above.
  const Model model = [](RandomStream& random) {
    std::vector<PairedCase> drawn;
    for (int i = 0; i < 100; ++i) {
      const auto score = [&] { return 0.5 + 0.05 * (2 * random.unit() - 1); };
      drawn.push_back(scored(score(), score()));
    }
    return drawn;
  };
  EXPECT_GE(counted(model, some_runs, 0.05).all_clears, 0.95 * some_runs);
}

}  // namespace sluice::all_clear_simulation_test
