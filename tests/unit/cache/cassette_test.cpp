// What goes into a cassette, and what an import makes of it.

#include "tests/unit/cache/cassette_fixture.hpp"
#include "worker/cache/cassette_format.hpp"
#include "worker/cache/cassette_writer.hpp"
#include "worker/cache/import_cassette.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

TEST(Cassette, CarriesAnswersRefusalsEmbeddingsAndVotes) {
  CassetteHome from;
  {
    auto cache = from.cache();
    for (int i = 0; i < 700; ++i) ASSERT_TRUE(cache.put(test_key(i), test_answer(std::to_string(i))));
    ASSERT_TRUE(cache.put(test_key(1000), test_refusal("the model declined")));
    ASSERT_TRUE(cache.put_embedding(test_key(1001), {0.5f, 0.25f}, 7));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(cache.put_vote(test_key(1002 + i), test_answer("{}", i)));
  }
  std::string bytes;
  const auto exported = from.try_export(bytes);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->caches, 1u);
  EXPECT_EQ(exported->answers, 700u);
  EXPECT_EQ(exported->outcomes, 1u);
  EXPECT_EQ(exported->embeddings, 1u);
  EXPECT_EQ(exported->votes, 3u);
  EXPECT_EQ(exported->conflicts, 0u);

  CassetteHome to;
  const auto imported = to.import(bytes);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->cache.filename(), "worker-0");
  EXPECT_EQ(imported->entries, 705u);
  EXPECT_EQ(imported->added, 705u);
  EXPECT_EQ(to.content(), from.content());
  ASSERT_EQ(to.ledger.pins.size(), 701u) << "embeddings and votes have no pin";
  const auto id = to.cache().id();
  for (int i = 0; i < 700; ++i) {
    EXPECT_EQ(to.ledger.pins.at(test_key(i)).answer, answer_digest(test_answer(std::to_string(i))));
    EXPECT_EQ(to.ledger.pins.at(test_key(i)).holder, id);
  }
  EXPECT_EQ(to.ledger.pins.at(test_key(1000)).answer, answer_digest(test_refusal("other words")));
  EXPECT_EQ(to.exported(), bytes) << "export, import, export is the identity";
}

TEST(Cassette, EqualContentGivesEqualBytes) {
  CassetteHome one;
  CassetteHome two;
  {
    auto cache = one.cache();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(cache.put(test_key(i), test_answer(std::to_string(i))));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(cache.put(test_key(i + 100), test_refusal("no")));
  }
  {
    auto left = two.cache("a");
    auto right = two.cache("b");
    for (int i = 9; i >= 0; --i) ASSERT_TRUE(left.put(test_key(i + 100), test_refusal("no")));
    for (int i = 59; i >= 0; --i) {
      const auto answer = test_answer(std::to_string(i));
      ASSERT_TRUE(i % 3 == 0 || left.put(test_key(i), answer));
      ASSERT_TRUE(i % 3 == 1 || right.put(test_key(i), answer));
    }
    ASSERT_TRUE(left.compact());
  }
  EXPECT_EQ(one.exported(), two.exported());
}

TEST(Cassette, OfDifferentAnswersThePinnedOneElseTheLaterGoesIn) {
  CassetteHome home;
  ASSERT_TRUE(home.cache("a").put(test_key(1), test_answer("early", 1)));
  ASSERT_TRUE(home.cache("b").put(test_key(1), test_answer("late", 2)));
  const auto carried = [&] {
    std::string bytes;
    const auto done = home.try_export(bytes);
    EXPECT_TRUE(done && done->conflicts == 1 && done->answers == 1);
    CassetteHome other;
    EXPECT_TRUE(other.import(bytes));
    return other.cache().get(test_key(1)).value().value().text;
  };
  EXPECT_EQ(carried(), "late");
  home.ledger.pins[test_key(1)] = {test_key(1), answer_digest(test_answer("early")), "whoever"};
  EXPECT_EQ(carried(), "early");
  home.ledger.pins[test_key(1)].answer = sha256("an answer that nobody has any more");
  EXPECT_EQ(carried(), "late");
}

