#include "coordinator/cli/run/run_ledger.hpp"

#include "common/files.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <stdlib.h>

namespace sluice {

namespace fs = std::filesystem;

Result<RunLedger> RunLedger::open(const Settings& settings) {
  const fs::path home = settings.home.value;
  const std::string read_only = "the home " + home.string() + " is read-only";
  if (!is_read_only_folder(home)) {
    make_private_folder(home);  // What is wrong shows when a file is made in it.
    return RunLedger(home / "ledger.db");
  }
  if (settings.mode.value == Mode::live) {
    return fail(
        Reason::ledger_failed,
        read_only +
            ", so that a live run could not keep the answers that it pays for: name another --home, or "
            "replay what this one holds with --mode cached");
  }
  std::error_code error;
  std::string folder = (fs::temp_directory_path(error) / "sluice-run-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    const int why = error ? error.value() : errno;
    return fail(Reason::ledger_failed, read_only +
                                           ", and no temporary folder can be made to record the run in: " +
                                           std::generic_category().message(why) + "; set TMPDIR");
  }
  RunLedger run(fs::path(folder) / "ledger.db");
  run.temporary_folder_ = folder;
  auto ledger = open_ledger(run.file_);
  if (!ledger) return fail(std::move(ledger.error()));
  const auto past = open_past_runs(settings);
  if (!past) return fail(past.error());
  if (*past) {
    if (auto copied = ledger->copy_pins_from(**past); !copied) return fail(std::move(copied.error()));
  }
  report_warning(read_only + ": the run is not recorded in its ledger");
  return run;
}

RunLedger::RunLedger(RunLedger&& other) noexcept
    : file_(std::move(other.file_)), temporary_folder_(std::exchange(other.temporary_folder_, {})) {}

RunLedger::~RunLedger() {
  std::error_code ignored;  // What is left behind lies in a folder for such things.
  if (!temporary_folder_.empty()) fs::remove_all(temporary_folder_, ignored);
}

}  // namespace sluice
