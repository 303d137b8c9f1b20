#pragma once

#include "common/documents/table_reader.hpp"
#include "common/model/expectation.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace sluice {

/// A program that checks answers, as a suite names it (docs/metrics.md#commands).
struct CommandCheck {
  std::vector<std::string> arguments;  ///< The program first.
  std::string parameters;              ///< A JSON object.
  std::chrono::milliseconds time_limit{};
};

/// Reads the keys of a metric that is a command. What is wrong becomes findings.
TextExpectation read_command(TableReader& reader, const TestSource& source, MetricId metric);

/// What read_command made of it. REQUIRES: a command.
CommandCheck command_check(const TextExpectation& what);

}  // namespace sluice
