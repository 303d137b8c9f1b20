#include "worker/calls/entry_exchange.hpp"

#include "common/defaults.hpp"
#include "tests/support/temporary_folder.hpp"
#include "worker/answer_store.hpp"

#include <gtest/gtest.h>

namespace sluice::entry_exchange_test {

RunSettings live_settings() {
  RunSettings settings;
  settings.run_id = "run-1";
  settings.mode = Mode::live;
  return settings;
}

EntryKey answer(const std::string& name) {
  return {EntryKind::answer, sha256(name)};
}
EntryKey embedding(const std::string& name) {
  return {EntryKind::embedding, sha256(name)};
}
EntryKey vote(const std::string& name) {
  return {EntryKind::vote, sha256(name)};
}

struct EntryExchangeTest : testing::Test {
  EntryExchange exchange{live_settings(), true};
  const CallContext me{3, 14};

  wire::Seek the_seek() { return std::get<wire::Seek>(exchange.take_messages().at(0)); }
  wire::Stored the_stored() { return std::get<wire::Stored>(exchange.take_messages().at(0)); }
  bool is_silent() { return exchange.take_messages().empty(); }
  /// This worker is left to pay for the embedding, and the coordinator knows that it asked.
  void be_left_to_pay(const EntryKey& key) {
    exchange.seek(key, me);
    exchange.take_messages();
    EXPECT_EQ(exchange.on_found(key, false), std::vector{me});
  }
};

TEST_F(EntryExchangeTest, EntriesAreSoughtWhereACacheIsReadAndWrittenAndCallsArePaid) {
  const auto seeks = [](auto change, bool has_cache = true, EntryKind kind = EntryKind::embedding) {
    auto settings = live_settings();
    change(settings);
    return EntryExchange(settings, has_cache).seeks(kind);
  };
  EXPECT_TRUE(seeks([](RunSettings&) {}));
  EXPECT_FALSE(seeks([](RunSettings&) {}, false));
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.read_cache = false; }));
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.read_cache = false; }, true, EntryKind::answer));
  EXPECT_TRUE(seeks([](RunSettings& settings) { settings.read_cache = false; }, true, EntryKind::vote))
      << "one worker renews it for all";
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.write_cache = false; }, true, EntryKind::vote));
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.write_cache = false; }));
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.mode = Mode::cached; }));
  EXPECT_FALSE(seeks([](RunSettings& settings) { settings.mode = Mode::mock; }));
}

TEST_F(EntryExchangeTest, EachKeyIsAskedForOnce) {
  exchange.seek(answer("a"), me);
  exchange.seek(embedding("a"), me);
  exchange.seek(answer("a"), me);
  EXPECT_EQ(the_seek(), (wire::Seek{"run-1", {answer("a"), embedding("a")}}));
  exchange.seek(embedding("a"), me);
  EXPECT_TRUE(is_silent());
  EXPECT_EQ(exchange.on_found(embedding("a"), true), std::vector{me});
  EXPECT_TRUE(exchange.on_found(embedding("a"), true).empty()) << "nobody waits for it any more";
  exchange.seek(embedding("a"), me);
  EXPECT_EQ(the_seek().keys, std::vector{embedding("a")});
}

TEST_F(EntryExchangeTest, WhatCameIsForTheLastCallOfEachOwner) {
  exchange.seek(answer("a"), {1, 2});
  exchange.seek(answer("b"), me);
  exchange.seek(answer("a"), {2, 3});
  exchange.seek(answer("a"), {1, 5});
  EXPECT_EQ(exchange.on_found(answer("a"), true), (std::vector<CallContext>{{1, 5}, {2, 3}}));
  EXPECT_EQ(exchange.on_found(answer("b"), false), std::vector{me});
  EXPECT_TRUE(exchange.on_found(answer("c"), true).empty());
}

