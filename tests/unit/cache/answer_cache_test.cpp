#include "worker/cache/answer_cache.hpp"

#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

Completion answer(std::string text) {
  return {std::move(text), "stop", "model", {10, 20}, 1'700'000'000'000, {}};
}

Completion refusal() {
  auto result = answer("");
  result.non_answer = Error{Reason::refusal, "the model declined"};
  return result;
}

Digest key(int number) {
  return sha256("key " + std::to_string(number));
}

AnswerCache opened(const std::filesystem::path& dir) {
  auto cache = AnswerCache::open(dir);
  if (!cache) throw std::runtime_error(cache.error().message);
  return std::move(*cache);
}

TEST(AnswerCache, GivesBackWhatWasPut) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path() / "deep" / "cache");
  EXPECT_EQ(cache.get(key(1)).value(), std::nullopt);
  ASSERT_TRUE(cache.put(key(1), answer("one")));
  EXPECT_EQ(cache.get(key(1)).value(), answer("one"));
  EXPECT_EQ(cache.get(key(2)).value(), std::nullopt);
  ASSERT_TRUE(cache.put(key(1), answer("newer")));
  EXPECT_EQ(cache.get(key(1)).value(), answer("newer"));
}

TEST(AnswerCache, ManyArePutAtOnceEachInItsPlace) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path());
  const auto one = answer("one");
  const auto two = refusal();
  const std::vector<KeyedAnswer> both{{key(1), &one}, {key(2), &two}};
  ASSERT_TRUE(cache.put(both));
  EXPECT_EQ(cache.get(key(1)).value(), one);
  EXPECT_EQ(cache.get_outcome(key(1)).value(), std::nullopt);
  EXPECT_EQ(cache.get(key(2)).value(), std::nullopt);
  EXPECT_EQ(cache.get_outcome(key(2)).value(), two);
}

TEST(AnswerCache, NonAnswersAreNoAnswers) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path());
  ASSERT_TRUE(cache.put(key(1), refusal()));
  EXPECT_EQ(cache.get(key(1)).value(), std::nullopt);
  EXPECT_EQ(cache.get_outcome(key(1)).value(), refusal());
  ASSERT_TRUE(cache.put(key(1), answer("yes")));
  EXPECT_EQ(cache.get(key(1)).value(), answer("yes"));
  EXPECT_EQ(cache.get_outcome(key(1)).value(), refusal());
  ASSERT_TRUE(cache.erase(key(1)));
  EXPECT_EQ(cache.get(key(1)).value(), std::nullopt);
  EXPECT_EQ(cache.get_outcome(key(1)).value(), std::nullopt);
  EXPECT_TRUE(cache.erase(key(1))) << "what is not there is erased already";
}

TEST(AnswerCache, EmbeddingsStandBesideAnswers) {
  const support::TemporaryFolder folder;
  const std::vector<float> vector{0.5f, -0.25f};
  {
    auto cache = opened(folder.path());
    EXPECT_EQ(cache.get_embedding(key(1)).value(), std::nullopt);
    ASSERT_TRUE(cache.put(key(1), answer("one")));
    ASSERT_TRUE(cache.put_embedding(key(1), vector));
    EXPECT_EQ(cache.get_embedding(key(1)).value()->values, vector);
    ASSERT_TRUE(cache.erase(key(1)));
    EXPECT_EQ(cache.get_embedding(key(1)).value()->values, vector) << "only answer and outcome are forgotten";
  }
  const auto reader = AnswerCache::open_read_only(folder.path());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->get_embedding(key(1)).value()->values, vector);
}

