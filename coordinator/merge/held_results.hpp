#pragma once

#include "common/hash.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/merge/packed_text.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Results that are read from their source once, however often they are visited: assessing visits them, and
/// each report once to three times. The first visit keeps them packed (zstd over the ledger's rows); beyond
/// `max_bytes` the rest stays with the source, and each visit reads that part again. Not thread-safe. The
/// source must outlive it. Fails as the source does; a first visit that failed keeps nothing.
class HeldResults final : public ResultSource {
 public:
  /// The key of a trial's unit, which the caller keeps; null: not known. Thread-safe.
  using KeyOf = std::function<const Digest*(TrialId)>;

  /// Keys that `key_of` knows are not kept a second time: a digest packs at no level.
  HeldResults(const ResultSource& source, std::size_t max_bytes, KeyOf key_of = {})
      : source_(source), max_bytes_(max_bytes), key_of_(std::move(key_of)) {}

  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override;
  /// What is kept.
  std::size_t held_bytes() const { return held_bytes_; }

 private:
  /// Results one after the other.
  struct Block {
    TrialId last = 0;
    PackedText rows;
  };

  Result<void> read_source(TrialId first, const VisitTrial& visit) const;
  void hold(const CommittedTrial& trial) const;
  void close_block() const;
  /// Unpacks each on a thread of its own while the one before is visited.
  Result<void> visit_blocks(std::span<const Block> blocks, TrialId first, const VisitTrial& visit) const;
  Result<std::vector<CommittedTrial>> unpack(const Block& block, TrialId first) const;
  const Digest* known_key(TrialId trial) const { return key_of_ ? key_of_(trial) : nullptr; }

  const ResultSource& source_;
  std::size_t max_bytes_;
  KeyOf key_of_;
  mutable bool is_read_ = false;
  mutable std::vector<Block> blocks_;
  mutable std::size_t held_bytes_ = 0;
  mutable std::string open_block_;
  mutable TrialId last_ = 0;                 ///< In the open block.
  mutable std::optional<TrialId> not_held_;  ///< The first trial that is not kept; nothing: all are.
};

}  // namespace sluice
