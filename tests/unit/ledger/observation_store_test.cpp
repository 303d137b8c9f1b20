#include "coordinator/ledger/observation_store.hpp"

#include "common/files.hpp"
#include "coordinator/facts/observation_ids.hpp"
#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sluice::observation_store_test {

std::string second(int number) {
  char text[32];
  std::snprintf(text, sizeof text, "2026-03-%02dT%02d:%02d:%02d.000Z", 1 + number / 86400, number / 3600 % 24,
                number / 60 % 60, number % 60);
  return text;
}

Observation observation(int number, const std::string& run = "run-1") {
  Observation one;
  one.id = ObservationIds(run).of(static_cast<TrialId>(number));
  one.timestamp = second(number);
  one.run_id = run;
  one.trial = static_cast<std::uint64_t>(number);
  one.case_id = "case-" + std::to_string(number % 10);
  one.model = number % 2 == 0 ? "even" : "odd";
  one.status = number % 5 == 0 ? "fail" : "pass";
  one.prompt_hash = "sha256:1";
  one.system_hash = "sha256:2";
  one.system_prompt = share("You read code.");
  one.raw_response = "{\"claims\": []}";
  return one;
}

std::vector<Observation> observations(int count, const std::string& run = "run-1") {
  std::vector<Observation> all;
  for (int i = 0; i < count; ++i) all.push_back(observation(i, run));
  return all;
}

class ObservationStoreTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder.path() / "deep" / "observations.db"; }
  ObservationStore opened() {
    auto store = ObservationStore::open(file());
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  static std::vector<std::string> names(const ObservationStore& store, const ObservationFilter& filter,
                                        std::optional<std::uint64_t> limit = std::nullopt) {
    std::vector<std::string> found;
    EXPECT_TRUE(store.visit(
        filter, ObservationStore::Order::newest_first, limit,
        [&](const Observation& one) { found.push_back(one.run_id + "-" + std::to_string(one.trial)); }));
    return found;
  }

  support::TemporaryFolder folder;
};

TEST_F(ObservationStoreTest, WhatIsInsertedIsReadBackWhole) {
  auto store = opened();
  Observation one = observation(3);
  one.parsed_claims.text = R"([{"subject":"a"}])";
  one.parse_error = "no \"claims\" in it";
  one.parse_success = false;
  one.cache_hit = true;
  one.latency_ms = 40;
  one.cost = 0.25;
  one.reason_code = "unparsable_answer";
  one.prompt = "Grüße,\n'quoted'";
  ASSERT_TRUE(store.insert(std::vector{one}));
  std::vector<Observation> read;
  ASSERT_TRUE(store.visit({}, ObservationStore::Order::oldest_first, std::nullopt,
                          [&](const Observation& found) { read.push_back(found); }));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(*read[0].system_prompt, *one.system_prompt);
  read[0].system_prompt = one.system_prompt;
  EXPECT_EQ(read[0], one);
}

TEST_F(ObservationStoreTest, TheLastOneOfATrialTakesThePlaceOfTheFirst) {
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(11)));
  auto again = observations(20);
  for (Observation& one : again) one.raw_response = "another answer";
  ASSERT_TRUE(store.insert(again));
  std::string answers;
  ASSERT_TRUE(store.visit(
      {}, ObservationStore::Order::oldest_first, std::nullopt,
      [&](const Observation& one) { answers += one.raw_response == "another answer" ? "n" : "o"; }));
  EXPECT_EQ(answers, std::string(20, 'n'));
}

TEST_F(ObservationStoreTest, AnIndexOfEarlierFilesIsDropped) {
  ASSERT_TRUE(opened().insert(observations(3)));
  SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
  db.exec("CREATE INDEX idx_obs_run ON observations(run_id, trial)");
  ASSERT_TRUE(opened().set_statuses("run-1", std::vector<TrialStatus>{{1, "warn"}}));
  EXPECT_EQ(db.execAndGet("SELECT group_concat(name) FROM sqlite_master WHERE type = 'index' AND sql NOTNULL")
                .getString(),
            "idx_obs_timestamp,idx_obs_prompt_hash");
}

