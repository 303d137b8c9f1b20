#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

/// Of an ordered store with damaged places: a place behind `failed` from which on reading works again, found
/// by steps that double and then halve. `readable(place)` says whether what stands at a place, or next behind
/// it, can be read, the end of the store included; it is asked some 130 times at most. Nothing if there is
/// none up to `last`. REQUIRES: not readable(failed), failed <= last.
template <class Readable>
std::optional<std::uint64_t> next_readable(std::uint64_t failed, std::uint64_t last,
                                           const Readable& readable) {
  std::uint64_t bad = failed;
  std::uint64_t good = failed;
  for (std::uint64_t step = 1; good == bad; step *= 2) {
    const bool is_end = step == 0 || last - failed <= step;
    good = is_end ? last : failed + step;
    if (good == failed) return std::nullopt;
    if (readable(good)) break;
    if (is_end) return std::nullopt;
    bad = good;
  }
  while (good - bad > 1) {
    const std::uint64_t middle = bad + (good - bad) / 2;
    (readable(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace sluice
