#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

/// pass@k: the chance that at least one of k repeats passes, unbiased from n >= k of them: 1 - C(n - c, k) /
/// C(n, k) (Chen et al. 2021). Nothing if k is 0 or above `assessed`. Time: O(k).
std::optional<double> pass_at_k(std::uint64_t passed, std::uint64_t assessed, std::uint64_t k);

/// pass^k: the chance that all of k repeats pass, unbiased: C(c, k) / C(n, k) (Yao et al. 2024).
std::optional<double> pass_hat_k(std::uint64_t passed, std::uint64_t assessed, std::uint64_t k);

/// Both averaged over the cases that have at least k assessed repeats, for each k up to the number of
/// repeats. Time of `add`: O(max_k).
class PassCurve {
 public:
  struct Point {
    std::uint64_t k = 0;
    std::uint64_t cases = 0;             ///< With at least k assessed repeats.
    std::optional<double> pass_at_k{};   ///< Empty without cases.
    std::optional<double> pass_hat_k{};  ///< Empty without cases.
  };

  explicit PassCurve(std::uint64_t max_k) : sums_(max_k) {}

  void add(std::uint64_t passed, std::uint64_t assessed);
  /// For k = 1 .. max_k.
  std::vector<Point> points() const;

 private:
  struct Sums {
    std::uint64_t cases = 0;
    double at_least_one = 0.0;
    double all = 0.0;
  };
  std::vector<Sums> sums_;
};

}  // namespace sluice
