#pragma once

#include "common/model/trial.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

/// About how many bytes a unit adds to a message in which `before` stands before it (null: it is the first):
/// a text that requests share crosses once a message (docs/protocol.md).
std::size_t message_bytes(const WorkUnit& unit, const WorkUnit* before);

/// Of the texts that a case's request is made of.
std::size_t request_bytes(const Case& one);

/// What the cases of one request come to, so that no unit is made that a message cannot hold.
struct UnitLoad {
  std::uint32_t cases = 0;
  std::uint32_t metrics = 0;
  std::uint64_t values = 0;  ///< Of the result on the wire, those of `metrics` aside.
  std::uint64_t bytes = 0;
  std::size_t longest_list = 0;  ///< Of claims, expectations or texts of one case.

  /// `request` bytes are sent for it: its own texts, or perturbed ones. `labels`: those of the suite, which
  /// are sent with each that is expected.
  void add(const Case& one, std::size_t request, const SuiteLabels& labels = {});
  /// Neither its WORK nor its REPORT, in which each metric has a detail, comes near a limit of the wire: what
  /// a receiver refuses would be sent again for ever.
  bool fits_a_message() const;
};

}  // namespace sluice
