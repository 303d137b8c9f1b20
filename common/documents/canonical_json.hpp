#pragma once

#include "common/documents/document.hpp"

#include <string>

namespace sluice {

/// A number in its shortest form; both zeros are 0. It must be finite.
void append_canonical_number(std::string& out, double number);
/// The value as JSON without white space, keys sorted, numbers in their shortest form (1.0 is 1), so that
/// equal values have equal texts. REQUIRES: finite numbers alone (has_only_json_values).
std::string canonical_json(const DocumentNode& node);
/// The same with keys in the order in which they are written: models answer in the order of a schema.
std::string json_as_written(const DocumentNode& node);
/// False if an infinite or undefined number, or a TOML date, stands anywhere in it.
bool has_only_json_values(const DocumentNode& node);

}  // namespace sluice
