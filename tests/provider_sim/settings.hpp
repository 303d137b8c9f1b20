#pragma once

#include "tests/provider_sim/delay_words.hpp"
#include "tests/provider_sim/faults.hpp"
#include "tests/provider_sim/judge.hpp"
#include "tests/provider_sim/limiter.hpp"
#include "tests/provider_sim/outage.hpp"
#include "tests/provider_sim/script.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::sim {

/// The first requests are answered alike, e.g. a burst of 429s.
struct FailFirst {
  std::uint64_t count = 0;
  int status = 429;
  std::optional<double> retry_after_s;
};

/// How the simulated providers behave.
struct SimSettings {
  LatencySettings latency;
  LimitSettings limits;
  FaultSettings faults;
  JudgeSettings judge;
  FailFirst fail_first;
  std::vector<Outage> outages;
  std::size_t places = 0;  ///< Requests that are worked on at a time, the others wait in line; 0: all.
  std::optional<double>
      retry_after_s;  ///< Named instead of the computed delay; with injected 429, 503, 529 too.
  bool name_retry_after = true;
  DelayForm delay_form = DelayForm::usual;
  std::size_t big_body = 0;  ///< If set, answers are padded to at least so many bytes of HTTP body.
  std::vector<std::pair<std::string, std::string>> required_headers;  ///< Requests without them get 401,
  std::vector<std::pair<std::string, std::string>> required_query;    ///< and without these 400.
  bool no_batch_embeddings = false;  ///< Gemini's models know embedContent alone.
  std::string required_key;          ///< If set, requests without it get 401.
  std::vector<ScriptRule> script;
};

/// All flags of the program.
struct Options {
  SimSettings sim;
  std::uint16_t port = 0;
  std::string port_file;
  std::string log_file;
  std::string requests_file;
  std::uint64_t keep_alive_max = 0;  ///< Requests a connection; 0: no limit.
};

/// The options, or the exit code to end with: the help and what is wrong are printed already.
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};

ParsedOptions parse_options(int argc, char** argv);

}  // namespace sluice::sim
