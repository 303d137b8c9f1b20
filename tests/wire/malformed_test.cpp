// What arrives from the network may be anything: each of these ends in an error value, never in a crash, a
// wait or a large allocation.
#include "common/defaults.hpp"
#include "common/wire/archive.hpp"
#include "tests/wire/samples.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

using namespace std::string_literals;

struct MalformedCase {
  std::string name;
  std::string header;
  std::string body;
};

std::string nested_arrays(std::size_t depth) {
  return std::string(depth, '\x91') + '\xc0';
}

/// HELLO's six fields with one of them replaced.
std::string hello_with(std::size_t position, const std::string& field) {
  std::string fields[] = {"\x01", "\xa1n", "\241c", "\xa1v", "\x05", "\xc3"};
  fields[position] = field;
  std::string body = "\x96";
  for (const auto& part : fields) body += part;
  return body;
}

std::vector<MalformedCase> malformed_cases() {
  const auto hello = "SL\x08\x01"s;
  const auto report = "SL\x08\x04"s;
  const auto body = hello_with(0, "\x01");
  const auto run_and_window = "\x96\xa1r\x01"s;
  return {
      {"no header", "", body},
      {"short header", "SL\x08", body},
      {"long header", hello + "\x01", body},
      {"other magic", "XY\x01\x01", body},
      {"type 0", "SL\x08\x00"s, body},
      {"unknown type", "SL\x08\x7f", body},
      {"empty body", hello, ""},
      {"trailing byte", hello, body + '\x00'},
      {"second value", hello, body + body},
      {"nil", hello, "\xc0"},
      {"map", hello, "\x81\x01\x01"},
      {"huge map", hello, "\xdf\xff\xff\xff\xff"},
      {"never used byte", hello, "\xc1"},
      {"too few fields", hello, "\x91\x01"},
      {"too many fields", hello,
       "\x97\x01\xa1n\xa1"
       "c\xa1v\x05\xc3\x05"},
      {"negative number", hello, hello_with(0, "\xff")},
      {"float for a number", hello, hello_with(0, "\xcb\x3f\xf0\0\0\0\0\0\0"s)},
      {"number beyond 32 bits", hello, hello_with(4, "\xcf\0\0\0\x01\0\0\0\0"s)},
      {"text for a number", hello,
       hello_with(0,
                  "\xa1"
                  "1")},
      {"number for a text", hello, hello_with(1, "\x01")},
      {"binary for a text", hello, hello_with(1, "\xc4\x01n")},
      {"text that is not UTF-8", hello, hello_with(1, "\xa2\xc3\x28")},
      {"surrogate in a text", hello, hello_with(1, "\xa3\xed\xa0\x80")},
      {"extension", hello, hello_with(1, "\xd4\x01\x01")},
      {"32-bit float", hello, hello_with(0, "\xca\x3f\x80\0\0"s)},
      {"text of 4 GiB", hello, hello_with(1, "\xdb\xff\xff\xff\xff")},
      {"binary of 4 GiB", hello, hello_with(1, "\xc6\xff\xff\xff\xff")},
      {"extension of 4 GiB", hello, hello_with(1, "\xc9\xff\xff\xff\xff\x01")},
      {"array of 2^32-1", hello, "\xdd\xff\xff\xff\xff"},
      {"array of 65536 announced, none there", hello, "\xdd\x00\x01\x00\x00"s},
      {"array of 65537", report,
       run_and_window + "\xdd\x00\x01\x00\x01"s + std::string(65537, '\x01') + "\x90"},
      {"arrays within arrays, each huge", report,
       run_and_window + "\xdd\xff\xff\xff\xff\xdd\xff\xff\xff\xff"},
      {"depth 17", hello, nested_arrays(17)},
      {"depth bomb", hello, nested_arrays(5'000'000)},
      {"result that is no array", report, run_and_window + "\x90\x91\x01"},
      {"result of no fields", report, run_and_window + "\x90\x91\x90"},
      {"ratio of text positions", "SL\x08\x12", "\x93\xa1r\x90\x91\x96\x01"},
  };
}

