#pragma once

#include "common/defaults.hpp"
#include "common/wire/archive.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/value_layout.hpp"
#include "common/wire/versions.hpp"

#include <algorithm>
#include <cstddef>

/// The layout of every message: fields in order, as docs/protocol.md lists them; that of what messages hold
/// stands in value_layout.hpp. A change here takes a new protocol_version and new golden bytes
/// (tests/wire/golden_test.cpp), and what the version before had stays as it was (`archive.version`), as long
/// as that one is spoken.
namespace sluice::wire {

template <>
bool is_known(AckCode value);
template <>
bool is_known(RejectCode value);
template <>
bool is_known(HoldReason value);
template <>
bool is_known(EntryKind value);

template <class Archive, Of<Hello> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.instance, Name{m.name}, Name{m.cache_id}, Name{m.version}, m.max_concurrent,
                        m.max_concurrent_named);
}

template <class Archive, Of<HeldUnit> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.unit, m.lease);
}

template <class Archive, Of<Ready> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.problems, m.window, m.held);
}

template <class Archive, Of<CallSize> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.input_tokens, m.output_tokens);
}

template <class Archive, Of<SpentPermit> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.id, m.used);
}

template <class Archive, Of<SettledCall> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.permit, m.used);
}

template <class Archive, Of<CallOutcomes> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&... later) {
    return archive.record(m.answered, m.declined, m.rate_limited, m.named_delays, m.failed, m.latency_sum_us,
                          later...);
  };
  return archive.version < first_with_times_of_calls ? record() : record(m.timed_out, m.latency_deviation_us);
}

template <class Archive, Of<AnnouncedLimits> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.requests_per_minute, m.tokens_per_minute, m.input_tokens_per_minute,
                        m.output_tokens_per_minute);
}

template <class Archive, Of<Demand> M>
bool layout(Archive& archive, M& m) {
  const auto record = [&](auto&... later) {
    return archive.record(Name{m.provider}, m.ready_calls, m.in_flight, m.backing_off, m.reached, m.pause_ms,
                          m.sizes, m.spent, m.settled, m.outcomes, m.announced, m.doubted, m.variation_us,
                          m.uncertainty_us, later...);
  };
  if (!(archive.version < first_with_times_of_calls ? record() : record(m.oldest_ms))) return false;
  if constexpr (Archive::reading) {
    if (m.sizes.size() > max_demand_sizes) return archive.refuse("too many sizes of calls");
  }
  return true;
}

template <class Archive, Of<Heartbeat> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.sent_at_us, m.window, m.demands, m.received_us);
}

template <class Archive, Of<UnitSpend> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.unit, m.spend);
}

template <class Archive, Of<Report> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.window, m.started, m.results, m.returned, m.spent);
}

template <class Archive, Of<EntryKey> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.kind, m.digest);
}

template <class Archive, Of<LentEntry> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.key, Bytes{m.bytes, defaults::max_entry_bytes});
}

template <class Archive>
bool entries_fit(Archive& archive, std::size_t entries) {
  if constexpr (Archive::reading) {
    if (entries > max_entries) return archive.refuse("too many entries");
  }
  return true;
}

template <class Archive, class M>
requires Of<M, Seek> || Of<M, Lend>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.keys) && entries_fit(archive, m.keys.size());
}

template <class Archive, class M>
requires Of<M, Lent> || Of<M, Found>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.entries) && entries_fit(archive, m.entries.size());
}

template <class Archive, Of<Stored> M>
bool layout(Archive& archive, M& m) {
  if (!archive.record(Name{m.run_id}, m.stored, m.given_up)) return false;
  if constexpr (Archive::reading) {
    const auto is_of_a_unit = [](const EntryKey& key) { return !is_leased(key.kind); };
    if (std::ranges::any_of(m.stored, is_of_a_unit) || std::ranges::any_of(m.given_up, is_of_a_unit))
      return archive.refuse("an embedding or a vote was expected");
  }
  return entries_fit(archive, m.stored.size() + m.given_up.size());
}

template <class Archive, Of<Goodbye> M>
bool layout(Archive& archive, M& m) {
  return archive.version < first_with_errors_of_goodbyes ? archive.record(Sentence{m.reason})
                                                         : archive.record(Sentence{m.reason}, m.error);
}

template <class Archive, Of<Welcome> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.settings, Name{m.version});
}

inline bool layout(Writer& archive, const Work& m) {
  TextTable table;
  for (const auto& unit : m.units) {
    table.add(unit.request.system);
    table.add(unit.request.response_schema);
  }
  archive.texts = &table;
  const bool written = archive.record(Name{m.run_id}, table, m.units);
  archive.texts = nullptr;
  return written;
}

inline bool layout(Reader& archive, Work& m) {
  return archive.record(Name{m.run_id}, archive.table, m.units);
}

template <class Archive, Of<Acknowledged> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.unit, m.code, m.key, m.winner);
}

template <class Archive, Of<Ack> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.items);
}

template <class Archive, Of<Permit> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.id, m.opens_us, m.closes_us, m.size, m.probe);
}

template <class Archive, Of<CallCeiling> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.total_tokens, m.input_tokens, m.output_tokens);
}

template <class Archive, Of<Grant> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.provider}, m.unlimited, m.places, m.searched, m.pause_ms, m.hold, m.ceiling,
                        m.permits);
}

template <class Archive, Of<Grants> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.echo_us, m.now_us, m.grants);
}

template <class Archive, Of<Drain> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, Sentence{m.reason}, m.finish_ms, m.another_follows);
}

template <class Archive, Of<Withdraw> M>
bool layout(Archive& archive, M& m) {
  return archive.record(Name{m.run_id}, m.units);
}

template <class Archive, Of<Reject> M>
bool layout(Archive& archive, M& m) {
  return archive.record(m.code, Sentence{m.detail});
}

}  // namespace sluice::wire
