#pragma once

#include "tests/support/process.hpp"
#include "tests/support/simulator_process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::support {

using Flags = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

/// Both, one after the other.
Flags operator+(Flags left, const Flags& right);
/// With another value for a flag that takes one.
Flags with(Flags flags, const std::string& name, const std::string& value);

/// What a finished program left.
struct Finished {
  std::optional<ExitCode> exit_code;  ///< Nothing: it had to be killed.
  std::string output;
  std::string errors;
  std::chrono::milliseconds duration{};

  /// The lines of stderr that report an error.
  std::vector<std::string> error_lines() const;
};

/// Runs the built programs in a folder of their own, with an environment that holds nothing of the tester's:
/// home and SLUICE_HOME lie in that folder, and an API key is set that only the simulator would take.
class Workbench : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path home() const { return folder() / "home"; }
  /// Added to the environment of what is started from now on; an empty value takes the variable out.
  void set_variable(const std::string& name, const std::string& value);

  /// Writes settings that let every worker have its --max-concurrent calls in flight from the beginning: the
  /// search for the best number would start with those of one.
  void let_all_workers_call();
  /// From now on the ledger keeps no copy of suites: the settings redact something, which suite.yaml holds.
  void keep_no_copy();

  SimulatorProcess start_simulator(const Flags& flags = {});
  /// A simulator whose answers follow these rules (provider-sim --help), one JSON object each.
  SimulatorProcess start_simulator(const std::vector<std::string>& rules, Flags flags);

  Process start_sluice(const Flags& flags);
  Process start_worker(const std::string& endpoint, const Flags& flags = {});
  Finished run_sluice(const Flags& flags);
  /// With stdout at a file or device that the test names.
  Finished run_sluice_into(const std::filesystem::path& output, const Flags& flags);
  /// Under `ulimit -f`: no file grows beyond so many bytes.
  Finished run_sluice_with_file_limit(std::size_t bytes, const std::filesystem::path& output,
                                      const Flags& flags);
  /// By a shell that ran `set_up` before: `ulimit -n 20`.
  Process start_sluice_after(const std::string& set_up, const Flags& flags);
  /// Bound by the permissions of files, which root is not.
  Finished run_sluice_obeying_permissions(const Flags& flags);
  Finished run_worker(const std::string& endpoint, const Flags& flags = {});
  /// Waits for a program that was started before.
  static Finished finish(Process& process);

  /// `sluice run --mode MODE --format json` over the shipped fixtures against the simulator as
  /// openai.
  static Flags run_flags(const std::string& mode, const SimulatorProcess& simulator);
  static Flags live(const SimulatorProcess& simulator) { return run_flags("live", simulator); }
  static Flags cached(const SimulatorProcess& simulator) { return run_flags("cached", simulator); }
  static std::filesystem::path shipped_fixtures();
  /// How many cases the shipped fixtures have.
  static std::size_t fixture_count();

  /// The endpoint that a coordinator reports to listen on. Fails the test and is empty if it reports none.
  static std::string endpoint_of(Process& coordinator);
  /// Waits until a program has written this to stderr.
  static bool has_logged(const Process& process, const std::string& text);

  /// The comparable part of the report of an undisturbed run with one worker; made once a program.
  const std::string& reference_report();

 private:
  Command command(const std::string& program, const Flags& flags);

  TemporaryFolder folder_;
  Variables environment_ = clean_environment();
  int started_ = 0;

  Variables clean_environment() const;
};

}  // namespace sluice::support
