#pragma once

#include "common/model/trial.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// An arm as it was when it answered.
struct GradedModel {
  std::string arm;
  std::string provider;  ///< Its name in the settings.
  std::string model;
  friend auto operator<=>(const GradedModel&, const GradedModel&) = default;
};

/// What grades have in common that may be counted together.
struct QualityGroup {
  std::string suite;
  std::string judge;      ///< `exact`, `embedding` or `llm`.
  std::string grader_id;  ///< Who graded: judge, model and rubric.
  GradedModel baseline;
  GradedModel candidate;
  friend auto operator<=>(const QualityGroup&, const QualityGroup&) = default;
};

/// What one answer took, whoever paid for it.
struct AnswerPrice {
  std::optional<double> cost;               ///< US dollars; nothing: the price is not known.
  std::optional<std::uint32_t> latency_ms;  ///< Nothing: it came out of a cache.
};

/// One grade in the quality table.
struct QualityRecord {
  TrialId trial = 0;
  std::string test;  ///< Without an arm's name.
  std::string category;
  std::uint32_t repeat = 0;
  double quality_score = 0.0;         ///< 0..1
  std::string notes;                  ///< The judge's.
  std::optional<bool> position_flip;  ///< Nothing: it was not judged in both orders.
  AnswerPrice baseline;
  AnswerPrice candidate;
};

/// Sums over answers, for means.
struct AnswerPrices {
  double cost = 0.0;
  std::uint64_t with_cost = 0;
  double latency_ms = 0.0;
  std::uint64_t with_latency = 0;
};

/// The grades of one test within a group, over all runs that were asked for.
struct QualityOfTest {
  QualityGroup group;
  std::string category;
  std::string test;
  std::uint64_t grades = 0;
  double quality_sum = 0.0;
  std::uint64_t compared_twice = 0;
  std::uint64_t position_flips = 0;
  AnswerPrices baseline;
  AnswerPrices candidate;
  std::int64_t last_graded_ms = 0;  ///< Unix time at which the latest of the runs began.
};

/// Which grades are counted: those that fit all of what is given.
struct QualityFilter {
  std::optional<std::string> run_id;  ///< Whole.
  std::optional<std::string> suite;   ///< Its name.
  std::optional<std::string> arm;     ///< Of either side.
  std::optional<std::string> category;
  std::optional<std::string> judge;
};

}  // namespace sluice
