#include "worker/unit_keys.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::unit_keys_test {

ProviderSettings provider(const std::string& name) {
  ProviderSettings settings;
  settings.name = name;
  settings.cache_identity = "https://" + name;
  return settings;
}

WorkUnit unit(const std::string& of, const std::string& user, const std::string& system) {
  WorkUnit work;
  work.request.provider = of;
  work.request.model = "m";
  work.request.system = share(system);
  work.request.user = user;
  work.key = cache_key(provider(of), work.request, work.repeat);
  return work;
}

TEST(UnitKeys, TakeWhatHasTheKeyOfItsRequest) {
  UnitKeys keys({provider("a"), provider("b")});
  for (const char* of : {"a", "b", "a"}) {
    for (const char* system : {"one", "two", "one"}) {
      for (const char* user : {"x", "y"})
        EXPECT_TRUE(keys.fits(unit(of, user, system))) << of << system << user;
    }
  }
}

// A fake coordinator had workers store forged answers under the keys of real questions.
TEST(UnitKeys, RefuseTheKeyOfAnotherQuestion) {
  UnitKeys keys({provider("a"), provider("b")});
  const WorkUnit real = unit("a", "what is asked", "system");
  for (WorkUnit forged : {unit("a", "another text", "system"), unit("a", "what is asked", "other system"),
                          unit("b", "what is asked", "system")}) {
    forged.key = real.key;
    EXPECT_FALSE(keys.fits(forged));
    EXPECT_TRUE(keys.fits(real));
  }
  WorkUnit seeded = real;
  seeded.request.seed = 7;
  EXPECT_FALSE(keys.fits(seeded));
  WorkUnit repeated = real;
  repeated.repeat = 1;
  EXPECT_FALSE(keys.fits(repeated));
  WorkUnit elsewhere = real;
  elsewhere.request.provider = "nobody";
  EXPECT_FALSE(keys.fits(elsewhere));
}

TEST(UnitKeys, ARecordedAnswersKeyIsNotLookedAt) {
  UnitKeys keys;
  WorkUnit recorded;
  recorded.recorded.emplace();
  EXPECT_TRUE(keys.fits(recorded));
}

}  // namespace sluice::unit_keys_test
