#pragma once

#include "common/documents/table_reader.hpp"
#include "common/settings/load_settings.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/suite_builder.hpp"
#include "coordinator/suite/test_files/pass_rate_reader.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a suite in YAML says for all its tests as "model" and "settings".
struct ReadSettings {
  std::vector<SuiteSetting> values;  ///< As written; whether they may be so is not checked yet.
  Thresholding thresholding{};
  SuiteDemands demands{};  ///< But for the examples.
  CategoryPassRates pass_rates{};
};

/// Reads both, if they are there. `suite`: the whole document.
ReadSettings read_suite_settings(TableReader& suite, const DocumentContext& context);

/// Where a setting belongs that a suite has at its top level, or under `settings`: there, if it can, or into
/// the settings file. Empty for what is no setting.
std::string place_of_setting(std::string_view key, bool is_at_top);

}  // namespace sluice
