#pragma once

#include "common/error.hpp"

#include <string>
#include <type_traits>

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice {

template <class Value>
inline constexpr bool is_result = false;
template <class Value>
inline constexpr bool is_result<Result<Value>> = true;

/// What `work` comes to: a value, nothing, or a Result. What SQLite throws meanwhile becomes an error.
template <class Work>
auto guarded(Error (*error_of)(const std::string& what), const Work& work) {
  using Value = std::invoke_result_t<Work>;
  using Outcome =
      std::conditional_t<is_result<Value>, std::type_identity<Value>, std::type_identity<Result<Value>>>;
  try {
    if constexpr (std::is_void_v<Value>) {
      work();
      return typename Outcome::type();
    } else {
      return typename Outcome::type(work());
    }
  } catch (const SQLite::Exception& error) {
    return typename Outcome::type(fail(error_of(error.what())));
  }
}

/// The same as one transaction, of which all is kept or, where something fails, nothing.
template <class Work>
auto guarded_transaction(SQLite::Database& db, Error (*error_of)(const std::string& what), const Work& work) {
  return guarded(error_of, [&] {
    SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
    auto outcome = guarded(error_of, work);
    if (outcome) transaction.commit();
    return outcome;
  });
}

}  // namespace sluice
