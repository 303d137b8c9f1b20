#include "coordinator/merge/held_results.hpp"

#include "common/wire/codec.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/merge/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// In front of each row.
struct RowHead {
  std::uint32_t trial = 0;
  std::uint32_t size = 0;
};

Error cannot_decode() {
  return {Reason::internal_error,
          "results that were kept in memory cannot be read; please report this as a defect"};
}

/// Zeros, which pack to nothing, in the place of the key.
void leave_out_key(std::string& row, const Digest& key) {
  const auto is_byte = [](char in_row, std::uint8_t in_key) {
    return static_cast<std::uint8_t>(in_row) == in_key;
  };
  const auto at = std::search(row.begin(), row.end(), key.begin(), key.end(), is_byte);
  if (at != row.end()) std::fill_n(at, key.size(), '\0');
}

}  // namespace

Result<void> HeldResults::visit_from(TrialId first, const VisitTrial& visit) const {
  if (!is_read_) return read_source(first, visit);
  const auto begin = std::ranges::find_if(blocks_, [&](const Block& block) { return block.last >= first; });
  if (auto visited = visit_blocks({begin, blocks_.end()}, first, visit); !visited) return visited;
  if (!not_held_) return {};
  return source_.visit_from(std::max(first, *not_held_), visit);
}

Result<void> HeldResults::read_source(TrialId first, const VisitTrial& visit) const {
  blocks_.clear();
  held_bytes_ = 0;
  open_block_.clear();
  not_held_.reset();
  auto visited = source_.visit([&](const CommittedTrial& trial) {
    hold(trial);
    if (trial.trial >= first) visit(trial);
  });
  if (!visited) return visited;
  close_block();
  open_block_.shrink_to_fit();
  is_read_ = true;
  return {};
}

void HeldResults::hold(const CommittedTrial& trial) const {
  if (not_held_) return;
  if (open_block_.size() >= defaults::held_block_bytes) close_block();
  if (held_bytes_ >= max_bytes_) {
    not_held_ = trial.trial;
    return;
  }
  std::string row = wire::encode_result(trial.unit);
  if (const Digest* key = known_key(trial.trial); key != nullptr && *key == trial.unit.key)
    leave_out_key(row, *key);
  const RowHead head{trial.trial, static_cast<std::uint32_t>(row.size())};
  std::array<char, sizeof head> bytes{};
  std::memcpy(bytes.data(), &head, sizeof head);
  open_block_.append(bytes.data(), bytes.size()).append(row);
  last_ = trial.trial;
}

void HeldResults::close_block() const {
  if (open_block_.empty()) return;
  const Block& block = blocks_.emplace_back(Block{last_, PackedText(open_block_)});
  held_bytes_ += block.rows.bytes();
  open_block_.clear();
}

Result<void> HeldResults::visit_blocks(std::span<const Block> blocks, TrialId first,
                                       const VisitTrial& visit) const {
  // To unpack takes half as long as to judge and write what was unpacked.
  ReadAhead<Result<std::vector<CommittedTrial>>> unpacked(
      [&](std::size_t index) { return unpack(blocks[index], first); }, blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto trials = unpacked.next();
    if (!trials) return fail(trials.error());
    for (const CommittedTrial& trial : *trials) visit(trial);
  }
  return {};
}

Result<std::vector<CommittedTrial>> HeldResults::unpack(const Block& block, TrialId first) const {
  const auto rows = block.rows.unpacked();
  if (!rows) return fail(rows.error());
  std::vector<CommittedTrial> trials;
  for (std::string_view rest = *rows; !rest.empty();) {
    RowHead head;
    std::memcpy(&head, rest.data(), sizeof head);
    const std::string_view row = rest.substr(sizeof head, head.size);
    rest.remove_prefix(sizeof head + head.size);
    if (head.trial < first) continue;
    auto unit = wire::decode_result(row);
    if (!unit) return fail(cannot_decode());
    if (const Digest* key = known_key(head.trial); key != nullptr && is_zero(unit->key)) unit->key = *key;
    trials.push_back({head.trial, std::move(*unit)});
  }
  return trials;
}

}  // namespace sluice
