#pragma once

#include "common/error.hpp"
#include "coordinator/facts/observation.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// The observations (docs/observations.md): a SQLite file that any tool reads. Several processes may write to
/// it at a time. Not thread-safe; each thread opens its own. Errors: output_failed, or file_unreadable for a
/// file that is none of ours, which stays as it is.
class ObservationStore {
 public:
  /// Makes the file if there is none.
  static Result<ObservationStore> open(const std::filesystem::path& file);
  /// The same of a file that is there already, for reading alone; nothing if there is none.
  static Result<std::optional<ObservationStore>> open_read_only(const std::filesystem::path& file);
  ~ObservationStore();
  ObservationStore(ObservationStore&&) noexcept;
  ObservationStore& operator=(ObservationStore&&) noexcept;

  /// All of them or none.
  Result<void> insert(std::span<const Observation> observations);
  using Put = std::function<void(Observation)>;
  /// Inserts what `make` puts, in one transaction, so that few have to be kept until the others are made. One
  /// of a trial that is there already takes its place: a run that goes on in a restored ledger observes some
  /// again. Where `make` fails, what it has put before stays. `Put` throws what `make` has to let through.
  Result<void> insert_each(const std::function<Result<void>(const Put&)>& make);
  /// Gives a run's trials these statuses.
  Result<void> set_statuses(const std::string& run_id, std::span<const TrialStatus> statuses);
  /// Removes what need not stay, and returns how many that were. `compact`: gives the room back to the disk.
  Result<std::uint64_t> prune(const Retention& retention, bool compact);
  Result<std::uint64_t> count(const ObservationFilter& filter = {}) const;
  /// The runs whose id begins so, two at most; one whose whole id it is comes first.
  Result<std::vector<std::string>> runs_beginning_with(const std::string& prefix) const;

  using Visit = std::function<void(const Observation&)>;
  enum class Order : std::uint8_t { oldest_first, newest_first };
  /// Calls `visit` once for each, for `limit` at most.
  Result<void> visit(const ObservationFilter& filter, Order order, std::optional<std::uint64_t> limit,
                     const Visit& visit) const;

 private:
  struct Database;
  explicit ObservationStore(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace sluice