TEST_F(EntryExchangeTest, WhatWasPaidForIsReportedAsStored) {
  for (const auto& key : {embedding("a"), vote("a"), embedding("b"), vote("b")}) be_left_to_pay(key);
  exchange.stored(embedding("a"));
  exchange.stored(vote("a"));
  exchange.stored(embedding("a"));
  exchange.stored(embedding("never sought"));
  EXPECT_EQ(the_stored(), (wire::Stored{"run-1", {embedding("a"), vote("a")}, {}}));
  exchange.given_up(vote("b"));
  exchange.given_up(embedding("b"));
  exchange.given_up(vote("a"));
  EXPECT_EQ(the_stored(), (wire::Stored{"run-1", {}, {vote("b"), embedding("b")}}));
  EXPECT_TRUE(is_silent());
}

TEST_F(EntryExchangeTest, WhatCameFromElsewhereIsNoNews) {
  for (const auto& key : {embedding("a"), vote("a")}) {
    exchange.seek(key, me);
    exchange.take_messages();
    EXPECT_EQ(exchange.on_found(key, true), std::vector{me});
    exchange.stored(key);
    EXPECT_TRUE(is_silent());
  }
}

TEST_F(EntryExchangeTest, AnAnswerIsNobodysToPayForBut) {
  exchange.seek(answer("a"), me);
  exchange.take_messages();
  EXPECT_EQ(exchange.on_found(answer("a"), false), std::vector{me});
  exchange.given_up(answer("a"));
  EXPECT_TRUE(is_silent()) << "its unit's lease is enough";
}

TEST_F(EntryExchangeTest, WhatNobodyHereWaitsForIsGivenUpAtOnce) {
  for (const auto& key : {embedding("a"), vote("a")}) {
    EXPECT_TRUE(exchange.on_found(key, false).empty());
    EXPECT_EQ(the_stored(), (wire::Stored{"run-1", {}, {key}}));
  }
}

TEST_F(EntryExchangeTest, AFoundThatComesTwiceLeavesThePayingAlone) {
  for (const auto& key : {embedding("a"), vote("a")}) {
    be_left_to_pay(key);
    EXPECT_TRUE(exchange.on_found(key, false).empty());
    EXPECT_TRUE(is_silent());
    exchange.stored(key);
    EXPECT_EQ(the_stored().stored, std::vector{key});
  }
}

TEST_F(EntryExchangeTest, AfterABreakItIsAskedForAgain) {
  exchange.seek(answer("a"), me);
  exchange.take_messages();
  be_left_to_pay(embedding("b"));
  exchange.seek(answer("c"), me);
  exchange.ask_again();
  const auto keys = the_seek().keys;
  EXPECT_EQ(std::set(keys.begin(), keys.end()), (std::set{answer("a"), embedding("b"), answer("c")}));
  exchange.on_found(embedding("b"), false);
  EXPECT_TRUE(is_silent()) << "it is being paid for";
  exchange.stored(embedding("b"));
  EXPECT_EQ(exchange.take_messages().size(), 1u) << "also to a coordinator that was started anew";
}

// A call that was under way when the coordinator died is paid for when the next one has not left it to
// anybody.
TEST_F(EntryExchangeTest, WhatWasStoredWhileNobodyListenedIsSaidOnceItIsLeftToThisWorkerAgain) {
  for (const auto& key : {embedding("a"), vote("b")}) {
    be_left_to_pay(key);
    exchange.stored(key);
    EXPECT_EQ(the_stored().stored, std::vector{key}) << "perhaps to nobody";
  }
  exchange.ask_again();
  EXPECT_EQ(the_seek().keys, (std::vector{embedding("a"), vote("b")}));
  EXPECT_TRUE(exchange.on_found(embedding("a"), false).empty());
  EXPECT_EQ(the_stored(), (wire::Stored{"run-1", {embedding("a")}, {}}));
  EXPECT_TRUE(exchange.on_found(vote("b"), true).empty()) << "another one has it, too";
  EXPECT_TRUE(is_silent());
}

TEST_F(EntryExchangeTest, OfWhatWasStoredAsMuchIsAskedForAgainAsOneMessageNames) {
  for (std::size_t i = 0; i < wire::max_entries + 5; ++i) {
    be_left_to_pay(vote(std::to_string(i)));
    exchange.stored(vote(std::to_string(i)));
    exchange.take_messages();
  }
  exchange.ask_again();
  const auto keys = the_seek().keys;
  ASSERT_EQ(keys.size(), wire::max_entries);
  EXPECT_EQ(keys.front(), vote("5")) << "the last ones";
}

