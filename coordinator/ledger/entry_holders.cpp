#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

Result<void> Ledger::note_holders(std::span<const EntryHolder> holders) {
  return guarded(ledger_error, [&] {
    const Database::Unsynced saves_requests_alone(*database_);
    SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
    for (const auto& [key, holder] : holders) {
      auto& upsert = *database_->holders_of(key.kind).upsert;
      static_cast<void>(upsert.tryReset());
      bind_digest(upsert, 1, key.digest);
      upsert.bindNoCopy(2, holder);
      upsert.exec();
    }
    transaction.commit();
  });
}

Result<std::vector<std::string>> Ledger::holders(std::span<const EntryKey> keys) {
  return guarded(ledger_error, [&] {
    std::vector<std::string> holders;
    holders.reserve(keys.size());
    SQLite::Transaction one_snapshot(database_->db);
    for (const auto& key : keys) {
      auto& query = *database_->holders_of(key.kind).select;
      static_cast<void>(query.tryReset());
      bind_digest(query, 1, key.digest);
      holders.push_back(query.executeStep() ? query.getColumn(0).getString() : std::string());
      query.reset();
    }
    one_snapshot.commit();
    return holders;
  });
}

}  // namespace sluice
