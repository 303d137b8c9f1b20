#pragma once

#include "coordinator/governor/governor.hpp"
#include "coordinator/shared_budget/key_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The budgets that this run shares with others of the same home: a file for each provider and key
/// (docs/budgets.md). Around each turn of the governor it tells it what the others did, and them what it did.
/// Not thread-safe.
class SharedBudgets {
 public:
  struct Provider {
    std::string name;
    std::string key;  ///< Names it and its key on this machine.
  };

  /// A file in `folder` for each provider's key. output_failed: see KeyFile::open.
  static Result<SharedBudgets> open(const std::filesystem::path& folder,
                                    const std::vector<Provider>& providers);

  /// Before the governor's turn. False if it is another run's turn for longer than a moment: try again soon.
  /// output_failed if a file cannot be used any more.
  Result<bool> begin_turn(Governor& governor, BootTime now);
  /// After it. output_failed likewise.
  Result<void> end_turn(Governor& governor, BootTime now);

 private:
  struct Shared {
    std::string provider;
    KeyFile file;
    bool is_new = true;
  };

  void unlock(std::size_t count);
  Result<void> take_in(Shared& one, Governor& governor, BootTime now) const;

  std::vector<Shared> shared_;
  std::optional<BootTime> waits_since_;
};

}  // namespace sluice