TEST_F(EntryExchangeTest, NoMessageNamesMoreThanTheWireTakes) {
  for (std::size_t i = 0; i < 2 * wire::max_entries + 1; ++i) exchange.seek(embedding(std::to_string(i)), me);
  const auto messages = exchange.take_messages();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(std::get<wire::Seek>(messages[0]).keys.size(), wire::max_entries);
  EXPECT_EQ(std::get<wire::Seek>(messages[2]).keys.size(), 1u);
}

// --- lending ---

struct LentEntriesTest : testing::Test {
  AnswerStore open(const std::string& name, std::vector<AnswerCache> others = {}) const {
    auto cache = AnswerCache::open(folder.path() / name);
    EXPECT_TRUE(cache) << cache.error().message;
    return AnswerStore(std::move(*cache), std::move(others));
  }
  static Completion completion(std::string text) { return {std::move(text), "stop", "m", {10, 5}, 1000, {}}; }
  static void put(AnswerStore& store, const Digest& key, const Completion& completion) {
    const KeyedAnswer one{key, &completion};
    ASSERT_TRUE(store.store({&one, 1}));
  }

  support::TemporaryFolder folder;
  AnswerStore holder = open("holder");
  AnswerStore seeker = open("seeker");
};

TEST_F(LentEntriesTest, AnAnswerGoesFromCacheToCache) {
  const auto given = completion("Paris");
  put(holder, sha256("q"), given);
  const auto entry = holder.lend(answer("q"));
  const auto taken = seeker.take_answer(sha256("q"), answer_digest(given), entry);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*taken, given);
  EXPECT_EQ(seeker.find_answer(sha256("q")).value(), given);
  EXPECT_EQ(seeker.lend(answer("q")), entry) << "byte for byte";
}

TEST_F(LentEntriesTest, AnEmbeddingGoesFromCacheToCache) {
  const std::vector<float> vector{0.5f, -1.0f, 0.25f};
  ASSERT_TRUE(holder.store_embedding(sha256("text"), vector));
  const auto taken = seeker.take_embedding(sha256("text"), holder.lend(embedding("text")));
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*taken, vector);
  EXPECT_EQ(seeker.find_embedding(sha256("text")).value(), vector);
}

TEST_F(LentEntriesTest, AVoteGoesFromCacheToCache) {
  const auto given = completion(R"({"rationale": "It is.", "score": 1})");
  ASSERT_TRUE(holder.store_vote(sha256("q"), given));
  const auto entry = holder.lend(vote("q"));
  const auto taken = seeker.take_vote(sha256("q"), entry);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(*taken, given);
  EXPECT_EQ(seeker.find_vote(sha256("q")).value(), given);
  EXPECT_EQ(seeker.lend(vote("q")), entry) << "byte for byte";
  EXPECT_EQ(seeker.find_answer(sha256("q")).value(), std::nullopt) << "it is no answer of that key";
}

TEST_F(LentEntriesTest, WhatIsNotThereIsEmpty) {
  EXPECT_EQ(holder.lend(answer("q")), "");
  EXPECT_EQ(holder.lend(vote("q")), "");
  EXPECT_EQ(AnswerStore(std::nullopt, {}).lend(answer("q")), "");
  auto refused = completion("no");
  refused.non_answer = Error{Reason::refusal, "no"};
  put(holder, sha256("q"), refused);
  EXPECT_EQ(holder.lend(answer("q")), "");
}

TEST_F(LentEntriesTest, WhatIsDamagedOrTooLargeIsNotLent) {
  auto cache = AnswerCache::open(folder.path() / "damaged");
  ASSERT_TRUE(cache);
  ASSERT_TRUE(cache->put_entry(EntryKind::answer, sha256("q"), "garbage"));
  ASSERT_TRUE(cache->put(sha256("large"), completion(std::string(defaults::max_entry_bytes, 'x'))));
  const AnswerStore store(std::move(*cache), {});
  EXPECT_EQ(store.lend(answer("q")), "");
  EXPECT_EQ(store.lend(answer("large")), "");
}