TEST(AnswerCache, VotesStandBesideAnswers) {
  const support::TemporaryFolder folder;
  const auto vote = answer(R"({"rationale": "It is.", "score": 1})");
  {
    auto cache = opened(folder.path());
    EXPECT_EQ(cache.get_vote(key(1)).value(), std::nullopt);
    ASSERT_TRUE(cache.put(key(1), answer("one")));
    ASSERT_TRUE(cache.put_vote(key(1), vote));
    EXPECT_EQ(cache.get_vote(key(1)).value(), vote);
    EXPECT_EQ(cache.get(key(1)).value(), answer("one"));
    ASSERT_TRUE(cache.erase(key(1)));
    EXPECT_EQ(cache.get_vote(key(1)).value(), vote) << "only answer and outcome are forgotten";
    EXPECT_FALSE(cache.put_vote(key(1), refusal())) << "a judge that declines gives no vote";
    EXPECT_EQ(cache.get_vote(key(1)).value(), vote);
  }
  const auto reader = AnswerCache::open_read_only(folder.path());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->get_vote(key(1)).value(), vote);
}

/// A cache as an earlier version made it, with families of these names, the first of which holds an answer.
void make_old_cache(const std::filesystem::path& dir, const std::vector<std::string>& names) {
  { opened(dir); }  // Makes the id.
  std::filesystem::remove_all(dir / "db");
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors{{rocksdb::kDefaultColumnFamilyName, {}}};
  for (const auto& name : names) descriptors.push_back({name, {}});
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::Open(options, (dir / "db").string(), descriptors, &families, &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto first = key(1);
  const auto entry = cache_entry::encode(first, answer("one"));
  ASSERT_TRUE(
      db->Put({}, families[1], {reinterpret_cast<const char*>(first.data()), first.size()}, entry).ok());
  for (auto* family : families) db->DestroyColumnFamilyHandle(family);
  delete db;
}

TEST(AnswerCache, ACacheFromBeforeVotesOpensAllTheSame) {
  const support::TemporaryFolder folder;
  make_old_cache(folder.path(), {"answers", "outcomes", "embeddings"});
  {
    auto reader = AnswerCache::open_read_only(folder.path());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->get(key(1)).value(), answer("one"));
    EXPECT_EQ(reader->get_embedding(key(1)).value(), std::nullopt);
    EXPECT_EQ(reader->get_vote(key(1)).value(), std::nullopt);
    auto cursor = reader->entries(EntryKind::vote);
    EXPECT_FALSE(cursor.next().value());
    EXPECT_FALSE(reader->put_vote(key(1), answer("{}")));
  }
  {
    auto owner = opened(folder.path());
    EXPECT_EQ(owner.get(key(1)).value(), answer("one"));
    ASSERT_TRUE(owner.put_embedding(key(1), {1.0f}));
    ASSERT_TRUE(owner.put_vote(key(1), answer("{}")));
  }
  const auto again = AnswerCache::open_read_only(folder.path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->get(key(1)).value(), answer("one"));
  EXPECT_EQ(again->get_embedding(key(1)).value()->values, std::vector<float>{1.0f});
  EXPECT_EQ(again->get_vote(key(1)).value(), answer("{}"));
}

TEST(AnswerCache, ACacheFromBeforeEmbeddingsOpensAllTheSame) {
  const support::TemporaryFolder folder;
  make_old_cache(folder.path(), {"answers", "outcomes"});
  {
    auto reader = AnswerCache::open_read_only(folder.path());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->get(key(1)).value(), answer("one"));
    EXPECT_EQ(reader->get_embedding(key(1)).value(), std::nullopt);
    auto cursor = reader->entries(EntryKind::embedding);
    EXPECT_FALSE(cursor.next().value());
    EXPECT_FALSE(reader->put_embedding(key(1), {1.0f}));
  }
  auto owner = opened(folder.path());
  EXPECT_EQ(owner.get(key(1)).value(), answer("one"));
  ASSERT_TRUE(owner.put_embedding(key(1), {1.0f}));
  ASSERT_TRUE(owner.put_vote(key(1), answer("{}")));
  EXPECT_EQ(owner.get_embedding(key(1)).value()->values, std::vector<float>{1.0f});
}

