#pragma once

#include <cstdint>

/// The functions of probability that the standard library lacks. All pure; relative error below 1e-12 unless
/// noted otherwise.
namespace sluice {

/// ln Gamma(x). REQUIRES: x > 0. Unlike std::lgamma it writes no global, so that threads may share it.
double log_gamma(double x);

/// How many ways there are to choose `chosen` of `items`; 0 if chosen > items, infinity beyond 1e308.
/// Exact up to 2^53. Time: O(min(chosen, items - chosen)).
double binomial_coefficient(std::uint64_t items, std::uint64_t chosen);

/// P(Z <= z) of the standard normal distribution, precise in both tails.
double normal_cdf(double z);

/// The z with normal_cdf(z) = probability; infinities at 0 and 1. REQUIRES: 0 <= probability <= 1.
double normal_quantile(double probability);

/// The regularised incomplete beta function I_x(a, b), that is P(X <= x) of a beta distribution. Relative
/// error below 1e-9 for a + b up to 1e6. REQUIRES: a, b > 0; 0 <= x <= 1. Time: O(sqrt(max(a, b))).
double incomplete_beta(double a, double b, double x);

/// The x with incomplete_beta(a, b, x) = probability. REQUIRES: a, b > 0; 0 <= probability <= 1.
double inverse_incomplete_beta(double a, double b, double probability);

/// Student's t with P(T <= t) = probability. REQUIRES: 0 < probability < 1; degrees > 0.
double student_t_quantile(double probability, double degrees);

/// P(X >= successes) of a binomial distribution. REQUIRES: 0 < probability < 1.
double binomial_upper_tail(std::uint64_t successes, std::uint64_t trials, double probability);

}  // namespace sluice
