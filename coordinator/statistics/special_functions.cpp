#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sluice {
namespace {

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by the method of
/// Lentz. Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;  // Stands for a zero denominator.
  constexpr int max_steps = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1.0;
  double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int m = 1; m <= max_steps; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    const double step = d * c;
    fraction *= step;
    if (std::abs(step - 1.0) < 1e-16) break;
  }
  return fraction;
}

double log_beta(double a, double b) {
  return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

/// ln of the density of the beta distribution.
double log_beta_density(double a, double b, double x) {
  return (a - 1.0) * std::log(x) + (b - 1.0) * std::log1p(-x) - log_beta(a, b);
}

}  // namespace

double log_gamma(double x) {
  // Stirling's series is precise from 15 on; what is smaller gets there by Gamma(x + 1) = x Gamma(x).
  double product = 1.0;
  while (x < 15.0) product *= x++;
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  const double series =
      inverse *
      (1.0 / 12.0 -
       square * (1.0 / 360.0 -
                 square * (1.0 / 1260.0 -
                           square * (1.0 / 1680.0 - square * (1.0 / 1188.0 - square * (691.0 / 360360.0))))));
  const double half_log_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - std::log(product);
}

double binomial_coefficient(std::uint64_t items, std::uint64_t chosen) {
  if (chosen > items) return 0.0;
  chosen = std::min(chosen, items - chosen);
  double ways = 1.0;
  for (std::uint64_t i = 1; i <= chosen; ++i) {
    ways = ways * static_cast<double>(items - chosen + i) / static_cast<double>(i);
    if (std::isinf(ways)) break;
  }
  return ways;
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_quantile(double probability) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (probability <= 0.0) return -infinity;
  if (probability >= 1.0) return infinity;
  if (probability == 0.5) return 0.0;
  if (probability > 0.5) return -normal_quantile(1.0 - probability);
  // Newton's method on ln cdf, which is concave: from a start left of the root it never oversteps. The start
  // is left of it since cdf(z) <= exp(-z^2 / 2) / 2 for z <= 0.
  const double target = std::log(probability);
  double z = -std::sqrt(-2.0 * std::log(2.0 * probability));
  for (int step = 0; step < 60; ++step) {
    const double cdf = normal_cdf(z);
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
    const double change = (target - std::log(cdf)) * cdf / density;
    z += change;
    if (std::abs(change) <= 1e-15 * std::max(1.0, std::abs(z))) break;
  }
  return z;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double factor = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1.0) / (a + b + 2.0)) return std::min(1.0, factor * beta_fraction(a, b, x) / a);
  return std::clamp(1.0 - factor * beta_fraction(b, a, 1.0 - x) / b, 0.0, 1.0);
}

double inverse_incomplete_beta(double a, double b, double probability) {
  if (probability <= 0.0) return 0.0;
  if (probability >= 1.0) return 1.0;
  // Newton's method, and the middle of the bracket where it would leave it.
  double low = 0.0;
  double high = 1.0;
  double x = a / (a + b);
  for (int step = 0; step < 400; ++step) {
    const double excess = incomplete_beta(a, b, x) - probability;
    if (excess == 0.0) return x;
    (excess < 0.0 ? low : high) = x;
    double next = x - excess / std::exp(log_beta_density(a, b, x));
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - x) <= 1e-16 * x || high - low <= 1e-16 * high) return next;
    x = next;
  }
  return x;
}

double student_t_quantile(double probability, double degrees) {
  if (probability == 0.5) return 0.0;
  if (probability < 0.5) return -student_t_quantile(1.0 - probability, degrees);
  if (degrees > 1e6) return normal_quantile(probability);  // They differ by less than 1e-5.
  const double x = inverse_incomplete_beta(0.5 * degrees, 0.5, 2.0 * (1.0 - probability));
  return std::sqrt(degrees * (1.0 - x) / x);
}

double binomial_upper_tail(std::uint64_t successes, std::uint64_t trials, double probability) {
  if (successes == 0) return 1.0;
  if (successes > trials) return 0.0;
  return incomplete_beta(static_cast<double>(successes), static_cast<double>(trials - successes) + 1.0,
                         probability);
}

}  // namespace sluice
