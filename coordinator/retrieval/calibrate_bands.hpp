#pragma once

#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/suite/examples/plugin_file.hpp"

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace sluice {

/// One case with the similarity of its nearest example, and whether it passed.
struct BandEvidence {
  double score = 0.0;
  bool passed = false;
};

/// A floor and where it lies by the evidence; all in whole thousandths.
struct ProposedFloor {
  double floor = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Floors that part the cases into three bands, each of which passes more often than the one below.
struct BandProposal {
  ProposedFloor high;
  ProposedFloor degraded;
  RetrievalCounts bands{};  ///< Cases by RetrievalKind, as the floors would part them.
};

/// The evidence does not say where floors are.
struct EvidenceMissing {
  /// About how many more cases would do if they were like these; 0: no number of such cases, since their
  /// pass rates do not rise with the similarity.
  std::uint64_t cases = 0;
};

using BandCalibration = std::variant<BandProposal, EvidenceMissing>;

/// The two floors under which the evidence is likeliest, with intervals that hold both at 95 % confidence
/// (docs/retrieval.md). The band between them is wider than the drift envelope. Pure; deterministic.
BandCalibration calibrate_bands(std::span<const BandEvidence> evidence, double drift_envelope);

/// What there is to say about the cases of one triple.
struct TripleCalibration {
  TaskTriple triple;
  Floors current;  ///< By the plugin file.
  std::uint64_t cases = 0;
  BandCalibration result;
};

/// By triple. Events without a score are left out; one whose status is `pass` or `warn` passed.
std::vector<TripleCalibration> calibrate_bands(std::span<const RetrievalEvent> events, const Plugin& plugin);

}  // namespace sluice
