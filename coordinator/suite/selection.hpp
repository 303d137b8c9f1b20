#pragma once

#include "common/checks/pattern.hpp"
#include "common/error.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// What a filter looks at.
enum class FilterField : std::uint8_t { id, name, category, tag };

/// One `--filter` (docs/suites.md): `[FIELD][!]=GLOB,GLOB` or `[FIELD][!]~REGEX`; a bare GLOB is about ids.
/// A value that has the commas itself fits, too.
class CaseFilter {
 public:
  /// usage_invalid names what is wrong in the text.
  static Result<CaseFilter> parse(std::string_view text);

  FilterField field() const { return field_; }
  bool excludes() const { return excludes_; }
  const std::string& text() const { return text_; }
  bool fits(std::string_view value) const { return pattern_.find(value).has_value(); }

 private:
  CaseFilter(FilterField field, bool excludes, std::string_view text, Pattern pattern)
      : field_(field), excludes_(excludes), text_(text), pattern_(std::move(pattern)) {}

  FilterField field_;
  bool excludes_;
  std::string text_;
  Pattern pattern_;
};

/// Each text as a filter. Fails as CaseFilter::parse does.
Result<std::vector<CaseFilter>> filters_of(const std::vector<std::string>& texts);

/// What filters look at. `arm` is empty, or the part of the id from `@` on: a filter on ids fits with it and
/// without.
struct FilteredCase {
  std::string_view id;
  std::string_view category;
  std::string_view arm{};
  std::string_view name{};
  std::span<const std::string> tags{};
};

/// Whether the case fits a filter on each field that has one, and none that excludes.
bool fits(std::span<const CaseFilter> filters, const FilteredCase& one);
/// Whether a filter looks at names or tags, which only the suite has.
bool look_at_whole_cases(std::span<const CaseFilter> filters);

/// What to write instead of brackets in a glob, which a shell knows; empty if there are none. For filters
/// that nothing fits.
std::string bracket_advice(std::span<const CaseFilter> filters);

/// Which of a suite's cases run: those of the categories (all if there are none) that fit a filter on each
/// field that has one and none that excludes, and of these at most `max_cases`.
struct Selection {
  std::vector<std::string> categories{};
  std::vector<CaseFilter> filters{};
  std::optional<std::size_t> max_cases{};
  /// With `max_cases`: a sample by category. Else the first by id.
  std::optional<std::uint64_t> sample_seed{};

  bool is_part() const { return !categories.empty() || !filters.empty() || max_cases.has_value(); }
};

/// The selected part of the suite. usage_invalid names a category that the suite does not have, and filters
/// that nothing fits; file_unreadable as CaseList::read.
Result<Suite> select(Suite suite, const Selection& selection);

/// Shares `total` out over groups of these sizes in proportion, by the largest remainder; of equal remainders
/// the first gets it. No group gets more than its size.
std::vector<std::size_t> apportion(const std::vector<std::size_t>& sizes, std::size_t total);

}  // namespace sluice
