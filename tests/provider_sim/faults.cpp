#include "tests/provider_sim/faults.hpp"

#include "tests/provider_sim/content_hash.hpp"

#include <cmath>
#include <numbers>

namespace sluice::sim {

double FaultSettings::total() const {
  double sum = hang + drop + truncate_body + malformed + refusal + length;
  for (const auto& error : errors) sum += error.first;
  return sum;
}

FaultChoice choose_fault(const FaultSettings& settings, std::uint64_t content_hash, std::uint64_t request) {
  const bool per_content = settings.mode == FaultSettings::Mode::per_content;
  double left = to_unit(mix(mix(settings.seed) ^ (per_content ? content_hash : request)));
  auto falls_in = [&left](double probability) {
    left -= probability;
    return left < 0;
  };
  if (falls_in(settings.hang)) return {Fault::hang};
  if (falls_in(settings.drop)) return {Fault::drop};
  if (falls_in(settings.truncate_body)) return {Fault::truncate_body};
  if (falls_in(settings.malformed)) return {Fault::malformed};
  if (falls_in(settings.refusal)) return {Fault::refusal};
  if (falls_in(settings.length)) return {Fault::length};
  for (const auto& [probability, status] : settings.errors) {
    if (falls_in(probability)) return {Fault::error, status};
  }
  return {};
}

void add_storm(FaultSettings& settings, double probability) {
  const double each = probability / 8;
  for (double* rate : {&settings.hang, &settings.drop, &settings.truncate_body, &settings.malformed}) {
    *rate += each;
  }
  for (const int status : {429, 529, 500, 503}) settings.errors.emplace_back(each, status);
}

FaultChoice FaultSource::choose(std::uint64_t content_hash, std::uint64_t request) {
  const auto choice = choose_fault(settings_, content_hash, request);
  if (choice.fault == Fault::none || settings_.max_per_content == 0) return choice;
  auto& given = given_[content_hash];
  if (given == settings_.max_per_content) return {};
  ++given;
  return choice;
}

std::int64_t latency_us(const LatencySettings& settings, std::uint64_t request) {
  double ms = settings.median_ms;
  if (settings.sigma > 0) {
    // Box and Muller; 1 - u keeps the logarithm finite.
    const double u = 1.0 - to_unit(mix(settings.seed ^ (2 * request)));
    const double v = to_unit(mix(settings.seed ^ (2 * request + 1)));
    ms *= std::exp(settings.sigma * std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
  }
  return std::llround(ms * 1000.0);
}

}  // namespace sluice::sim
