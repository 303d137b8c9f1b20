#pragma once

#include "common/cache_tools.hpp"
#include "common/http_server/http_server.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/view/view_request.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/progress/progress.hpp"

#include <map>
#include <mutex>
#include <string>

namespace sluice {

/// Makes the pages of `sluice view` of what the ledger of a home holds. It opens the ledger for each of them,
/// for reading alone. Thread-safe: reports are made one at a time.
class ViewServer {
 public:
  /// All must outlive it. `command`: whose flags go before those of the runs, as plan_again takes it.
  ViewServer(const CacheTools& tools, const Settings& settings, const CLI::App& command)
      : tools_(tools), settings_(settings), command_(command) {}

  ServedAnswer answer(const ServedRequest& request, const ViewAccess& access);

 private:
  ServedAnswer page_of(const ViewRequest& asked);
  ServedAnswer run_page(const PastRun& past, const Ledger& ledger);
  ServedAnswer compare_page(const ViewRequest& asked, const Ledger& ledger);
  Result<std::string> panel_of(const PastRun& past, const Ledger& ledger);
  /// Whoever only looks, or whose browser was sent here by another page, runs nothing.
  RunPlace place_in(const Ledger& ledger) const { return {command_, settings_, ledger, Programs::never}; }

  const CacheTools& tools_;
  const Settings& settings_;
  const CLI::App& command_;
  std::mutex reports_;
  std::mutex rates_;
  std::map<std::string, RateEstimate> rate_of_;  ///< By run, of those that go on.
};

}  // namespace sluice
