#pragma once

#include "coordinator/suite/case_list.hpp"
#include "coordinator/suite/documents/document_context.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sluice {

/// The key under `settings.min_pass_rate` that is no category: what the setting is as a number.
inline constexpr std::string_view general_pass_rate_key = "default";

/// A least pass rate of a category, and where it stands.
struct CategoryPassRate {
  double least = 0.0;
  std::uint32_t line = 0;
};
using CategoryPassRates = std::map<std::string, CategoryPassRate, std::less<>>;

/// `settings.min_pass_rate` as a mapping, but for its `default`. What is no number from 0 to 1 becomes a
/// finding. REQUIRES: `rates` is a table.
CategoryPassRates read_category_pass_rates(const DocumentNode& rates, const DocumentContext& context);

/// A finding for each category that none of the cases has.
void check_rated_categories(const CategoryPassRates& rates, const CaseList& cases,
                            const DocumentContext& context);

}  // namespace sluice
