#include "coordinator/statistics/mcnemar.hpp"

#include "coordinator/statistics/special_functions.hpp"

namespace sluice {

OneSidedPs mcnemar_exact(std::uint64_t lost, std::uint64_t gained) {
  const std::uint64_t discordant = lost + gained;
  return {binomial_upper_tail(lost, discordant, 0.5), binomial_upper_tail(gained, discordant, 0.5)};
}

}  // namespace sluice
