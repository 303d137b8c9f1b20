#pragma once

#include "common/hash.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/thresholding.hpp"

#include <cstdint>
#include <string>

namespace sluice {

/// A case as canonical JSON (sorted keys, shortest numbers): all of it that changes results. Not in it are
/// name, dates, source and rationales, and the order of texts, claims and expectations.
std::string canonical_case(const Case& one);
/// That part of it alone which judges the case's answers, whatever was asked.
std::string canonical_judging(const Case& one);
/// Appends a prompt as that.
void append_prompt(std::string& out, const RenderedPrompt& one);
/// Thresholding as canonical JSON: the keys that were given.
std::string canonical_thresholding(const Thresholding& thresholding);
/// The first 64 bits of the SHA-256 of an expectation's canonical JSON; never 0.
std::uint64_t check_digest(const Expectation& expectation);
/// The same of what decides on a score: not by what it passes, nor what it is called, nor the rubric and the
/// number of votes, which stand in a baseline by themselves. 0 for a claims metric, whose claims are the
/// case's.
std::uint64_t score_digest(const Expectation& expectation);
/// The same of what a judge holds an answer to, whatever the test's reference is: the criteria, and what a
/// vote must reach. REQUIRES: a judge metric.
std::uint64_t criteria_digest(const Expectation& expectation);

/// What a suite's fingerprints are made of.
struct CaseFingerprints {
  Digest whole{};    ///< SHA-256 of canonical_case.
  Digest judging{};  ///< Of canonical_judging.
};
CaseFingerprints case_fingerprints(const Case& one);

}  // namespace sluice