TEST(Malformed, EveryCaseIsAnErrorValue) {
  for (const auto& input : malformed_cases()) {
    const auto up = decode_to_coordinator(input.header, input.body);
    ASSERT_FALSE(up) << input.name;
    EXPECT_EQ(up.error().reason, Reason::message_malformed) << input.name;
    EXPECT_FALSE(up.error().message.empty()) << input.name;
    EXPECT_FALSE(decode_to_worker(input.header, input.body)) << input.name;
    EXPECT_FALSE(decode_result(input.body)) << input.name;
  }
}

TEST(Malformed, TheSoundFormOfTheTableIsRead) {
  EXPECT_TRUE(decode_to_coordinator("SL\x08\x01", hello_with(0, "\x01")));
}

TEST(Malformed, TruncatedAtEachByte) {
  for (const auto& sample : samples::all()) {
    const auto frames = samples::frames_of(sample);
    for (std::size_t size = 0; size < frames.body.size(); ++size) {
      const auto cut = std::string_view(frames.body).substr(0, size);
      ASSERT_FALSE(decode_to_coordinator(frames.header, cut)) << sample.name << " cut to " << size;
      ASSERT_FALSE(decode_to_worker(frames.header, cut)) << sample.name << " cut to " << size;
    }
    for (std::size_t size = 0; size < frames.header.size(); ++size) {
      const auto cut = std::string_view(frames.header).substr(0, size);
      ASSERT_FALSE(decode_to_coordinator(cut, frames.body));
      ASSERT_FALSE(decode_to_worker(cut, frames.body));
    }
  }
}

/// Whatever is still accepted after a byte was changed is a message in every respect: it encodes and reads
/// again.
TEST(Malformed, EachByteChanged) {
  for (const auto& sample : samples::all()) {
    const auto frames = samples::frames_of(sample);
    for (std::size_t i = 0; i < frames.body.size(); ++i) {
      for (const unsigned char byte : {0x00, 0x7f, 0x80, 0x91, 0xc0, 0xc1, 0xcb, 0xdb, 0xdd, 0xff}) {
        auto body = frames.body;
        body[i] = static_cast<char>(byte);
        if (const auto up = decode_to_coordinator(frames.header, body)) {
          const auto again = encode(*up);
          EXPECT_TRUE(decode_to_coordinator(again.header, again.body)) << sample.name << " byte " << i;
        }
        if (const auto down = decode_to_worker(frames.header, body)) {
          const auto again = encode(*down);
          EXPECT_TRUE(decode_to_worker(again.header, again.body)) << sample.name << " byte " << i;
        }
      }
    }
  }
}

TEST(Malformed, MoreEntriesThanAMessageMayHave) {
  const auto taken = [](const auto& message) {
    const auto frames = encode(message);
    if constexpr (std::is_constructible_v<ToCoordinator, decltype(message)>) {
      return decode_to_coordinator(frames.header, frames.body).has_value();
    } else {
      return decode_to_worker(frames.header, frames.body).has_value();
    }
  };
  const EntryKey key{EntryKind::embedding, samples::digest(1)};
  const auto keys = [&](std::size_t count) { return std::vector<EntryKey>(count, key); };
  const auto entries = [&](std::size_t count) { return std::vector<LentEntry>(count, {key, "x"}); };
  EXPECT_TRUE(taken(Seek{"r", keys(max_entries)}));
  EXPECT_TRUE(taken(Lend{"r", keys(max_entries)}));
  EXPECT_TRUE(taken(Lent{"r", entries(max_entries)}));
  EXPECT_TRUE(taken(Found{"r", entries(max_entries)}));
  EXPECT_TRUE(taken(Stored{"r", keys(max_entries - 1), keys(1)}));
  EXPECT_FALSE(taken(Seek{"r", keys(max_entries + 1)}));
  EXPECT_FALSE(taken(Lend{"r", keys(max_entries + 1)}));
  EXPECT_FALSE(taken(Lent{"r", entries(max_entries + 1)}));
  EXPECT_FALSE(taken(Found{"r", entries(max_entries + 1)}));
  EXPECT_FALSE(taken(Stored{"r", keys(max_entries), keys(1)}));
}

