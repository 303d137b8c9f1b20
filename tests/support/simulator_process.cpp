#include "tests/support/simulator_process.hpp"

#include "tests/support/loopback_http.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice::support {

namespace {

constexpr const char* announcement = "listening on ";

Command with_log(Command command, const std::filesystem::path& log) {
  for (const std::string& argument :
       {std::string("--port"), std::string("0"), std::string("--log"), log.string()}) {
    command.arguments.push_back(argument);
  }
  return command;
}

}  // namespace

SimulatorProcess::SimulatorProcess(Command command, const std::filesystem::path& log)
    : log_(log), process_(with_log(std::move(command), log)) {
  const bool listens =
      eventually([this] { return process_.output().ends_with('\n') || !process_.running(); });
  const auto line = process_.output();
  if (!listens || !line.starts_with(announcement)) {
    throw std::runtime_error("provider-sim does not listen: " + process_.errors());
  }
  url_ = line.substr(std::string_view(announcement).size());
  url_.pop_back();
}

std::vector<SimulatorEvent> SimulatorProcess::events() const {
  // It writes its log before it answers. One that has ended has written all of it.
  ask_http(url_, "GET /stats HTTP/1.0\r\n\r\n");
  std::vector<SimulatorEvent> events;
  std::istringstream lines(read_text(log_));
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) break;  // Still being written.
    events.push_back({json.at("t_us"), json.at("event"), json.at("conn"), json.value("status", 0),
                      json.value("retry_after_ms", std::int64_t{-1}), json.at("content"),
                      json.value("vote", false)});
  }
  return events;
}

std::size_t SimulatorProcess::count(const std::string& kind) const {
  return static_cast<std::size_t>(std::ranges::count(events(), kind, &SimulatorEvent::kind));
}

std::vector<SimulatorEvent> SimulatorProcess::final_events() {
  process_.signal(SIGTERM);
  if (process_.wait() != 0) throw std::runtime_error("provider-sim ended badly: " + process_.errors());
  return events();
}

}  // namespace sluice::support
