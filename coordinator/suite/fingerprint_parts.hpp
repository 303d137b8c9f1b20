#pragma once

#include <functional>
#include <map>
#include <string>

namespace sluice {

/// The parts of a `config_fingerprint`, each with 16 hex digits, by name: `arm NAME`, `checks`, `claims`,
/// `embeddings`, `judge`, `metrics`, `model`, `prompt ID` and `requests` (docs/baselines.md). They decide
/// nothing: where two fingerprints differ, they say what of. Empty: not known.
using FingerprintParts = std::map<std::string, std::string, std::less<>>;

}  // namespace sluice
