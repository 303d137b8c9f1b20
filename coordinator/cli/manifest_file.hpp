#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/case.hpp"

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// The manifest.toml of a fixtures' folder, for the commands that show and change its [baseline].
struct ManifestFile {
  std::string path;
  std::optional<std::string> text;  ///< Empty: there is no such file yet.
  Manifest manifest;
};

/// Everything that is wrong with the folder or the file, or the file.
tl::expected<ManifestFile, std::vector<Finding>> load_manifest_file(const std::string& fixtures_folder);

/// `precision=0.85, recall=0.78, f1=0.81 (2026-02-05)`; `none` without a score.
std::string baseline_in_words(const std::optional<AggregateBaseline>& baseline);

/// With two to four digits: `0.85`, `0.8539`; `undefined` for none.
std::string precise_score(const std::optional<double>& score);
/// The same with its sign: `+0.02`, `-0.0211`, `+0.00`.
std::string signed_difference(double difference);

}  // namespace sluice