TEST_F(LentEntriesTest, ABorrowedCacheLendsToo) {
  {
    auto first = open("third");
    put(first, sha256("q"), completion("Paris"));
  }
  std::vector<AnswerCache> others;
  others.push_back(AnswerCache::open_read_only(folder.path() / "third").value());
  const auto store = open("own", std::move(others));
  EXPECT_NE(store.lend(answer("q")), "");
}

TEST_F(LentEntriesTest, WhateverComesFromElsewhereIsChecked) {
  put(holder, sha256("q"), completion("Paris"));
  ASSERT_TRUE(holder.store_embedding(sha256("q"), {1.0f}));
  const auto answer_entry = holder.lend(answer("q"));
  const auto embedding_entry = holder.lend(embedding("q"));
  auto refused = completion("no");
  refused.non_answer = Error{Reason::refusal, "no"};
  auto flipped = answer_entry;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  EXPECT_FALSE(seeker.take_answer(sha256("other key"), {}, answer_entry));
  EXPECT_FALSE(seeker.take_answer(sha256("q"), sha256("another answer"), answer_entry));
  EXPECT_FALSE(seeker.take_answer(sha256("q"), {}, embedding_entry));
  EXPECT_FALSE(seeker.take_answer(sha256("q"), {}, cache_entry::encode(sha256("q"), refused)));
  EXPECT_FALSE(seeker.take_answer(sha256("q"), {}, flipped));
  for (std::size_t size = 0; size < answer_entry.size(); ++size)
    EXPECT_FALSE(seeker.take_answer(sha256("q"), {}, std::string_view(answer_entry).substr(0, size)));
  EXPECT_FALSE(seeker.take_embedding(sha256("other key"), embedding_entry));
  EXPECT_FALSE(seeker.take_embedding(sha256("q"), answer_entry));
  EXPECT_FALSE(seeker.take_embedding(sha256("q"), cache_entry::encode(sha256("q"), Embedding{{0.0f}, 1})));
  EXPECT_FALSE(seeker.take_vote(sha256("other key"), answer_entry));
  EXPECT_FALSE(seeker.take_vote(sha256("q"), embedding_entry));
  EXPECT_FALSE(seeker.take_vote(sha256("q"), cache_entry::encode(sha256("q"), refused)));
  EXPECT_FALSE(seeker.take_vote(sha256("q"), flipped));
  EXPECT_EQ(seeker.find_vote(sha256("q")).value(), std::nullopt);
  EXPECT_EQ(seeker.find_answer(sha256("q")).value(), std::nullopt);
  EXPECT_EQ(seeker.find_embedding(sha256("q")).value(), std::nullopt);
  EXPECT_TRUE(seeker.take_answer(sha256("q"), {}, answer_entry));
}

TEST_F(LentEntriesTest, EachKeyOfALendIsAnsweredInMessagesOfBoundedSize) {
  put(holder, sha256("large 1"), completion(std::string(defaults::max_bytes_per_work, 'x')));
  put(holder, sha256("large 2"), completion(std::string(defaults::max_bytes_per_work, 'y')));
  const wire::Lend lend{"run-1", {answer("large 1"), answer("none"), answer("large 2"), embedding("none")}};
  const auto messages = lend_entries(holder, lend);
  ASSERT_EQ(messages.size(), 3u);
  std::vector<EntryKey> answered;
  for (const auto& message : messages) {
    EXPECT_EQ(message.run_id, "run-1");
    for (const auto& entry : message.entries) answered.push_back(entry.key);
  }
  EXPECT_EQ(answered, lend.keys);
  EXPECT_GT(messages[0].entries.at(0).bytes.size(), defaults::max_bytes_per_work);
  EXPECT_EQ(messages[1].entries.at(0).bytes, "");
}

}  // namespace sluice::entry_exchange_test