TEST(Malformed, AnEntryThatIsTooLargeOrNotLent) {
  const auto problem = [](const LentEntry& entry) {
    const auto frames = encode(Found{"r", {entry}});
    const auto decoded = decode_to_worker(frames.header, frames.body);
    return decoded ? std::string() : decoded.error().message;
  };
  const EntryKey answer{EntryKind::answer, samples::digest(1)};
  EXPECT_EQ(problem({answer, std::string(defaults::max_entry_bytes, 'x')}), "");
  EXPECT_EQ(problem({answer, std::string(defaults::max_entry_bytes + 1, 'x')}),
            "malformed FOUND: field 1.0.1: shorter binary was expected");
  EXPECT_EQ(problem({{EntryKind::outcome, answer.digest}, "x"}),
            "malformed FOUND: field 1.0.0.0: a known number was expected");
  auto body = encode(Found{"r", {{answer, "text"}}}).body;
  body.replace(body.size() - 6, 2, "\xd9\x04");
  const auto as_text = decode_to_worker("SL\x08\x18", body);
  ASSERT_FALSE(as_text);
  EXPECT_EQ(as_text.error().message, "malformed FOUND: field 1.0.1: binary was expected");
}

TEST(Malformed, AHeaderOfAProviderThatAddsAnother) {
  const auto taken = [](const ProviderHeader& header) {
    Welcome welcome{samples::settings()};
    welcome.settings.providers.front().headers = {header};
    const auto frames = encode(welcome);
    return decode_to_worker(frames.header, frames.body).has_value();
  };
  EXPECT_TRUE(taken({"X-Title", "evals", ""}));
  EXPECT_FALSE(taken({"X-Title", "evals\r\nX-Evil: 1", ""}));
  EXPECT_FALSE(taken({"X-Title: a\r\nX-Evil", "1", ""}));
  EXPECT_FALSE(taken({"Host", "elsewhere", ""}));
}

/// Units are leased with their answers: nobody reports one as stored, and it has no place in the ledger's
/// tables.
TEST(Malformed, StoredNamesLeasedEntriesAlone) {
  const auto problem = [](const Stored& stored) {
    const auto frames = encode(stored);
    const auto decoded = decode_to_coordinator(frames.header, frames.body);
    return decoded ? std::string() : decoded.error().message;
  };
  const EntryKey answer{EntryKind::answer, samples::digest(1)};
  const EntryKey vote{EntryKind::vote, samples::digest(1)};
  EXPECT_EQ(problem({"r", {vote}, {vote}}), "");
  for (const auto& stored : {Stored{"r", {vote, answer}, {}}, Stored{"r", {vote}, {answer}}}) {
    EXPECT_EQ(problem(stored), "malformed STORED: the message: an embedding or a vote was expected");
  }
}

TEST(Malformed, JudgeMetricsHaveSoManyVotesAndAreOfAJudge) {
  const auto is_taken = [](auto change) {
    auto work = samples::work();
    change(work.units[0].tasks[1].judged.at(0));
    const auto frames = encode(work);
    return decode_to_worker(frames.header, frames.body).has_value();
  };
  using Expected = JudgeExpectation;
  EXPECT_TRUE(is_taken([](Expected& one) { one.samples = defaults::max_judge_samples; }));
  EXPECT_FALSE(is_taken([](Expected& one) { one.samples = 0; }));
  EXPECT_FALSE(is_taken([](Expected& one) { one.samples = defaults::max_judge_samples + 1; }));
  EXPECT_FALSE(is_taken([](Expected& one) { one.metric = MetricId::must_contain; }));
  EXPECT_FALSE(is_taken([](Expected& one) { one.min_score = 1.5; }));
  const auto is_reported = [](auto change) {
    auto result = samples::scored_result();
    change(result.scores.at(0).judged.at(0));
    return decode_result(encode_result(result)).has_value();
  };
  EXPECT_TRUE(is_reported([](JudgeScore& one) { one.votes.resize(defaults::max_judge_samples); }));
  EXPECT_FALSE(is_reported([](JudgeScore& one) { one.votes.resize(defaults::max_judge_samples + 1); }));
  EXPECT_FALSE(is_reported([](JudgeScore& one) { one.votes.clear(); }));
  EXPECT_FALSE(is_reported([](JudgeScore& one) { one.votes[0].score = -0.25; }));
  EXPECT_FALSE(is_reported([](JudgeScore& one) { one.metric = MetricId::claims_f1; }));
  EXPECT_FALSE(is_reported([](JudgeScore& one) { one.source = static_cast<JudgeSource>(9); }));
}

