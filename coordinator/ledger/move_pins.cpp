#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

Result<void> Ledger::move_pins(std::span<const CachePin> pins) {
  return guarded_transaction(database_->db, ledger_error, [&] {
    database_->settle_pins();  // These are older.
    SQLite::Statement upsert(database_->db, upsert_of_pin);
    for (const auto& pin : pins) {
      bind_digest(upsert, 1, pin.key);
      bind_digest(upsert, 2, pin.answer);
      upsert.bindNoCopy(3, pin.holder);
      upsert.exec();
      upsert.reset();
    }
  });
}

Result<std::map<std::string, std::uint64_t>> Ledger::pins_by_cache() const {
  return guarded(ledger_error, [&] {
    std::map<std::string, std::uint64_t> pins;
    SQLite::Statement query(database_->db, "SELECT holder, count(*) FROM pins GROUP BY holder");
    while (query.executeStep())
      pins.emplace(query.getColumn(0).getString(), static_cast<std::uint64_t>(query.getColumn(1).getInt64()));
    return pins;
  });
}

Result<std::vector<Digest>> Ledger::keys_pinned_in(const std::string& cache) const {
  return guarded(ledger_error, [&] {
    std::vector<Digest> keys;
    SQLite::Statement query(database_->db, "SELECT key FROM pins WHERE holder = ?");
    query.bind(1, cache);
    while (query.executeStep()) keys.push_back(digest_of(query.getColumn(0)));
    return keys;
  });
}

}  // namespace sluice
