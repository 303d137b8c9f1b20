#include "tests/support/workbench.hpp"

#include "tests/support/paths.hpp"
#include "tests/support/report_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <unistd.h>

namespace sluice::support {

namespace fs = std::filesystem;

Flags operator+(Flags left, const Flags& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Flags with(Flags flags, const std::string& name, const std::string& value) {
  const auto found = std::ranges::find(flags, name);
  if (found == flags.end()) return std::move(flags) + Flags{name, value};
  *std::next(found) = value;
  return flags;
}

std::vector<std::string> Finished::error_lines() const {
  std::vector<std::string> found;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("sluice: error: ") || line.starts_with("sluice-worker: error: "))
      found.push_back(line);
  }
  return found;
}

// --- what is started ---

Variables Workbench::clean_environment() const {
  Variables variables{{"HOME", folder().string()},
                      {"SLUICE_HOME", home().string()},
                      {"OPENAI_API_KEY", "key-for-tests"},
                      {"PATH", "/usr/bin:/bin"}};
  // A sanitizer's options belong to the build, not to the tester.
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  return variables;
}

void Workbench::set_variable(const std::string& name, const std::string& value) {
  if (value.empty()) {
    environment_.erase(name);
  } else {
    environment_[name] = value;
  }
}

Command Workbench::command(const std::string& program, const Flags& flags) {
  const auto stem = folder() / (program + "-" + std::to_string(++started_));
  return {Flags{support::program_path(program)} + flags, environment_, folder(), stem.string() + ".out",
          stem.string() + ".err"};
}

SimulatorProcess Workbench::start_simulator(const Flags& flags) {
  auto simulator = command("provider-sim", flags);
  const auto log = simulator.output.string() + ".jsonl";
  return SimulatorProcess(std::move(simulator), log);
}

SimulatorProcess Workbench::start_simulator(const std::vector<std::string>& rules, Flags flags) {
  std::string text;
  for (const auto& rule : rules) text += rule + "\n";
  const auto script = folder() / ("script-" + std::to_string(started_) + ".jsonl");
  write_text(script, text);
  return start_simulator(std::move(flags) + Flags{"--script", script.string()});
}

Process Workbench::start_sluice(const Flags& flags) {
  return Process(command("sluice", flags));
}

Process Workbench::start_worker(const std::string& endpoint, const Flags& flags) {
  return Process(command("sluice-worker", Flags{"--connect", endpoint} + flags));
}

// --- what is waited for ---

Finished Workbench::finish(Process& process) {
  const auto begin = std::chrono::steady_clock::now();
  const auto exit_code = process.wait();
  const auto duration = std::chrono::steady_clock::now() - begin;
  if (!exit_code) {
    ADD_FAILURE() << process.command().arguments.front() << " does not end; it wrote: " << process.errors();
  }
  return {exit_code, process.output(), process.errors(),
          std::chrono::duration_cast<std::chrono::milliseconds>(duration)};
}

void Workbench::let_all_workers_call() {
  // A number that somebody has named is each worker's from the beginning, and not searched for.
  write_text(folder() / "sluice.toml",
             "[eval]\nmax_concurrent = 5\n\n[providers.openai]\nmax_in_flight = 1000\n");
}

void Workbench::keep_no_copy() {
  const auto add = [this](const char* file, const std::string& text) {
    const auto path = folder() / file;
    write_text(path, (fs::exists(path) ? read_text(path) : "") + text);
  };
  add("sluice.toml", "\n[redaction.patterns]\nsecret = 'nobody knows'\n");
  add("suite.yaml", "# nobody knows\n");
}

Finished Workbench::run_sluice(const Flags& flags) {
  auto process = start_sluice(flags);
  return finish(process);
}

Finished Workbench::run_sluice_into(const fs::path& output, const Flags& flags) {
  auto redirected = command("sluice", flags);
  redirected.output = output;
  Process process(std::move(redirected));
  return finish(process);
}

Finished Workbench::run_sluice_with_file_limit(std::size_t bytes, const fs::path& output,
                                               const Flags& flags) {
  auto limited = command("sluice", flags);
  if (!output.empty()) limited.output = output;
  constexpr std::size_t block = 512;  // POSIX: `ulimit -f` counts in these.
  const auto script = "ulimit -f " + std::to_string(bytes / block) + " && exec \"$@\"";
  limited.arguments = Flags{"/bin/sh", "-c", script, "sh"} + limited.arguments;
  Process process(std::move(limited));
  return finish(process);
}

Process Workbench::start_sluice_after(const std::string& set_up, const Flags& flags) {
  auto shell = command("sluice", flags);
  shell.arguments = Flags{"/bin/sh", "-c", set_up + " && exec \"$@\"", "sh"} + shell.arguments;
  return Process(std::move(shell));
}

Finished Workbench::run_sluice_obeying_permissions(const Flags& flags) {
  auto bound = command("sluice", flags);
  if (::geteuid() == 0) {
    bound.arguments =
        Flags{"/usr/bin/env", "setpriv", "--bounding-set=-dac_override,-dac_read_search"} + bound.arguments;
  }
  Process process(std::move(bound));
  return finish(process);
}

Finished Workbench::run_worker(const std::string& endpoint, const Flags& flags) {
  auto process = start_worker(endpoint, flags);
  return finish(process);
}

// --- what is run ---

fs::path Workbench::shipped_fixtures() {
  return support::source_path("tests/llm_fixtures");
}

std::size_t Workbench::fixture_count() {
  return static_cast<std::size_t>(std::ranges::count_if(
      fs::recursive_directory_iterator(shipped_fixtures()), [](const fs::directory_entry& entry) {
        return entry.path().extension() == ".toml" && entry.path().filename() != "manifest.toml";
      }));
}

Flags Workbench::run_flags(const std::string& mode, const SimulatorProcess& simulator) {
  return {"run",
          "--mode",
          mode,
          "--provider",
          "openai",
          "--model",
          "sim-1",
          "--base-url",
          simulator.url() + "/v1",
          "--format",
          "json",
          "--fixtures",
          shipped_fixtures().string()};
}

std::string Workbench::endpoint_of(Process& coordinator) {
  static constexpr std::string_view announcement = "sluice: listening on ";
  std::string endpoint;
  eventually([&] {
    const auto written = coordinator.errors();
    const auto begin = written.find(announcement);
    const auto end = begin == std::string::npos ? begin : written.find('\n', begin);
    if (end == std::string::npos) return !coordinator.running();
    endpoint = written.substr(begin + announcement.size(), end - begin - announcement.size());
    return true;
  });
  EXPECT_NE(endpoint, "") << "the coordinator does not listen; it wrote: " << coordinator.errors();
  return endpoint;
}

bool Workbench::has_logged(const Process& process, const std::string& text) {
  return eventually([&] { return process.errors().find(text) != std::string::npos; });
}

const std::string& Workbench::reference_report() {
  static std::string reference;
  if (reference.empty()) {
    const auto simulator = start_simulator();
    const auto finished = run_sluice(live(simulator) + Flags{"--no-cache"});
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    reference = comparable_part(finished.output);
    EXPECT_NE(reference, "") << finished.output.substr(0, 500);
  }
  return reference;
}

}  // namespace sluice::support
