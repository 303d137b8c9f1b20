#include "common/open_files.hpp"
#include "tests/provider_sim/server.hpp"
#include "tests/provider_sim/settings.hpp"
#include "tests/provider_sim/simulator.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using namespace sluice;

/// The file appears whole or not at all, so that whoever waits for it never reads half a number.
bool write_port_file(const std::string& path, std::uint16_t port) {
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished);
  file << port << '\n';
  file.close();
  return file && std::rename(unfinished.c_str(), path.c_str()) == 0;
}

int complain(const std::string& message) {
  std::cerr << "provider-sim: " << message << '\n';
  return 2;
}

int serve(sim::Options options) {
  raise_open_files_limit();  // Each connection is one.
  sim::block_signals();
  sim::EventLog log;
  if (!options.log_file.empty()) {
    if (auto opened = log.open(options.log_file); !opened) return complain(opened.error().message);
  }
  if (!options.requests_file.empty()) {
    if (auto opened = log.open_requests(options.requests_file); !opened)
      return complain(opened.error().message);
  }
  sim::Simulator simulator(std::move(options.sim), log);
  sim::Server server(simulator, options.keep_alive_max);
  const auto port = server.listen(options.port);
  if (!port) return complain(port.error().message);
  if (!options.port_file.empty() && !write_port_file(options.port_file, *port)) {
    return complain(options.port_file + ": the port cannot be written to this file");
  }
  std::cout << "listening on http://127.0.0.1:" << *port << std::endl;
  if (auto ended = server.run(); !ended) return complain(ended.error().message);
  return log.flush() ? 0 : complain(options.log_file + ": parts of the log could not be written");
}

}  // namespace

int main(int argc, char** argv) {
  auto parsed = sim::parse_options(argc, argv);
  return parsed.options ? serve(std::move(*parsed.options)) : parsed.exit_code;
}
