#include "coordinator/suite/selection.hpp"

#include "common/defaults.hpp"
#include "common/documents/table_reader.hpp"
#include "common/hash.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <re2/re2.h>

namespace sluice {
namespace {

constexpr std::array<std::pair<std::string_view, FilterField>, 4> fields{{{"id", FilterField::id},
                                                                          {"name", FilterField::name},
                                                                          {"category", FilterField::category},
                                                                          {"tag", FilterField::tag}}};

tl::unexpected<Error> bad_filter(std::string_view text, const std::string& why) {
  return fail(Reason::usage_invalid, "--filter \"" + excerpt(text, defaults::quoted_bytes) + "\" " + why);
}

bool is_of_globs(char c) {
  return c == '*' || c == '?' || c == ',' || c == '\\';
}

/// `tls-*,jwt-?` as a regular expression for the whole text, which may also be all of it with its commas.
/// What stands behind a backslash is itself.
std::string pattern_of_globs(std::string_view globs) {
  std::string alternatives;
  std::string whole;
  for (std::size_t at = 0; at < globs.size(); ++at) {
    const bool is_escape = globs[at] == '\\' && at + 1 < globs.size() && is_of_globs(globs[at + 1]);
    if (is_escape) ++at;
    const char c = is_escape ? '\0' : globs[at];
    std::string piece = re2::RE2::QuoteMeta({globs.data() + at, 1});
    if (c == '*') piece = ".*";
    if (c == '?') piece = '.';
    alternatives += c == ',' ? "|" : piece;
    whole += piece;
  }
  if (alternatives != whole) alternatives += "|" + whole;
  return "(?s)^(?:" + alternatives + ")$";
}

bool fits_field(const CaseFilter& filter, const FilteredCase& one) {
  switch (filter.field()) {
    case FilterField::id:
      return filter.fits(one.id) ||
             (!one.arm.empty() && filter.fits(one.id.substr(0, one.id.size() - one.arm.size())));
    case FilterField::category:
      return filter.fits(one.category);
    case FilterField::name:
      return filter.fits(one.name);
    case FilterField::tag:
      break;
  }
  return std::ranges::any_of(one.tags, [&](const std::string& tag) { return filter.fits(tag); });
}

using Names = std::set<std::string, std::less<>>;

/// Which cases fit, and which tags there are.
class Filtering {
 public:
  explicit Filtering(const std::vector<CaseFilter>& filters)
      : filters_(filters), reads_(look_at_whole_cases(filters)) {}

  Result<bool> fits(const CaseList& cases, std::size_t index) {
    CaseRef whole;
    if (reads_) {
      auto read = cases.read(index);
      if (!read) return fail(std::move(read.error()));
      whole = std::move(*read);
      tags_.insert(whole->tags.begin(), whole->tags.end());
    }
    FilteredCase shown{cases.id(index), cases.category(index)};
    if (whole) {
      shown.name = whole->name;
      shown.tags = whole->tags;
    }
    return sluice::fits(filters_, shown);
  }

  /// For a suite in which nothing fits.
  Error nothing_fits(const Suite& suite) const {
    std::string given;
    bool asks_for_tags = false;
    for (const CaseFilter& filter : filters_) {
      given += (given.empty() ? "" : " ") + ("--filter \"" + filter.text() + "\"");
      asks_for_tags = asks_for_tags || filter.field() == FilterField::tag;
    }
    std::string message =
        "no test of the suite \"" + suite.name + "\" fits " + given + bracket_advice(filters_);
    if (asks_for_tags && tags_.empty()) message += "; its tests have no tags";
    if (asks_for_tags && !tags_.empty()) {
      std::vector<std::string> shown(tags_.begin(), tags_.end());
      const bool are_all = shown.size() <= defaults::most_listed_keys;
      if (!are_all) shown.resize(defaults::most_listed_keys);
      message += "; its tags are " + quoted_list(shown) + (are_all ? "" : " and others");
    }
    return {Reason::usage_invalid, std::move(message)};
  }

