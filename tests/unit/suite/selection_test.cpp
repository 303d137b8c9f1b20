// Which cases of a suite run: categories, filters, the first so many or a sample.
#include "coordinator/suite/selection.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::selection_test {

Case one(const std::string& id, const std::string& category, std::vector<std::string> tags = {}) {
  Case made;
  made.id = id;
  made.name = "about " + id;
  made.category = category;
  made.tags = std::move(tags);
  return made;
}

Suite sample() {
  Suite suite;
  suite.name = "security";
  suite.cases = {one("jwt-1", "jwt", {"slow"}), one("jwt-2", "jwt"), one("tls-1", "tls", {"slow", "new"}),
                 one("tls-2", "tls", {"new"}), one("xss=1", "web")};
  return suite;
}

std::vector<std::string> ids_of(const CaseList& cases) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < cases.size(); ++i) ids.emplace_back(cases.id(i));
  return ids;
}

std::vector<std::string> filtered(const std::vector<std::string>& filters) {
  Selection selection;
  auto parsed = filters_of(filters);
  if (!parsed) return {parsed.error().message};
  selection.filters = std::move(*parsed);
  const auto part = select(sample(), selection);
  return part ? ids_of(part->cases) : std::vector{part.error().message};
}

using Ids = std::vector<std::string>;

TEST(CaseFilter, GlobsAreOfIdsUnlessAFieldIsNamed) {
  EXPECT_EQ(filtered({"tls-*"}), (Ids{"tls-1", "tls-2"}));
  EXPECT_EQ(filtered({"?????"}).size(), 5u);
  EXPECT_EQ(filtered({"tls"}), Ids{"no test of the suite \"security\" fits --filter \"tls\""});
  const std::string advice =
      "; a glob has * and ? alone: for brackets write a regular expression, as in 'id~^a[0-9]'";
  for (const std::string glob : {"jwt-[2-9]", "tag=[a-m]*"}) {
    const std::string message = filtered({glob}).front();
    EXPECT_NE(message.find("fits --filter \"" + glob + "\"" + advice), std::string::npos) << message;
  }
  EXPECT_EQ(filtered({"id~^tls-[x-z]$"}),
            Ids{"no test of the suite \"security\" fits --filter \"id~^tls-[x-z]$\""});
  EXPECT_EQ(filtered({"jwt-1,tls-2"}), (Ids{"jwt-1", "tls-2"}));
  EXPECT_EQ(filtered({"id=xss=1"}), Ids{"xss=1"});
  EXPECT_EQ(filtered({"category=t*"}), (Ids{"tls-1", "tls-2"}));
  EXPECT_EQ(filtered({"name=about xss*"}), Ids{"xss=1"});
  EXPECT_EQ(filtered({"tag=new"}), (Ids{"tls-1", "tls-2"}));
}

TEST(CaseFilter, WhatAGlobDoesNotMeanIsMeantLiterally) {
  const auto filter = CaseFilter::parse("a.b(c)+");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->fits("a.b(c)+"));
  EXPECT_FALSE(filter->fits("axb(c)+"));
  EXPECT_FALSE(CaseFilter::parse("a")->fits("a\nb"));
  EXPECT_TRUE(CaseFilter::parse("a*")->fits("a\nb"));
}

// A case "Paris, France" could not be named.
TEST(CaseFilter, AValueMayHaveTheCommasOfAFilter) {
  const auto fit = [](const std::string& filter) {
    std::string fitting;
    for (const char* id : {"a", "b", "a,b", "axb", "a*b", "a\\b"}) {
      if (CaseFilter::parse(filter)->fits(id)) fitting += std::string(fitting.empty() ? "" : " ") + id;
    }
    return fitting;
  };
  EXPECT_EQ(fit("a,b"), "a b a,b");
  EXPECT_EQ(fit("a\\,b"), "a,b");
  EXPECT_EQ(fit("a\\,*,b"), "b a,b");
  EXPECT_EQ(fit("a?b"), "a,b axb a*b a\\b");
  EXPECT_EQ(fit("a\\*b"), "a*b");
  EXPECT_EQ(fit("a\\b"), "a\\b") << "before any other character it is itself";
  EXPECT_EQ(fit("a\\\\b"), "a\\b");
  EXPECT_EQ(fit("a\\"), "");
}

TEST(CaseFilter, RegularExpressionsFindAPlaceAnywhere) {
  EXPECT_EQ(filtered({"id~^(jwt|tls)-1$"}), (Ids{"jwt-1", "tls-1"}));
  EXPECT_EQ(filtered({"name~xss"}), Ids{"xss=1"});
  EXPECT_EQ(filtered({"id~1,2"}).size(), 1u) << "a comma is part of it";
}

TEST(CaseFilter, FiltersOfOneFieldAddUpAndThoseOfOthersNarrow) {
  EXPECT_EQ(filtered({"jwt-1", "tls-*"}), (Ids{"jwt-1", "tls-1", "tls-2"}));
  EXPECT_EQ(filtered({"tls-*", "tag=slow"}), Ids{"tls-1"});
  EXPECT_EQ(filtered({"tag=new", "id!=tls-2"}), Ids{"tls-1"});
  EXPECT_EQ(filtered({"tag!=slow"}), (Ids{"jwt-2", "tls-2", "xss=1"}));
  EXPECT_EQ(filtered({"id!~1$"}), (Ids{"jwt-2", "tls-2"}));
}