// The checksum is made where the values are bound, and read by SQL.
TEST_F(ObservationStoreTest, ChecksumsFitWhateverAColumnHolds) {
  auto store = opened();
  std::vector<Observation> odd = observations(3);
  odd[0].cost = std::numeric_limits<double>::quiet_NaN();  // A null to SQLite.
  odd[0].raw_response = std::string("a\0b", 3);
  odd[1].cost = -0.0;
  odd[1].content_length = std::numeric_limits<std::uint64_t>::max();
  odd[1].error = "";
  odd[2].cost = 3.0;  // Kept as a whole number.
  odd[2].raw_response = std::string(100'000, 'x');
  ASSERT_TRUE(store.insert(odd));
  EXPECT_EQ(names(store, {}).size(), 3u) << "none is called damaged";
}

TEST_F(ObservationStoreTest, WhatIsPrunedIsNotLeftInTheFile) {
  {
    auto store = opened();
    std::vector<Observation> all = observations(200);
    for (Observation& one : all) one.prompt = "canary-" + std::to_string(one.trial) + std::string(3000, 'y');
    ASSERT_TRUE(store.insert(all));
    const std::vector<TrialStatus> changed{{3, "error"}, {4, "warn"}};
    ASSERT_TRUE(store.set_statuses("run-1", changed));
    ASSERT_EQ(store.prune({second(100'000), 10}, false), 190u);
  }
  const auto left = read_file(file(), 1u << 30);
  ASSERT_TRUE(left);
  EXPECT_NE(left->find("canary-199y"), std::string::npos);
  for (int i = 0; i < 190; ++i)
    EXPECT_EQ(left->find("canary-" + std::to_string(i) + "y"), std::string::npos) << i;
}

TEST_F(ObservationStoreTest, TheColumnsAndIndexesThatOthersKnowAreThere) {
  opened();
  SQLite::Database db(file().string());
  SQLite::Statement columns(
      db, "SELECT name, type, \"notnull\", pk FROM pragma_table_info('observations') LIMIT 18");
  std::string found;
  while (columns.executeStep()) {
    found += columns.getColumn(0).getString() + " " + columns.getColumn(1).getString();
    if (columns.getColumn(3).getInt() != 0) found += " PRIMARY KEY";
    if (columns.getColumn(2).getInt() != 0) found += " NOT NULL";
    found += "\n";
  }
  EXPECT_EQ(found,
            "id TEXT PRIMARY KEY\ntimestamp TEXT NOT NULL\nprompt_version TEXT NOT NULL\n"
            "prompt_hash TEXT NOT NULL\nmodel TEXT NOT NULL\ninput_hash TEXT NOT NULL\n"
            "file_path TEXT NOT NULL\nlanguage TEXT NOT NULL\ncontent_length INTEGER NOT NULL\n"
            "raw_response TEXT NOT NULL\nparsed_claims TEXT NOT NULL\nfinal_claims TEXT NOT NULL\n"
            "input_tokens INTEGER NOT NULL\noutput_tokens INTEGER NOT NULL\n"
            "parse_success INTEGER NOT NULL\nparse_error TEXT\ncache_hit INTEGER NOT NULL\n"
            "latency_ms INTEGER NOT NULL\n");
  const auto sql_of = [&](const std::string& index) {
    SQLite::Statement query(db, "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?");
    query.bind(1, index);
    return query.executeStep() ? query.getColumn(0).getString() : std::string();
  };
  EXPECT_EQ(sql_of("idx_obs_timestamp"), "CREATE INDEX idx_obs_timestamp ON observations(timestamp)");
  EXPECT_EQ(sql_of("idx_obs_prompt_hash"), "CREATE INDEX idx_obs_prompt_hash ON observations(prompt_hash)");
}

TEST_F(ObservationStoreTest, FiltersHoldTogether) {
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(10)));
  ASSERT_TRUE(store.insert(observations(4, "other")));
  EXPECT_EQ(names(store, {.run = "oth"}),
            (std::vector<std::string>{"other-3", "other-2", "other-1", "other-0"}));
  EXPECT_EQ(names(store, {.run = "run-1", .status = "fail"}),
            (std::vector<std::string>{"run-1-5", "run-1-0"}));
  EXPECT_EQ(names(store, {.case_id = "case-3"}), (std::vector<std::string>{"other-3", "run-1-3"}));
  EXPECT_EQ(names(store, {.model = "odd", .since = second(6), .before = second(9)}),
            std::vector<std::string>{"run-1-7"});
  EXPECT_EQ(names(store, {}, 2).size(), 2u);
  EXPECT_EQ(*store.count({.run = "run-1"}), 10u);
}

TEST_F(ObservationStoreTest, ItsRunsAreFoundByTheFirstDigits) {
  auto store = opened();
  EXPECT_EQ(*store.runs_beginning_with("ru"), std::vector<std::string>{});
  for (const char* run : {"run-12", "run-1", "other"}) ASSERT_TRUE(store.insert(observations(2, run)));
  EXPECT_EQ(*store.runs_beginning_with("oth"), std::vector<std::string>{"other"});
  EXPECT_EQ(*store.runs_beginning_with("run-1"), (std::vector<std::string>{"run-1", "run-12"}));
  EXPECT_EQ(*store.runs_beginning_with("%"), std::vector<std::string>{});
}

TEST_F(ObservationStoreTest, ATestStandsForItselfUnderEveryArm) {
  auto store = opened();
  auto all = observations(3);
  all[0].case_id = "tls@mini";
  all[1].case_id = "tls@large";
  all[2].case_id = "tls-2@mini";
  ASSERT_TRUE(store.insert(all));
  EXPECT_EQ(names(store, {.case_id = "tls"}), (std::vector<std::string>{"run-1-1", "run-1-0"}));
  EXPECT_EQ(names(store, {.case_id = "tls@mini"}), std::vector<std::string>{"run-1-0"});
}

TEST_F(ObservationStoreTest, AStatusOfTheGateTakesThePlaceOfTheFirst) {
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(3)));
  ASSERT_TRUE(store.insert(observations(3, "other")));
  ASSERT_TRUE(store.set_statuses("run-1", std::vector<TrialStatus>{{1, "warn"}, {2, "fail"}}));
  EXPECT_EQ(names(store, {.status = "warn"}), std::vector<std::string>{"run-1-1"});
  EXPECT_EQ(*store.count({.run = "other", .status = "pass"}), 2u);
}

TEST_F(ObservationStoreTest, TheOldGoesUnlessItIsAmongTheNewest) {
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(10)));
  // Younger than the bound, and beyond the newest: stays.
  EXPECT_EQ(*store.prune({second(0), 2}, false), 0u);
  EXPECT_EQ(*store.prune({second(4), 2}, false), 4u);
  EXPECT_EQ(*store.count(), 6u);
  // Older than the bound, and among the newest: stays.
  EXPECT_EQ(*store.prune({second(100), 6}, false), 0u);
  EXPECT_EQ(*store.prune({second(100), 5}, true), 1u);
  EXPECT_EQ(names(store, {}).back(), "run-1-5");
  EXPECT_EQ(*store.prune({second(100), 0}, true), 5u);
  SQLite::Database db(file().string());
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM prompts").getInt(), 0) << "nobody has it any more";
}

