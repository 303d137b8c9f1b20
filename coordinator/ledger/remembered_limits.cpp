#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

Result<void> Ledger::note_limits(const RememberedLimits& learned) {
  return guarded(ledger_error, [&] {
    SQLite::Statement insert(
        database_->db,
        "INSERT OR REPLACE INTO limits(key, provider, server, requests_per_minute, burst, "
        "in_flight, announced, learned_at_ms, run_id) VALUES (?,?,?,?,?,?,?,?,?)");
    const LearnedLimits& limits = learned.limits;
    insert.bind(1, learned.key);
    insert.bind(2, learned.provider);
    insert.bind(3, learned.server);
    bind_optional(insert, 4, limits.requests_per_minute);
    bind_optional(insert, 5, limits.burst);
    bind_optional(insert, 6, limits.in_flight);
    insert.bind(7, limits.source == LimitSource::announced ? 1 : 0);
    insert.bind(8, learned.learned_at_ms);
    insert.bind(9, learned.run_id);
    insert.exec();
  });
}

Result<std::vector<RememberedLimits>> Ledger::limits() const {
  return guarded(ledger_error, [&] {
    SQLite::Statement query(database_->db,
                            "SELECT key, provider, server, requests_per_minute, burst, in_flight, announced, "
                            "learned_at_ms, run_id FROM " +
                                sound("limits") + " ORDER BY provider, server, key");
    std::vector<RememberedLimits> all;
    while (query.executeStep()) {
      RememberedLimits& one = all.emplace_back();
      one.key = query.getColumn(0).getString();
      one.provider = query.getColumn(1).getString();
      one.server = query.getColumn(2).getString();
      one.limits.requests_per_minute = number_in(query.getColumn(3));
      one.limits.burst = number_in(query.getColumn(4));
      if (const auto value = query.getColumn(5); !value.isNull()) one.limits.in_flight = value.getUInt();
      one.limits.source = query.getColumn(6).getInt() != 0 ? LimitSource::announced : LimitSource::found;
      one.learned_at_ms = query.getColumn(7).getInt64();
      one.run_id = query.getColumn(8).getString();
    }
    return all;
  });
}

Result<std::uint64_t> Ledger::forget_limits(const std::optional<std::string>& key) {
  return guarded(ledger_error, [&] {
    SQLite::Statement remove(database_->db, key ? "DELETE FROM limits WHERE key = ?" : "DELETE FROM limits");
    if (key) remove.bind(1, *key);
    return static_cast<std::uint64_t>(remove.exec());
  });
}

}  // namespace sluice