TEST(Malformed, AGradeIsSoundOrRefused) {
  const auto is_reported = [](auto change) {
    auto result = samples::scored_result();
    change(*result.grade);
    return decode_result(encode_result(result)).has_value();
  };
  EXPECT_TRUE(is_reported([](GradingResult& one) { one.grade.quality_score = 1.0; }));
  EXPECT_FALSE(is_reported([](GradingResult& one) { one.grade.quality_score = 1.25; }));
  EXPECT_FALSE(is_reported([](GradingResult& one) { one.grade.quality_score = std::nan(""); }));
  EXPECT_FALSE(is_reported([](GradingResult& one) { one.grade.orders->candidate_first = -0.5; }));
  EXPECT_FALSE(is_reported([](GradingResult& one) { one.grade.grader_id.clear(); }));
  auto long_answers = samples::scored_result();
  long_answers.grade->baseline.text.assign(defaults::max_graded_bytes + 10, 'x');
  const auto read = decode_result(encode_result(long_answers));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->grade->baseline.text.size(), defaults::max_graded_bytes) << "cut, and not refused";
}

// The coordinator and the workers log them, and an honest one of any length must arrive.
TEST(Malformed, ASentenceThatIsTooLongIsCutAndNotRefused) {
  const std::string endless(1u << 20, '#');
  const auto arrived = [](const auto& message) {
    const auto frames = encode(message);
    if constexpr (std::is_constructible_v<ToCoordinator, decltype(message)>) {
      return std::get<std::remove_cvref_t<decltype(message)>>(
          decode_to_coordinator(frames.header, frames.body).value());
    } else {
      return std::get<std::remove_cvref_t<decltype(message)>>(
          decode_to_worker(frames.header, frames.body).value());
    }
  };
  const Error problem{Reason::key_refused, endless};
  for (const std::string& sentence :
       {arrived(Goodbye{endless}).reason, arrived(Drain{"r", endless, 0, false}).reason,
        arrived(Reject{RejectCode::not_taken, endless}).detail,
        arrived(Ready{"r", {problem}, 1, {}}).problems.at(0).message}) {
    EXPECT_EQ(sentence.size(), max_sentence_bytes);
    EXPECT_TRUE(sentence.ends_with("#..."));
  }
  const std::string longest(max_sentence_bytes, 'x');
  EXPECT_EQ(arrived(Goodbye{longest}).reason, longest);
  UnitResult result = samples::scored_result();
  result.observed.emplace().text = endless;
  EXPECT_EQ(decode_result(encode_result(result)).value().observed->text, endless) << "an answer stays whole";
}

/// A shared text is named by a position in the message's table.
TEST(Malformed, PositionBeyondTheSharedTexts) {
  Work work{"r", {}};
  WorkUnit unit;
  unit.request.system = share("s");
  work.units = {unit};
  auto body = encode(work).body;
  const auto table = body.find("\x91\xa1s", 0, 3);
  ASSERT_NE(table, std::string::npos);
  body.replace(table, 3, "\x90");  // The table is empty now, and the unit's position 0 points beyond it.
  const auto decoded = decode_to_worker("SL\x08\x12", body);
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("shared text"), std::string::npos) << decoded.error().message;
}

}  // namespace
}  // namespace sluice::wire
