#pragma once

#include "common/error.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

class Plan;

/// Notes for later commands what judges each case of a run, and keeps a copy of its suite, on a thread of its
/// own: the run goes well without. Its end waits for the thread.
class RunNotes {
 public:
  struct Run {
    const RunOptions& options;
    const RunInputs& inputs;
    std::shared_ptr<const Plan> plan;
    std::string run_id;
  };

  /// REQUIRES: the ledger has the run, and nobody else uses this connection to it before wait() or while
  /// finish().
  RunNotes(const Run& run, Ledger& ledger);
  /// Until nothing is noted and the connection is free. Thread-safe before finish().
  void wait() const { warnings_.wait(); }
  /// Once: waits, tries again what could not be noted while the run wrote to the ledger, and warns of what
  /// cannot be noted at all.
  void finish();

 private:
  std::function<std::vector<std::string>()> note_;  ///< What is noted already stays as it is.
  std::future<std::vector<std::string>> warnings_;
};

}  // namespace sluice