TEST(AnswerCache, CursorsGoByKeyAndSeeWhatWasThereAtFirst) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path());
  std::map<Digest, std::string> expected;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(cache.put(key(i), answer(std::to_string(i))));
    expected[key(i)] = std::to_string(i);
  }
  auto cursor = cache.entries(EntryKind::answer);
  ASSERT_TRUE(cache.put(key(99), answer("later")));
  ASSERT_TRUE(cache.erase_entry(EntryKind::answer, key(0)));
  ASSERT_TRUE(cache.compact());
  for (const auto& [at, text] : expected) {
    ASSERT_TRUE(cursor.next().value());
    EXPECT_EQ(cursor.key(), at);
    EXPECT_EQ(cache_entry::decode(at, cursor.bytes()).value().text, text);
  }
  EXPECT_FALSE(cursor.next().value());
  EXPECT_EQ(cache.get(key(0)).value(), std::nullopt);
  EXPECT_EQ(cache.get(key(99)).value(), answer("later"));
}

TEST(AnswerCache, KeepsItsIdAndAnswersOverReopening) {
  const support::TemporaryFolder folder;
  std::string id;
  for (int round = 0; round < 12; ++round) {
    auto cache = opened(folder.path());
    if (round == 0) id = cache.id();
    EXPECT_EQ(cache.id(), id);
    for (int i = 0; i < round; ++i) EXPECT_EQ(cache.get(key(i)).value(), answer(std::to_string(i)));
    ASSERT_TRUE(cache.put(key(round), answer(std::to_string(round))));
  }
  EXPECT_EQ(id.size(), 32u);
  const support::TemporaryFolder other;
  EXPECT_NE(opened(other.path()).id(), id);
}

TEST(AnswerCache, ManyLargeAnswersOutliveTheWriteBuffer) {
  const support::TemporaryFolder folder;
  const auto text = [](int i) {
    std::string result;
    for (int j = 0; j < 3000; ++j) result += std::to_string(i * 7919 + j * 104729);
    return result;
  };
  {
    auto cache = opened(folder.path());
    for (int i = 0; i < 1500; ++i) ASSERT_TRUE(cache.put(key(i), answer(text(i))));
  }
  const auto cache = opened(folder.path());
  for (int i = 0; i < 1500; i += 50) EXPECT_EQ(cache.get(key(i)).value(), answer(text(i)));
}

TEST(AnswerCache, InUseIsDistinguished) {
  const support::TemporaryFolder folder;
  const auto cache = opened(folder.path());
  for (const auto& second : {AnswerCache::open(folder.path()), AnswerCache::open_read_only(folder.path())}) {
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, Reason::cache_in_use);
    EXPECT_NE(second.error().message.find(folder.path().string()), std::string::npos);
  }
}

TEST(AnswerCache, ReadersShareAndKeepWritersOut) {
  const support::TemporaryFolder folder;
  std::string id;
  {
    auto cache = opened(folder.path());
    id = cache.id();
    ASSERT_TRUE(cache.put(key(1), answer("one")));
  }
  {
    auto one = AnswerCache::open_read_only(folder.path());
    auto two = AnswerCache::open_read_only(folder.path());
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_EQ(one->id(), id);
    EXPECT_EQ(one->get(key(1)).value(), answer("one"));
    EXPECT_EQ(two->get(key(1)).value(), answer("one"));
    const auto written = one->put(key(2), answer("two"));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().reason, Reason::cache_failed);
    auto owner = AnswerCache::open(folder.path());
    ASSERT_TRUE(owner) << "readers keep nobody out: " << owner.error().message;
    ASSERT_TRUE(owner->put(key(1), answer("newer")));
    EXPECT_EQ(one->get(key(1)).value(), answer("one")) << "they see what was there when they opened it";
  }
  EXPECT_TRUE(AnswerCache::open(folder.path()));
}

TEST(AnswerCache, ReadOnlyMakesNothing) {
  const support::TemporaryFolder folder;
  const auto absent = AnswerCache::open_read_only(folder.path() / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().reason, Reason::cache_failed);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "absent"));
}

TEST(AnswerCache, WhatIsNoFolderIsNamed) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  const auto cache = AnswerCache::open(file);
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().reason, Reason::cache_failed);
  EXPECT_NE(cache.error().message.find(file.string()), std::string::npos);
}

