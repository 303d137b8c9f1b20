#pragma once

#include "coordinator/governor/governor.hpp"
#include "coordinator/shared_budget/key_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
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
    /// Its calls end with the process that makes them, even if that is killed.
    bool calls_end_with_process = false;
  };

  /// A file in `folder` for each provider's key; of several with one key the first is shared. `patience`: for
  /// so long the calls of a run that is silent count as under way. output_failed: see KeyFile::open.
  static Result<SharedBudgets> open(const std::filesystem::path& folder,
                                    const std::vector<Provider>& providers, BootTime patience);

  /// Before the governor's turn. False if it is another run's turn for longer than a moment: try again soon.
  /// A key whose file cannot be used any more is not shared from then on.
  bool begin_turn(Governor& governor, BootTime now);
  /// A worker outside of this process may call from the next turn on, and go on when this process is dead.
  void add_outside_worker() { has_outside_workers_ = true; }
  /// After it, and before anybody acts on it.
  void end_turn(Governor& governor, BootTime now);
  /// What is not shared any more since the last call, and why: sentences for the log.
  std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

 private:
  struct Shared {
    std::string provider;
    KeyFile file;
    bool calls_end_with_process = false;
    bool is_new = true;
  };

  /// Leaves out the keys that `use` fails for.
  template <class Use>
  void for_each(Governor& governor, BootTime now, const Use& use);
  Result<void> take_in(Shared& one, Governor& governor, BootTime now) const;

  std::vector<Shared> shared_;  ///< By file: everybody locks them in one order.
  std::vector<std::string> problems_;
  BootTime patience_{};
  bool has_outside_workers_ = false;  ///< There are some, or were: their calls may be under way.
  std::optional<BootTime> waits_since_;
};

}  // namespace sluice