TEST_F(ObservationStoreTest, APromptStaysAsLongAsAnObservationWithIt) {
  auto store = opened();
  auto all = observations(6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // 0 0 0 | 1 0 2: the first outlives the second.
    const int number = i == 3 ? 1 : i == 5 ? 2 : 0;
    all[i].system_prompt = share("prompt " + std::to_string(number));
    all[i].system_hash = std::to_string(number);
  }
  // In three transactions, the newest before an older one.
  for (const int i : {0, 5, 1, 2, 4, 3})
    ASSERT_TRUE(store.insert(std::span(&all[static_cast<std::size_t>(i)], 1)));
  const auto prompts = [&] {
    SQLite::Database db(file().string());
    SQLite::Statement query(db, "SELECT group_concat(text) FROM (SELECT text FROM prompts ORDER BY hash)");
    query.executeStep();
    return query.getColumn(0).getString();
  };
  EXPECT_EQ(*store.prune({second(3), 1}, false), 3u);
  EXPECT_EQ(prompts(), "prompt 0,prompt 1,prompt 2");
  EXPECT_EQ(*store.prune({second(4), 1}, false), 1u);
  EXPECT_EQ(prompts(), "prompt 0,prompt 2");
  EXPECT_EQ(*store.prune({second(5), 1}, false), 1u);
  EXPECT_EQ(prompts(), "prompt 2");
}