TEST(CaseFilter, AnIdUnderAnArmFitsWithItAndWithout) {
  const auto fit = [](const std::vector<std::string>& filters, const FilteredCase& one) {
    return fits(*filters_of(filters), one);
  };
  const FilteredCase under{"tls-1@mini", "tls", "@mini"};
  EXPECT_TRUE(fit({"tls-1"}, under));
  EXPECT_TRUE(fit({"*@mini"}, under));
  EXPECT_FALSE(fit({"*@haiku"}, under));
  EXPECT_FALSE(fit({"id!=tls-1"}, under));
  EXPECT_FALSE(fit({"id!=*@mini"}, under));
  EXPECT_TRUE(fit({"id~^tls-1$", "category=tls"}, under));
  EXPECT_FALSE(fit({"tls-1"}, {"tls-1@mini", "tls"})) << "without arms it is part of the id";
  EXPECT_TRUE(look_at_whole_cases(*filters_of({"tls-*", "tag=new"})));
  EXPECT_FALSE(look_at_whole_cases(*filters_of({"tls-*", "category=tls"})));
}

TEST(CaseFilter, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(filtered({"catgory=tls"}),
            Ids{"--filter \"catgory=tls\" is about \"catgory\"; a filter is about "
                "id, name, category or tag: tag=slow, id~^tls-; did you mean \"category\"?"});
  EXPECT_EQ(filtered({"tag="}), Ids{"--filter \"tag=\" says nothing to look for: write id=tls-*, tag=slow or "
                                    "id~^tls-"});
  EXPECT_TRUE(filtered({"id~("})[0].starts_with("--filter \"id~(\" is no regular expression: "));
  EXPECT_EQ(filtered({"tag=old"}),
            Ids{"no test of the suite \"security\" fits --filter \"tag=old\"; its tags "
                "are \"new\" and \"slow\""});
}

TEST(Apportion, IsByTheLargestRemainder) {
  EXPECT_EQ(apportion({50, 30, 20}, 10), (std::vector<std::size_t>{5, 3, 2}));
  // Quotas 3.33, 3.33, 3.33: the first gets the one that is left.
  EXPECT_EQ(apportion({5, 5, 5}, 10), (std::vector<std::size_t>{4, 3, 3}));
  // Quotas 2.31, 0.69, 0: by remainder the second.
  EXPECT_EQ(apportion({10, 3, 0}, 3), (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(apportion({2, 1}, 7), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(apportion({}, 3), (std::vector<std::size_t>{}));
}

TEST(Apportion, GivesAllAndNoGroupMoreThanItHas) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::size_t> sizes(random() % 9 + 1);
    for (auto& size : sizes) size = random() % 40;
    const std::size_t all = std::reduce(sizes.begin(), sizes.end());
    const std::size_t total = random() % (all + 5);
    const auto shares = apportion(sizes, total);
    EXPECT_EQ(std::reduce(shares.begin(), shares.end()), std::min(total, all)) << "round " << round;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double quota =
          all == 0 ? 0.0 : static_cast<double>(sizes[i] * std::min(total, all)) / static_cast<double>(all);
      EXPECT_LE(shares[i], sizes[i]);
      EXPECT_LT(std::abs(static_cast<double>(shares[i]) - quota), 1.0) << "round " << round;
    }
  }
}

Suite large(std::size_t of_each) {
  Suite suite;
  suite.name = "large";
  for (const auto& [category, times] : {std::pair{"a", 6}, {"b", 3}, {"c", 1}}) {
    for (std::size_t i = 0; i < of_each * static_cast<std::size_t>(times); ++i)
      suite.cases.push_back(one(std::string(category) + std::to_string(1000 + i), category));
  }
  return suite;
}

TEST(Sample, HasEachCategorysShareAndIsTheSameForTheSameSeed) {
  const Selection selection{.max_cases = 50, .sample_seed = 1};
  const auto part = select(large(100), selection);
  ASSERT_TRUE(part);
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < part->cases.size(); ++i) ++counts[std::string(part->cases.category(i))];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"a", 30}, {"b", 15}, {"c", 5}}));
  EXPECT_EQ(ids_of(select(large(100), selection)->cases), ids_of(part->cases));
  EXPECT_NE(ids_of(select(large(100), {.max_cases = 50, .sample_seed = 2})->cases), ids_of(part->cases));
  EXPECT_TRUE(std::ranges::is_sorted(ids_of(part->cases)));
}

TEST(Sample, ANewCaseMovesFewOthers) {
  const Selection selection{.max_cases = 50, .sample_seed = 1};
  auto before = ids_of(select(large(100), selection)->cases);
  Suite more = large(100);
  more.cases.push_back(one("a0000", "a"));
  more.cases.sort_by_id();
  const auto after = ids_of(select(std::move(more), selection)->cases);
  std::vector<std::string> both;
  std::ranges::set_intersection(before, after, std::back_inserter(both));
  EXPECT_GE(both.size(), 48u);
}

TEST(Sample, OfMoreThanThereIsIsAll) {
  EXPECT_EQ(select(sample(), {.max_cases = 9, .sample_seed = 1})->cases.size(), 5u);
  EXPECT_EQ(ids_of(select(sample(), {.max_cases = 2})->cases), (Ids{"jwt-1", "jwt-2"}));
}

}  // namespace sluice::selection_test
