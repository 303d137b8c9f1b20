#pragma once

#include "common/documents/table_reader.hpp"
#include "common/model/expectation.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <chrono>
#include <functional>
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
/// The arguments of one, out of its first text.
std::vector<std::string> command_arguments(const std::string& json);

/// Each command of a metric, which may be a group, or of a case's metrics, in their order.
void visit_commands(const TextExpectation& what, const std::function<void(const TextExpectation&)>& visit);
void visit_commands(const Case& test_case, const std::function<void(const TextExpectation&)>& visit);

/// Whether a metric of the case is a command, or has one as a part.
bool runs_commands(const Case& test_case);

/// Whether sluice looks for the n-th of the arguments among the suite's files, to hash it: any but an option
/// and a program that is looked for in PATH, which is another one on each machine.
bool may_be_file(const std::vector<std::string>& arguments, std::size_t n);

}  // namespace sluice
