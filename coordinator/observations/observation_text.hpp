#pragma once

#include "coordinator/facts/observation.hpp"
#include "coordinator/observations/observation_page.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// One object on one line, with the line's end: every column, claims and metrics as JSON, and the system
/// prompt; then what is shown beside it, where there is any (docs/commands.md, "sluice show").
std::string observation_as_json(const Observation& one, const ShownBeside& beside = {});

/// The names of the columns of observation_as_csv, and one line of it, both with the line's end (RFC 4180).
std::string observation_csv_header();
std::string observation_as_csv(const Observation& one);

/// A line each under headings, in at most `columns` columns (80 are enough).
std::string observation_table(const std::vector<Observation>& observations, std::size_t columns);

}  // namespace sluice
