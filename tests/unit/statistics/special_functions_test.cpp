#include "coordinator/statistics/special_functions.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sluice {
namespace {

// Reference values of this file: mpmath 1.3.0 at 40 digits, unless a test names another source.

void expect_close(double actual, double expected, double relative = 1e-12) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));
}

TEST(SpecialFunctions, LogGammaAgreesWithMpmath) {
  expect_close(log_gamma(0.001), 6.90717888538385366);
  expect_close(log_gamma(0.5), 0.572364942924700087);
  EXPECT_NEAR(log_gamma(1.0), 0.0, 1e-14);
  expect_close(log_gamma(2.5), 0.28468287047291916);
  expect_close(log_gamma(10.0), 12.8018274800814696);
  expect_close(log_gamma(100.25), 360.284559637764235);
  expect_close(log_gamma(12345.5), 103958.242965123229);
}

TEST(SpecialFunctions, BinomialCoefficientsAreExactWhereDoublesAre) {
  EXPECT_EQ(binomial_coefficient(10, 3), 120.0);
  EXPECT_EQ(binomial_coefficient(40, 5), 658008.0);
  EXPECT_EQ(binomial_coefficient(52, 26), 495918532948104.0);
  EXPECT_EQ(binomial_coefficient(7, 0), 1.0);
  EXPECT_EQ(binomial_coefficient(7, 7), 1.0);
  EXPECT_EQ(binomial_coefficient(3, 4), 0.0);
  EXPECT_TRUE(std::isinf(binomial_coefficient(5000, 2500)));
}

TEST(SpecialFunctions, NormalCdfAgreesWithMpmathInBothTails) {
  EXPECT_EQ(normal_cdf(0.0), 0.5);
  expect_close(normal_cdf(1.0), 0.841344746068542949);
  expect_close(normal_cdf(1.96), 0.975002104851779564);
  expect_close(normal_cdf(-3.0), 0.00134989803163009453);
  expect_close(normal_cdf(-10.0), 7.61985302416052607e-24);
  expect_close(normal_cdf(-37.0), 5.72557122252457682e-300, 1e-11);
}

TEST(SpecialFunctions, NormalQuantilesAgreeWithMpmath) {
  expect_close(normal_quantile(0.8), 0.841621233572914205);
  expect_close(normal_quantile(0.9), 1.28155156554460047);
  expect_close(normal_quantile(0.95), 1.64485362695147271);
  expect_close(normal_quantile(0.975), 1.95996398454005424);
  expect_close(normal_quantile(0.99), 2.3263478740408411);
  expect_close(normal_quantile(0.995), 2.57582930354890076);
  expect_close(normal_quantile(0.999), 3.09023230616781354);
  expect_close(normal_quantile(0.3), -0.524400512708040784);
  expect_close(normal_quantile(1e-10), -6.3613409024040562);
  EXPECT_NEAR(normal_quantile(0.5000001), 2.50662827463102675e-7, 1e-15);
}

TEST(SpecialFunctions, NormalQuantileInvertsTheCdfEverywhere) {
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_EQ(normal_quantile(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_quantile(1.0), std::numeric_limits<double>::infinity());
  for (double p = 1e-300; p < 0.6; p *= 1.7) expect_close(normal_cdf(normal_quantile(p)), p, 1e-11);
}

TEST(SpecialFunctions, IncompleteBetaAgreesWithMpmath) {
  expect_close(incomplete_beta(0.5, 0.5, 0.3), 0.369010119565545383);
  expect_close(incomplete_beta(2.0, 3.0, 0.4), 0.5248);
  expect_close(incomplete_beta(10.0, 1.0, 0.9), 0.3486784401);
  expect_close(incomplete_beta(100.0, 200.0, 0.3), 0.108843065644909837);
  expect_close(incomplete_beta(30.0, 0.5, 0.99), 0.439334368905251216);
  expect_close(incomplete_beta(1.0, 50.0, 0.001), 0.04879437180296865);
  EXPECT_EQ(incomplete_beta(2.0, 3.0, 0.0), 0.0);
  EXPECT_EQ(incomplete_beta(2.0, 3.0, 1.0), 1.0);
}

TEST(SpecialFunctions, IncompleteBetaHoldsForLargeSamples) {
  // By symmetry, and by the normal limit: I_{1/2 + e}(n, n) -> Phi(e sqrt(8 n)).
  expect_close(incomplete_beta(1e5, 1e5, 0.5), 0.5, 1e-9);
  EXPECT_NEAR(incomplete_beta(1e5, 1e5, 0.501), normal_cdf(0.001 * std::sqrt(8e5)), 1e-6);
}

TEST(SpecialFunctions, InverseIncompleteBetaInverts) {
  for (const double a : {0.5, 1.0, 3.0, 40.0, 2000.0}) {
    for (const double b : {0.5, 1.0, 7.0, 300.0, 50000.0}) {
      for (const double p : {1e-8, 0.001, 0.05, 0.5, 0.95, 0.999}) {
        const double x = inverse_incomplete_beta(a, b, p);
        EXPECT_NEAR(incomplete_beta(a, b, x), p, 1e-9 * p) << a << " " << b << " " << p;
      }
    }
  }
}

TEST(SpecialFunctions, StudentQuantilesAgreeWithMpmathAndTheTables) {
  expect_close(student_t_quantile(0.95, 1), 6.3137515146750431, 1e-10);
  expect_close(student_t_quantile(0.95, 9), 1.83311293265623717, 1e-10);
  expect_close(student_t_quantile(0.95, 99), 1.6603911560169909, 1e-10);
  expect_close(student_t_quantile(0.99, 4), 3.74694738797919684, 1e-10);
  expect_close(student_t_quantile(0.975, 30), 2.04227245630123831, 1e-10);
  expect_close(student_t_quantile(0.9995, 5), 6.86882662588111025, 1e-10);
  EXPECT_EQ(student_t_quantile(0.5, 3), 0.0);
  expect_close(student_t_quantile(0.05, 9), -1.83311293265623717, 1e-10);
}

TEST(SpecialFunctions, BinomialTailIsTheSumOfItsTerms) {
  for (std::uint64_t trials : {1u, 2u, 7u, 40u}) {
    double tail = 0.0;
    for (std::uint64_t successes = trials + 1; successes-- > 0;) {
      tail += binomial_coefficient(trials, successes) * std::pow(0.5, static_cast<double>(trials));
      expect_close(binomial_upper_tail(successes, trials, 0.5), tail, 1e-11);
    }
  }
  EXPECT_EQ(binomial_upper_tail(3, 2, 0.5), 0.0);
}

}  // namespace
}  // namespace sluice