 private:
  const std::vector<CaseFilter>& filters_;
  bool reads_ = false;
  Names tags_;
};

Result<void> check_categories(const Suite& suite, const std::vector<std::string>& categories) {
  std::vector<std::string> known;
  for (auto& count : count_categories(suite)) known.push_back(std::move(count.category));
  for (const std::string& category : categories) {
    if (std::binary_search(known.begin(), known.end(), category)) continue;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    return fail(Reason::usage_invalid, "the suite \"" + suite.name + "\" has no category \"" + category +
                                           "\"; it has " + quoted_list(known) +
                                           did_you_mean(category, candidates));
  }
  return {};
}

/// Of each category its share, by a hash of seed and id: a case that is added or removed moves few others.
std::vector<bool> sample_of(const CaseList& cases, std::size_t total, std::uint64_t seed) {
  std::map<std::string_view, std::vector<std::size_t>> by_category;
  for (std::size_t i = 0; i < cases.size(); ++i) by_category[cases.category(i)].push_back(i);
  std::vector<std::size_t> sizes;
  for (const auto& [category, members] : by_category) sizes.push_back(members.size());
  const auto shares = apportion(sizes, total);
  std::vector<bool> is_taken(cases.size());
  std::size_t group = 0;
  for (auto& [category, members] : by_category) {
    std::vector<std::pair<Digest, std::size_t>> order;
    for (const std::size_t i : members)
      order.emplace_back(sha256(std::to_string(seed) + ":" + std::string(cases.id(i))), i);
    const auto share = static_cast<std::ptrdiff_t>(shares[group++]);
    std::ranges::partial_sort(order, order.begin() + share);
    for (std::ptrdiff_t n = 0; n < share; ++n) is_taken[order[static_cast<std::size_t>(n)].second] = true;
  }
  return is_taken;
}

}  // namespace

Result<CaseFilter> CaseFilter::parse(std::string_view text) {
  const std::size_t at = text.find_first_of("=~");
  const bool is_regex = at != std::string_view::npos && text[at] == '~';
  FilterField field = FilterField::id;
  bool excludes = false;
  std::string_view value = text;
  if (at != std::string_view::npos) {
    std::string_view name = text.substr(0, at);
    excludes = name.ends_with('!');
    if (excludes) name.remove_suffix(1);
    const auto known = std::ranges::find(fields, name, &std::pair<std::string_view, FilterField>::first);
    if (known == fields.end()) {
      std::vector<std::string_view> names;
      for (const auto& one : fields) names.push_back(one.first);
      return bad_filter(text, "is about \"" + excerpt(name, defaults::quoted_bytes) +
                                  "\"; a filter is about id, name, category or tag: tag=slow, id~^tls-" +
                                  did_you_mean(name, names));
    }
    field = known->second;
    value = text.substr(at + 1);
  }
  if (value.empty())
    return bad_filter(text, "says nothing to look for: write id=tls-*, tag=slow or id~^tls-");
  auto pattern = Pattern::compile(is_regex ? std::string(value) : pattern_of_globs(value));
  if (!pattern) return bad_filter(text, "is no regular expression: " + pattern.error().message);
  return CaseFilter(field, excludes, text, std::move(*pattern));
}

Result<std::vector<CaseFilter>> filters_of(const std::vector<std::string>& texts) {
  std::vector<CaseFilter> filters;
  for (const std::string& text : texts) {
    auto filter = CaseFilter::parse(text);
    if (!filter) return fail(std::move(filter.error()));
    filters.push_back(std::move(*filter));
  }
  return filters;
}

bool fits(std::span<const CaseFilter> filters, const FilteredCase& one) {
  std::array<std::optional<bool>, fields.size()> by_field{};
  for (const CaseFilter& filter : filters) {
    const bool fits = fits_field(filter, one);
    if (filter.excludes() && fits) return false;
    if (filter.excludes()) continue;
    auto& field = by_field[static_cast<std::size_t>(filter.field())];
    field = field.value_or(false) || fits;
  }
  return std::ranges::all_of(by_field, [](const auto& of_field) { return of_field.value_or(true); });
}

bool look_at_whole_cases(std::span<const CaseFilter> filters) {
  return std::ranges::any_of(filters, [](const CaseFilter& filter) {
    return filter.field() == FilterField::name || filter.field() == FilterField::tag;
  });
}

std::string bracket_advice(std::span<const CaseFilter> filters) {
  // Of several it may be another one that nothing fits.
  if (filters.size() != 1) return "";
  const std::string& text = filters.front().text();
  const std::size_t at = text.find_first_of("=~[");
  if (at == std::string::npos || text[at] == '~' || text.find('[', at) == std::string::npos) return "";
  return "; a glob has * and ? alone: for brackets write a regular expression, as in 'id~^a[0-9]'";
}

Result<Suite> select(Suite suite, const Selection& selection) {
  if (auto known = check_categories(suite, selection.categories); !known)
    return fail(std::move(known.error()));
  if (!selection.categories.empty()) {
    suite.cases.keep_if([&](std::size_t index) {
      return std::ranges::find(selection.categories, suite.cases.category(index)) !=
             selection.categories.end();
    });
  }
  if (!selection.filters.empty()) {
    Filtering filtering(selection.filters);
    std::optional<Error> problem;
    suite.cases.keep_if([&](std::size_t index) {
      if (problem) return false;
      auto fits = filtering.fits(suite.cases, index);
      if (!fits) problem = std::move(fits.error());
      return fits && *fits;
    });
    if (problem) return fail(std::move(*problem));
    if (suite.cases.empty()) return fail(filtering.nothing_fits(suite));
  }
  if (!selection.max_cases || *selection.max_cases >= suite.cases.size()) return suite;
  if (selection.sample_seed) {
    const auto is_taken = sample_of(suite.cases, *selection.max_cases, *selection.sample_seed);
    suite.cases.keep_if([&](std::size_t index) { return is_taken[index]; });
  } else {
    suite.cases.truncate(*selection.max_cases);
  }
  return suite;
}

std::vector<std::size_t> apportion(const std::vector<std::size_t>& sizes, std::size_t total) {
  const std::size_t all = std::reduce(sizes.begin(), sizes.end());
  if (total >= all) return sizes;
  std::vector<std::size_t> shares;
  std::vector<std::pair<std::size_t, std::size_t>> remainders;  // Remainder, group.
  std::size_t left = total;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    const std::size_t product = sizes[group] * total;
    shares.push_back(product / all);
    remainders.emplace_back(product % all, group);
    left -= shares.back();
  }
  std::ranges::stable_sort(remainders, std::ranges::greater(), &std::pair<std::size_t, std::size_t>::first);
  for (std::size_t n = 0; n < left; ++n) ++shares[remainders[n].second];
  return shares;
}

}  // namespace sluice