TEST(Cassette, OfDifferentVotesTheLaterGoesInWhateverIsPinned) {
  CassetteHome home;
  ASSERT_TRUE(home.cache("a").put_vote(test_key(1), test_answer("early", 1)));
  ASSERT_TRUE(home.cache("b").put_vote(test_key(1), test_answer("late", 2)));
  home.ledger.pins[test_key(1)] = {test_key(1), answer_digest(test_answer("early")), "whoever"};
  std::string bytes;
  const auto done = home.try_export(bytes);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->conflicts, 1u);
  CassetteHome other;
  ASSERT_TRUE(other.cache().put_vote(test_key(1), test_answer("early", 1)));
  const auto imported = other.import(bytes);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->replaced, 1u);
  EXPECT_EQ(other.cache().get_vote(test_key(1)).value()->text, "late");
  EXPECT_TRUE(other.ledger.pins.empty());
}

TEST(Cassette, WithoutVotesItIsTheFileThatItWasBeforeThem) {
  CassetteHome home;
  ASSERT_TRUE(home.cache().put(test_key(1), test_answer("one")));
  EXPECT_EQ(home.exported()[cassette::magic.size()], '\x01');
  ASSERT_TRUE(home.cache("second").put_vote(test_key(2), test_answer("{}")));
  EXPECT_EQ(home.exported()[cassette::magic.size()], '\x02');
}

TEST(Cassette, AnswerAndRefusalOfOneKeyReplayAsTheyDidAtHome) {
  for (const bool answer_is_pinned : {true, false}) {
    CassetteHome home;
    const auto answer = test_answer("yes", answer_is_pinned ? 1 : 2);
    const auto refusal = test_refusal("no", answer_is_pinned ? 2 : 1);
    {
      auto cache = home.cache();
      ASSERT_TRUE(cache.put(test_key(1), answer));
      ASSERT_TRUE(cache.put(test_key(1), refusal));
    }
    CassetteHome unpinned;
    ASSERT_TRUE(unpinned.import(home.exported()));
    EXPECT_EQ(unpinned.content(), home.content()) << "without a pin both go in";
    EXPECT_EQ(unpinned.ledger.pins.at(test_key(1)).answer, answer_digest(answer_is_pinned ? refusal : answer))
        << "the later one is replayed";
    // The earlier one is pinned: the later one would take its place, and stays out.
    const auto pinned = answer_digest(answer_is_pinned ? answer : refusal);
    home.ledger.pins[test_key(1)] = {test_key(1), pinned, "whoever"};
    CassetteHome other;
    ASSERT_TRUE(other.import(home.exported()));
    EXPECT_EQ(other.ledger.pins.at(test_key(1)).answer, pinned);
    EXPECT_EQ(other.content().size(), 1u);
  }
}

TEST(Cassette, HoldsJustTheEntriesThatWereUsedAndAllOfThem) {
  CassetteHome home;
  {
    auto cache = home.cache();
    for (int i = 0; i < 9; ++i) ASSERT_TRUE(cache.put(test_key(i), test_answer(std::to_string(i))));
    ASSERT_TRUE(cache.put(test_key(20), test_refusal("no")));
    ASSERT_TRUE(cache.put_embedding(test_key(30), {1.0f}, 1));
    ASSERT_TRUE(cache.put_embedding(test_key(40), {1.0f}, 1));
    ASSERT_TRUE(cache.put_vote(test_key(31), test_answer("{}")));
    ASSERT_TRUE(cache.put_vote(test_key(41), test_answer("{}")));
  }
  const auto use = [](int number, const Completion& answer) {
    return UsedAnswer{test_key(number), answer_digest(answer)};
  };
  UsedEntries used{{use(2, test_answer("2")), use(5, test_answer("5")), use(20, test_refusal("no"))},
                   {{EntryKind::embedding, test_key(30)}, {EntryKind::vote, test_key(31)}}};
  std::ranges::sort(used.answers);
  std::string bytes;
  const auto done = home.try_export(bytes, used);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->answers, 2u);
  EXPECT_EQ(done->outcomes, 1u);
  EXPECT_EQ(done->embeddings, 1u);
  EXPECT_EQ(done->votes, 1u);
  const auto expect_missing = [&](UsedEntries more, const Digest& key) {
    std::ranges::sort(more.answers);
    std::ranges::sort(more.leased);
    const auto missing = home.try_export(bytes, std::move(more));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().reason, Reason::cache_miss);
    EXPECT_NE(missing.error().message.find(to_hex(key)), std::string::npos) << missing.error().message;
  };
  for (const auto& other :
       {use(77, test_answer("77")), use(7, test_answer("replaced")), use(8, test_refusal("8"))}) {
    UsedEntries more = used;
    more.answers.push_back(other);
    expect_missing(std::move(more), other.key);
  }
  for (const EntryKey& other :
       {EntryKey{EntryKind::embedding, test_key(77)}, {EntryKind::vote, test_key(78)}}) {
    UsedEntries more = used;
    more.leased.push_back(other);
    expect_missing(std::move(more), other.digest);
  }
}