TEST(AnswerCache, SurvivesTheDeathOfItsProcess) {
  const support::TemporaryFolder folder;
  const auto child = ::fork();
  if (child == 0) {
    auto cache = AnswerCache::open(folder.path());
    if (!cache || !cache->put(key(1), answer("stored"))) ::_exit(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  {
    const auto reader = AnswerCache::open_read_only(folder.path());
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->get(key(1)).value(), answer("stored"));
  }
  EXPECT_EQ(opened(folder.path()).get(key(1)).value(), answer("stored"));
}

/// Runs in a process of its own: a lowered limit on file sizes lasts.
TEST(AnswerCache, ADiskThatTakesNoMoreIsAnError) {
  const support::TemporaryFolder folder;
  const auto child = ::fork();
  if (child == 0) {
    auto cache = AnswerCache::open(folder.path());
    if (!cache || !cache->put(key(0), answer("fits"))) ::_exit(1);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    for (int i = 1; i < 1000; ++i) {
      const auto put = cache->put(key(i), answer(std::string(4000, 'x')));
      if (put) continue;
      const bool reported = put.error().reason == Reason::cache_failed &&
                            put.error().message.find(folder.path().string()) != std::string::npos;
      const auto first = cache->get(key(0));
      ::_exit(reported && first && *first == answer("fits") ? 0 : 3);
    }
    ::_exit(4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(AnswerCache, IsUnsyncedFromEachChangeToTheNextSync) {
  const support::TemporaryFolder folder;
  auto cache = AnswerCache::open(folder.path() / "c");
  ASSERT_TRUE(cache);
  const std::vector<std::function<Result<void>()>> changes{
      [&] { return cache->put(sha256("q"), answer("Paris")); },
      [&] { return cache->put_vote(sha256("q"), answer("Paris")); },
      [&] { return cache->put_embedding(sha256("q"), {0.5f}); }, [&] { return cache->erase(sha256("q")); },
      [&] { return cache->erase_entry(EntryKind::vote, sha256("q")); }};
  for (const auto& change : changes) {
    ASSERT_TRUE(change());
    EXPECT_TRUE(cache->has_unsynced());
    const auto synced = cache->sync();
    EXPECT_TRUE(synced) << synced.error().message;
    EXPECT_FALSE(cache->has_unsynced());
  }
}

TEST(AnswerCache, WhatAnEarlierProcessLeftIsUnsyncedAtEachOpening) {
  const support::TemporaryFolder folder;
  ASSERT_TRUE(opened(folder.path()).put(sha256("q"), answer("Paris")));
  const std::vector<std::function<Result<AnswerCache>(const std::filesystem::path&)>> openings{
      AnswerCache::open_read_only, AnswerCache::open};
  for (const auto& open : openings) {
    const auto cache = open(folder.path());
    ASSERT_TRUE(cache);
    EXPECT_TRUE(cache->has_unsynced());
    const auto synced = cache->sync();
    EXPECT_TRUE(synced) << synced.error().message;
    EXPECT_FALSE(cache->has_unsynced());
  }
}

TEST(AnswerCache, WhatIsReadIsUnsyncedBeforeItsWriteHasEnded) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(cache.sync());
    std::thread writer([&] { EXPECT_TRUE(cache.put(key(i), answer("a"))); });
    while (!cache.get(key(i)).value()) {
    }
    EXPECT_TRUE(cache.has_unsynced());
    writer.join();
  }
}

TEST(AnswerCache, SeveralThreadsReadAndWrite) {
  const support::TemporaryFolder folder;
  auto cache = opened(folder.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 100; ++i) {
        const auto mine = key(t * 1000 + i);
        EXPECT_TRUE(cache.put(mine, answer(std::to_string(i))));
        EXPECT_EQ(cache.get(mine).value(), answer(std::to_string(i)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_TRUE(cache.get(key(t * 1000 + 99)).value());
}

}  // namespace
}  // namespace sluice