TEST_F(ObservationStoreTest, OfOneMomentTheLastInsertedAreTheNewest) {
  auto store = opened();
  auto all = observations(6);
  for (Observation& one : all) one.timestamp = second(0);
  ASSERT_TRUE(store.insert(all));
  EXPECT_EQ(*store.prune({second(1), 2}, false), 4u);
  EXPECT_EQ(names(store, {}), (std::vector<std::string>{"run-1-5", "run-1-4"}));
}

TEST_F(ObservationStoreTest, AHundredThousandArePrunedAtTheCornersOfTheRetention) {
  auto store = opened();
  constexpr int count = 100'000;
  auto all = observations(count);
  for (Observation& one : all) one.prompt.assign(1000, 'x');
  ASSERT_TRUE(store.insert(all));
  EXPECT_EQ(*store.prune({second(count - 5000), 1000}, false), count - 5000u);
  EXPECT_EQ(names(store, {.before = second(count - 4999)}), std::vector<std::string>{"run-1-95000"})
      << "younger, and beyond the newest: it stays, and so do all after it";
  EXPECT_EQ(*store.prune({second(count - 500), 1000}, false), 4000u);
  EXPECT_EQ(names(store, {.before = second(count - 999)}), std::vector<std::string>{"run-1-99000"})
      << "older, and among the newest";
  EXPECT_EQ(*store.prune({second(count - 500), 1000}, false), 0u);
}

TEST_F(ObservationStoreTest, TwoMayWriteAtATime) {
  auto one = opened();
  auto other = opened();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(one.insert(std::vector{observation(i, "one")}));
    ASSERT_TRUE(other.insert(std::vector{observation(i, "other")}));
  }
  EXPECT_EQ(*one.count(), 40u);
  EXPECT_EQ(*(*ObservationStore::open_read_only(file()))->count({.run = "other"}), 20u);
}

TEST_F(ObservationStoreTest, AFileFromBeforePromptsHadATimeTakesMoreAndKeepsThem) {
  ASSERT_TRUE(opened().insert(observations(4)));
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE prompts SET checksum = NULL; ALTER TABLE prompts DROP COLUMN last_used");
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(4, "other")));
  EXPECT_EQ(*store.prune({second(2), 1}, false), 4u);
  EXPECT_EQ(SQLite::Database(file().string()).execAndGet("SELECT count(*) FROM prompts").getInt(), 1)
      << "others have it";
}

TEST_F(ObservationStoreTest, AForeignFileStaysAsItIs) {
  std::filesystem::create_directories(file().parent_path());
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE observations (mine TEXT); PRAGMA user_version = 1");
  }
  const auto opened = ObservationStore::open(file());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "the file " + file().string() +
                                        " is a database of something else, and holds no observations: name "
                                        "another one as database_path; it stays as it is");
  EXPECT_FALSE(ObservationStore::open_read_only(file()));
  SQLite::Database db(file().string());
  EXPECT_EQ(db.execAndGet("SELECT count(*) FROM sqlite_master").getInt(), 1);
  EXPECT_EQ(db.execAndGet("PRAGMA journal_mode").getString(), "delete");
}

TEST_F(ObservationStoreTest, AFileOfALaterVersionIsRefused) {
  opened();
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 2");
  const auto later = ObservationStore::open(file());
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("have version 2, and this sluice knows version 1"), std::string::npos)
      << later.error().message;
}

TEST_F(ObservationStoreTest, NoFileIsNoError) {
  const auto none = ObservationStore::open_read_only(file());
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

/// No file of this process grows beyond so many bytes while this lives, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(ObservationStoreTest, AFullDiskIsAnErrorAndLeavesWhatWasThere) {
  auto store = opened();
  ASSERT_TRUE(store.insert(observations(10)));
  auto large = observations(200, "large");
  for (Observation& one : large) one.raw_response.assign(10'000, 'x');
  {
    const FullDisk full(256 << 10);
    const auto inserted = store.insert(large);
    ASSERT_FALSE(inserted);
    EXPECT_TRUE(inserted.error().message.starts_with("the observations failed: "))
        << inserted.error().message;
  }
  EXPECT_EQ(*store.count(), 10u) << "all or none";
  EXPECT_TRUE(store.insert(large)) << "once there is room";
}

}  // namespace sluice::observation_store_test