TEST(Cassette, ACacheInUseOrDamagedOrNoneIsNamed) {
  CassetteHome home;
  std::string bytes;
  const auto none = home.try_export(bytes);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, Reason::cache_failed);
  ASSERT_TRUE(home.cache("free").put(test_key(1), test_answer("one")));
  {
    auto busy = home.cache("busy");
    const auto in_use = home.try_export(bytes);
    ASSERT_FALSE(in_use);
    EXPECT_EQ(in_use.error().reason, Reason::cache_in_use);
    EXPECT_NE(in_use.error().message.find(busy.directory().string()), std::string::npos);
    auto damaged = cache_entry::encode(test_key(2), test_answer("two"));
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    ASSERT_TRUE(busy.put_entry(EntryKind::answer, test_key(2), damaged));
  }
  const auto damaged = home.try_export(bytes);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().reason, Reason::message_malformed);
  EXPECT_NE(damaged.error().message.find(to_hex(test_key(2))), std::string::npos) << damaged.error().message;
  EXPECT_NE(damaged.error().message.find("busy"), std::string::npos) << damaged.error().message;
}

// It was passed over, and an older answer was pinned in place of its own.
TEST(Cassette, IsNotImportedWhileACacheIsInUse) {
  CassetteHome from;
  ASSERT_TRUE(from.cache("worker-0").put(test_key(1), test_answer("one")));
  const auto bytes = from.exported();
  CassetteHome to;
  const auto busy = to.cache("busy");
  const auto done = to.import(bytes);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::cache_in_use);
  EXPECT_NE(done.error().message.find(busy.directory().string()), std::string::npos) << done.error().message;
  EXPECT_FALSE(std::filesystem::exists(to.folder.path() / "cache" / "worker-0")) << "nothing was written";
}

// The same for one that cannot be opened: once it could be again, the older answer was pinned over its own.
TEST(Cassette, IsNotImportedWhereACacheCannotBeOpened) {
  CassetteHome from;
  ASSERT_TRUE(from.cache().put(test_key(1), test_answer("old", 10)));
  const auto bytes = from.exported();
  CassetteHome to;
  std::filesystem::path dir;
  {
    auto newer = to.cache("gpu-7");
    dir = newer.directory();
    ASSERT_TRUE(newer.put(test_key(1), test_answer("new", 11)));
    to.ledger.pins[test_key(1)] = {test_key(1), answer_digest(test_answer("new", 11)), newer.id()};
  }
  std::filesystem::rename(dir / "db" / "CURRENT", dir / "CURRENT");
  const auto refused = to.import(bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::cache_failed);
  for (const std::string& words : {dir.string(), std::string("CURRENT"), std::string("sluice doctor")})
    EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  EXPECT_FALSE(std::filesystem::exists(to.folder.path() / "cache" / "worker-0")) << "nothing was written";
  std::filesystem::rename(dir / "CURRENT", dir / "db" / "CURRENT");
  ASSERT_TRUE(to.import(bytes));
  EXPECT_EQ(to.ledger.pins.at(test_key(1)).answer, answer_digest(test_answer("new", 11)));
}

