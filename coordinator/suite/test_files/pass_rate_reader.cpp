#include "coordinator/suite/test_files/pass_rate_reader.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

CategoryPassRates read_category_pass_rates(const DocumentNode& rates, const DocumentContext& context) {
  TableReader reader = context.reader(rates, "settings.min_pass_rate");
  CategoryPassRates read;
  for (const DocumentEntry& entry : std::get<DocumentNode::Table>(rates.value)) {
    if (entry.key == general_pass_rate_key) continue;
    if (const auto least = reader.number_in(entry.key, 0.0, 1.0)) read[entry.key] = {*least, entry.line};
  }
  return read;
}

void check_rated_categories(const CategoryPassRates& rates, const CaseList& cases,
                            const DocumentContext& context) {
  if (rates.empty()) return;
  std::set<std::string, std::less<>> known;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string_view category = cases.category(i);
    if (!known.contains(category)) known.emplace(category);
  }
  for (const auto& [category, rate] : rates) {
    if (known.contains(category)) continue;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    context.add(rate.line,
                "\"" + excerpt(category, defaults::quoted_bytes) +
                    "\" in settings.min_pass_rate is no category of the suite's tests; they have " +
                    quoted_list({known.begin(), known.end()}) + ", and \"" +
                    std::string(general_pass_rate_key) + "\" stands for all without a rate of their own" +
                    did_you_mean(category, candidates));
  }
}

}  // namespace sluice
