#include "coordinator/run/lease_numbers.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {

LeaseNumbers::LeaseNumbers(const Digest& secret, std::string_view run_id) {
  run_.field(std::string_view(reinterpret_cast<const char*>(secret.data()), secret.size())).field(run_id);
}

std::uint64_t LeaseNumbers::number(WorkerId worker, UnitId unit) {
  const Digest digest = hasher_.resume(run_).field(worker).field(std::uint64_t{unit}).finish();
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return std::max<std::uint64_t>(number, 1);
}

}  // namespace sluice