TEST(Cassette, ADamagedOneChangesNothing) {
  CassetteHome home;
  ASSERT_TRUE(home.cache().put(test_key(1), test_answer("one")));
  CassetteHome from;
  {
    auto cache = from.cache();
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(cache.put(test_key(i), test_answer("other", 1'800'000'000'000)));
  }
  const auto before = home.content();
  auto bytes = from.exported();
  bytes[bytes.size() - 40] = static_cast<char>(bytes[bytes.size() - 40] ^ 4);
  const auto refused = home.import(bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::file_unreadable);
  EXPECT_EQ(home.content(), before);
  EXPECT_TRUE(home.ledger.pins.empty());
  CassetteHome fresh;
  EXPECT_FALSE(fresh.import(bytes));
  EXPECT_FALSE(std::filesystem::exists(fresh.folder.path() / "cache")) << "not even a cache is made";
}

TEST(Cassette, ImportKeepsTheGreaterAndMendsTheDamaged) {
  CassetteHome from;
  {
    auto cache = from.cache();
    for (int i = 1; i <= 4; ++i) ASSERT_TRUE(cache.put(test_key(i), test_answer("cassette", 10)));
  }
  CassetteHome to;
  {
    auto cache = to.cache();
    ASSERT_TRUE(cache.put(test_key(0), test_answer("only here", 1)));
    ASSERT_TRUE(cache.put(test_key(1), test_answer("older", 9)));
    ASSERT_TRUE(cache.put(test_key(2), test_answer("newer", 11)));
    ASSERT_TRUE(cache.put(test_key(3), test_answer("cassette", 10)));
    ASSERT_TRUE(cache.put_entry(EntryKind::answer, test_key(4), "damaged"));
  }
  const auto done = to.import(from.exported());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->entries, 4u);
  EXPECT_EQ(done->added, 0u);
  EXPECT_EQ(done->replaced, 1u);
  EXPECT_EQ(done->kept, 1u);
  EXPECT_EQ(done->already_there, 1u);
  EXPECT_EQ(done->mended, 1u);
  const auto cache = to.cache();
  EXPECT_EQ(cache.get(test_key(0)).value()->text, "only here");
  EXPECT_EQ(cache.get(test_key(1)).value()->text, "cassette");
  EXPECT_EQ(cache.get(test_key(2)).value()->text, "newer");
  EXPECT_EQ(cache.get(test_key(4)).value()->text, "cassette");
  EXPECT_EQ(to.ledger.pins.at(test_key(2)).answer, answer_digest(test_answer("newer")));
  EXPECT_FALSE(to.ledger.pins.contains(test_key(0)));
}

TEST(Cassette, APinnedAnswerThatIsGreaterElsewhereStaysPinned) {
  CassetteHome from;
  ASSERT_TRUE(from.cache().put(test_key(1), test_answer("cassette", 10)));
  for (const std::int64_t created : {9, 11}) {
    CassetteHome to;
    const auto elsewhere = test_answer("elsewhere", created);
    std::string id;
    {
      auto other = to.cache("other");
      ASSERT_TRUE(other.put(test_key(1), elsewhere));
      id = other.id();
    }
    to.ledger.pins[test_key(1)] = {test_key(1), answer_digest(elsewhere), id};
    ASSERT_TRUE(to.import(from.exported()));
    EXPECT_EQ(to.ledger.pins.at(test_key(1)).holder == id, created == 11);
  }
}

TEST(Cassette, ImportTakesTheHomesFirstCache) {
  CassetteHome from;
  ASSERT_TRUE(from.cache().put(test_key(1), test_answer("one")));
  CassetteHome to;
  to.cache("worker-1");
  to.cache("worker-0");
  const auto done = to.import(from.exported());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->cache.filename(), "worker-0");
}

