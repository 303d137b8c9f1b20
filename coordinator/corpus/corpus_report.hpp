#pragma once

#include "coordinator/corpus/corpus_folder.hpp"
#include "coordinator/corpus/findings.hpp"
#include "coordinator/corpus/scan.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// What a generation made of the answers.
struct GeneratedCorpus {
  std::string folder;
  std::uint64_t answers = 0;
  std::vector<std::string> errors{};  ///< `PATH: why` of the first files without an answer.
  std::uint64_t error_count = 0;      ///< In a dry run they are what the caches lack.
  ClaimCounts claims;
  double min_confidence = 0.0;
  std::uint64_t rejected = 0;  ///< Findings that a review has rejected before.
  struct Category {
    std::string name;
    std::uint64_t findings = 0;
    std::uint64_t sampled = 0;
  };
  std::vector<Category> categories;  ///< By name; without rejected findings.
  std::uint64_t seed = 0;
  WrittenFixtures written;
};

/// Which files are asked about, and why the others are not. In lines of at most `columns`, as the next.
std::string scan_text(const Scan& scan, const std::string& folder, const FileList& list, std::size_t columns);

/// Why there is nothing to scan, and what to do. REQUIRES: the scan has no files.
std::string nothing_to_ask_about(const Scan& scan, const std::string& folder);

/// What a dry run says: the sample by category that the answers of the caches give.
std::string sample_text(const GeneratedCorpus& corpus, std::size_t columns);

std::string corpus_text(const GeneratedCorpus& corpus, std::size_t columns);

}  // namespace sluice
