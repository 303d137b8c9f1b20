#include "coordinator/ledger/database.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

namespace {

void bind_key(SQLite::Statement& statement, const Digest& key) {
  statement.bindNoCopy(1, key.data(), static_cast<int>(key.size()));
}

}  // namespace

Result<void> Ledger::note_embeddings(std::span<const EmbeddingHolder> embeddings) {
  try {
    SQLite::Transaction transaction(database_->db, SQLite::TransactionBehavior::IMMEDIATE);
    auto& upsert = *database_->upsert_embedding;
    for (const auto& [key, holder] : embeddings) {
      static_cast<void>(upsert.tryReset());
      bind_key(upsert, key);
      upsert.bindNoCopy(2, holder);
      upsert.exec();
    }
    transaction.commit();
    return {};
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(error.what()));
  }
}

Result<std::vector<std::string>> Ledger::embedding_holders(std::span<const Digest> keys) {
  try {
    std::vector<std::string> holders;
    holders.reserve(keys.size());
    SQLite::Transaction one_snapshot(database_->db);
    auto& query = *database_->select_embedding;
    for (const auto& key : keys) {
      static_cast<void>(query.tryReset());
      bind_key(query, key);
      holders.push_back(query.executeStep() ? query.getColumn(0).getString() : std::string());
    }
    query.reset();
    one_snapshot.commit();
    return holders;
  } catch (const SQLite::Exception& error) {
    return fail(ledger_error(error.what()));
  }
}

}  // namespace sluice