TEST(Cassette, ALedgerThatFailsIsReportedBeforeAnythingIsWritten) {
  CassetteHome from;
  ASSERT_TRUE(from.cache().put(test_key(1), test_answer("one")));
  std::ofstream(from.folder.path() / "a.cassette", std::ios::binary) << from.exported();
  CassetteHome to;
  const auto broken = [](std::span<const Digest>) -> Result<std::vector<std::optional<CachePin>>> {
    return fail(Reason::ledger_failed, "the run ledger failed");
  };
  const auto done = import_cassette({.home = to.folder.path(),
                                     .file = from.folder.path() / "a.cassette",
                                     .pins = broken,
                                     .move_pins = to.ledger.move()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::ledger_failed);
  EXPECT_FALSE(std::filesystem::exists(to.folder.path() / "cache"));
}

/// A cassette of a few keys, times and texts, so that entries often meet.
std::string random_cassette(int first_key) {
  using Entry = std::tuple<int, int, int, bool>;
  const auto entries = *rc::gen::container<std::vector<Entry>>(rc::gen::tuple(
      rc::gen::inRange(0, 4), rc::gen::inRange(0, 3), rc::gen::inRange(0, 3), rc::gen::arbitrary<bool>()));
  std::map<std::tuple<EntryKind, Digest>, std::string> sorted;
  for (const auto& [number, time, text, refused] : entries) {
    const auto key = test_key(first_key + number);
    const auto words = std::to_string(text);
    const auto kind = refused ? EntryKind::outcome : EntryKind::answer;
    sorted[{kind, key}] =
        cache_entry::encode(key, refused ? test_refusal(words, time) : test_answer(words, time));
    sorted[{EntryKind::embedding, key}] =
        cache_entry::encode(key, Embedding{{static_cast<float>(text + 1)}, time});
    sorted[{EntryKind::vote, key}] = cache_entry::encode(key, test_answer(words, time));
  }
  std::string bytes;
  CassetteWriter writer([&](std::string_view piece) { bytes += piece; }, cassette::version_for(true));
  for (const auto& [place, entry] : sorted) {
    RC_ASSERT(writer.add(std::get<0>(place), std::get<1>(place), entry).has_value());
  }
  RC_ASSERT(writer.finish().has_value());
  return bytes;
}

/// Caches that stay open over all examples, each of which has keys of its own.
struct MergingHome {
  support::TemporaryFolder folder;
  AnswerCache cache = AnswerCache::open(folder.path() / "cache").value();
  Pins ledger;

  void import(const std::string& bytes) {
    const auto file = folder.path() / "import.cassette";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    auto reader = CassetteReader::open(file);
    RC_ASSERT(reader.has_value());
    RC_ASSERT(reader->verify().has_value());
    const CassetteImport options{.home = {}, .file = {}, .pins = ledger.find(), .move_pins = ledger.move()};
    RC_ASSERT(merge_cassette(*reader, cache, {}, options).has_value());
  }

  auto state(int first_key) const {
    std::vector<std::optional<std::string>> entries;
    std::vector<std::optional<Digest>> pins;
    for (int key = first_key; key < first_key + 4; ++key) {
      for (const auto kind : every_entry_kind) {
        entries.push_back(cache.get_entry(kind, test_key(key)).value());
      }
      const auto pin = ledger.pins.find(test_key(key));
      pins.push_back(pin == ledger.pins.end() ? std::nullopt : std::optional(pin->second.answer));
    }
    return std::pair(entries, pins);
  }
};

RC_GTEST_PROP(CassetteImport, OrderAndRepetitionChangeNothing, ()) {
  static MergingHome once;
  static MergingHome turned;
  static MergingHome often;
  static int first_key = 0;
  first_key += 10;
  const auto one = random_cassette(first_key);
  const auto two = random_cassette(first_key);
  for (const auto& bytes : {one, two}) once.import(bytes);
  for (const auto& bytes : {two, one}) turned.import(bytes);
  for (const auto& bytes : {one, two, two, one}) often.import(bytes);
  RC_ASSERT(once.state(first_key) == turned.state(first_key));
  RC_ASSERT(once.state(first_key) == often.state(first_key));
}

}  // namespace
}  // namespace sluice
