#pragma once

#include <cstdint>

namespace sluice {

/// One-sided p-values for both directions.
struct OneSidedPs {
  double drop = 1.0;
  double improvement = 1.0;
};

/// McNemar's exact test (1947; by the binomial distribution of the discordant pairs): `lost` cases passed in
/// the base and fail now, `gained` the other way round; the others do not count. Only for one answer a side:
/// a single repeat beside a majority of several differs without any change of the model.
OneSidedPs mcnemar_exact(std::uint64_t lost, std::uint64_t gained);

}  // namespace sluice
