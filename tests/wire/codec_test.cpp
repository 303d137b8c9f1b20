#include "common/wire/codec.hpp"

#include "common/defaults.hpp"
#include "common/wire/archive.hpp"
#include "tests/wire/samples.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

template <class Message>
Message through_wire(const Message& message) {
  const auto frames = encode(message);
  if constexpr (std::is_constructible_v<ToCoordinator, Message>) {
    auto decoded = decode_to_coordinator(frames.header, frames.body);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return std::get<Message>(decoded.value());
  } else {
    auto decoded = decode_to_worker(frames.header, frames.body);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return std::get<Message>(decoded.value());
  }
}

Error refused_by_coordinator(const Frames& frames) {
  const auto decoded = decode_to_coordinator(frames.header, frames.body);
  EXPECT_FALSE(decoded);
  return decoded ? Error{} : decoded.error();
}

TEST(Codec, EveryFieldOfTheSamplesArrives) {
  for (const auto& sample : samples::all()) {
    const auto frames = samples::frames_of(sample);
    if (const auto* up = std::get_if<ToCoordinator>(&sample.message)) {
      EXPECT_EQ(decode_to_coordinator(frames.header, frames.body).value(), *up) << sample.name;
    } else if (sample.name != "work") {  // WORK has no ==: its texts are shared. The next test compares it.
      const auto arrived = decode_to_worker(frames.header, frames.body).value();
      EXPECT_EQ(samples::frames_of({sample.name, arrived}).body, frames.body) << sample.name;
    }
  }
}

TEST(Codec, UnitsOfOneWorkShareTheirTexts) {
  const auto sent = samples::work();
  const auto work = through_wire(sent);
  ASSERT_EQ(work.units.size(), 2u);
  const auto& first = work.units[0].request;
  const auto& second = work.units[1].request;
  EXPECT_EQ(*first.system, "You read code.");
  EXPECT_EQ(first.system, second.system) << "equal texts are one object";
  EXPECT_EQ(*first.response_schema, "{\"type\":\"object\"}");
  EXPECT_EQ(second.response_schema, nullptr);
  EXPECT_EQ(first.seed, -5);
  EXPECT_EQ(second.seed, std::nullopt);
  EXPECT_EQ(first.user, "def f(): ...");
  EXPECT_EQ(work.units[0].key, samples::digest(9));
  EXPECT_EQ(work.units[0].pinned_answer, samples::digest(10));
  EXPECT_EQ(work.units[0].repeat, 2u);
}

TEST(Codec, SharedTextIsWrittenOnce) {
  Work work{"run", {}};
  const auto system = share(std::string(10'000, 's'));
  for (UnitId i = 0; i < 50; ++i) {
    WorkUnit unit;
    unit.unit = i;
    unit.request.system = system;
    work.units.push_back(unit);
  }
  EXPECT_LT(encode(work).body.size(), 20'000u);
}

// Of a trace it may be anything; the worker refused the whole message, each time that it came.
TEST(Codec, TheModelOfARecordedAnswerIsCutToTheLengthOfAName) {
  Work work{"run", std::vector<WorkUnit>(1)};
  work.units[0].recorded = RecordedAnswer{"text", std::string(max_name_bytes - 1, 'm') + "\u20ac", {}};
  EXPECT_EQ(through_wire(work).units.at(0).recorded->model, std::string(max_name_bytes - 1, 'm'));
}

TEST(Codec, RationaleNeverCrosses) {
  const auto frames = encode(samples::work());
  EXPECT_EQ(frames.body.find("shown to people only"), std::string::npos);
  const auto work = through_wire(samples::work());
  ASSERT_EQ(work.units[0].tasks.size(), 2u);
  const auto& task = work.units[0].tasks[0];
  EXPECT_EQ(task.must_contain, (std::vector<ExpectedClaim>{{"tls", "verified", true, std::nullopt}}));
  EXPECT_EQ(task.must_not_contain, (std::vector<ExpectedClaim>{{"retries", "count", -0.5, std::nullopt}}));
  EXPECT_EQ(task.min_confidence, 0.25);
  EXPECT_EQ(task.trial, 3u);
}

TEST(Codec, TextExpectationsArriveInTheirOrder) {
  const auto work = through_wire(samples::work());
  const auto& task = work.units[0].tasks.at(1);
  EXPECT_FALSE(task.assesses_claims);
  EXPECT_EQ(task.texts, (std::vector<TextExpectation>{{MetricId::must_contain, {"Paris", "France"}},
                                                      {MetricId::json_schema, {"{}"}}}));
}

TEST(Codec, WhatIsJudgedArrivesInItsOrder) {
  const auto sent = samples::work();
  const auto work = through_wire(sent);
  const auto& task = work.units[0].tasks.at(1);
  EXPECT_EQ(task.judged, sent.units[0].tasks.at(1).judged);
  EXPECT_EQ(task.judged.size(), 2u);
  EXPECT_EQ(task.question, (JudgedQuestion{"Where is the Louvre?", "The Louvre is in Paris."}));
  EXPECT_EQ(work.units[0].tasks.at(0).question, JudgedQuestion{});
}

TEST(Codec, ATextExpectationWithoutTextsOrOfAClaimsMetricIsRefused) {
  const auto refused = [](TextExpectation expectation) {
    auto work = samples::work();
    work.units[0].tasks[1].texts = {std::move(expectation)};
    const auto frames = encode(work);
    return !decode_to_worker(frames.header, frames.body);
  };
  EXPECT_FALSE(refused({MetricId::regex_match, {"x"}}));
  EXPECT_TRUE(refused({MetricId::regex_match, {}}));
  EXPECT_TRUE(refused({MetricId::claims_f1, {"x"}}));
  EXPECT_TRUE(refused({MetricId::correctness, {"x"}}));
}

/// The bytes of an encoded result in which one text was replaced by another of the same length class.
std::string with_text(std::string bytes, const std::string& from, const std::string& to) {
  const auto packed = [](const std::string& text) {
    if (text.size() < 32) return std::string(1, static_cast<char>(0xA0 + text.size())) + text;
    std::string head{'\xda'};
    head += static_cast<char>(text.size() >> 8);
    head += static_cast<char>(text.size() & 0xFF);
    return head + text;
  };
  const auto at = bytes.find(packed(from));
  EXPECT_NE(at, std::string::npos);
  return bytes.replace(at, packed(from).size(), packed(to));
}

TEST(Codec, DetailsAndShownTextsAreBounded) {
  const auto result = samples::scored_result();
  const auto bytes = encode_result(result);
  const auto& detail = result.scores[0].metrics[2].detail;
  EXPECT_TRUE(decode_result(with_text(bytes, detail, std::string(defaults::max_detail_bytes, 'd'))));
  EXPECT_FALSE(decode_result(with_text(bytes, detail, std::string(defaults::max_detail_bytes + 1, 'd'))));
  EXPECT_TRUE(
      decode_result(with_text(bytes, result.shown_text, std::string(defaults::max_shown_bytes, 's'))));
  EXPECT_FALSE(
      decode_result(with_text(bytes, result.shown_text, std::string(defaults::max_shown_bytes + 1, 's'))));
}

TEST(Codec, ALabelIsOfTheMetricLabelAlone) {
  auto result = samples::scored_result();
  auto& outcome = result.scores[0].metrics.back();
  outcome = {MetricId::label, std::nullopt, false, "billing, not refund", "billing"};
  const auto bytes = encode_result(result);
  const auto decoded = decode_result(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, result);
  const auto with_number = [](std::string written, const std::string& from, const std::string& to) {
    const auto at = written.find(from);
    EXPECT_NE(at, std::string::npos);
    return written.replace(at, from.size(), to);
  };
  // An array of five fields, the first of which is the metric's number.
  EXPECT_FALSE(decode_result(with_number(bytes, "\x95\x2f\xc0\xc2", "\x95\x0e\xc0\xc2")));
  outcome.id = MetricId::exact_match;
  EXPECT_FALSE(decode_result(with_number(encode_result(result), "\x94\x0e\xc0\xc2", "\x94\x2f\xc0\xc2")));
}

TEST(Codec, WhatIsTooLongOrForeignToShowIsCutAndMendedByTheWriter) {
  auto result = samples::scored_result();
  result.scores[0].metrics[2].detail = std::string(defaults::max_detail_bytes - 1, 'd') + "\u20ac";
  result.shown_text = std::string(defaults::max_shown_bytes, '\xff');
  const auto decoded = decode_result(encode_result(result));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->scores[0].metrics[2].detail, std::string(defaults::max_detail_bytes - 1, 'd'));
  EXPECT_EQ(decoded->shown_text.size(), defaults::max_shown_bytes / 3 * 3)
      << "replacement characters of three bytes";
}

TEST(Codec, NumbersKeepTheirKind) {
  auto result = samples::scored_result();
  result.claims = {{"a", "b", -0.0, 0.0, std::numeric_limits<std::uint32_t>::max(), true, false},
                   {"a", "b", 1.8446744073709552e19, 1.0, 0, true, false},
                   {"a", "b", 5e-324, 1.0, 0, true, false},
                   {"a", "b", true, 1.0, 0, true, false},
                   {"a", "b", "true", 1.0, 0, true, false}};
  const auto decoded = decode_result(encode_result(result));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, result);
  EXPECT_TRUE(std::signbit(std::get<double>(decoded->claims[0].value)));
}

TEST(Codec, ForeignBytesInAnErrorAreMended) {
  auto result = samples::failed_result();
  result.error->message = "the server said \xff!";
  const auto decoded = decode_result(encode_result(result));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->error->message, "the server said \xEF\xBF\xBD!");
}

TEST(Codec, OtherVersionIsDistinguishedFromMalformed) {
  auto frames = encode(Goodbye{"x"});
  frames.header[2] = protocol_version + 1;
  const auto error = refused_by_coordinator(frames);
  EXPECT_EQ(error.reason, Reason::protocol_mismatch);
  EXPECT_NE(error.message.find("version " + std::to_string(protocol_version + 1)), std::string::npos)
      << error.message;
  EXPECT_EQ(reject_code(error), RejectCode::protocol_mismatch);
}

TEST(Codec, MessageForTheOtherSideIsMalformed) {
  for (const auto& sample : samples::all()) {
    const auto frames = samples::frames_of(sample);
    const bool for_worker = std::holds_alternative<ToWorker>(sample.message);
    const auto to_coordinator = decode_to_coordinator(frames.header, frames.body);
    const auto to_worker = decode_to_worker(frames.header, frames.body);
    EXPECT_EQ(to_coordinator.has_value(), !for_worker) << sample.name;
    EXPECT_EQ(to_worker.has_value(), for_worker) << sample.name;
    const auto& error = for_worker ? to_coordinator.error() : to_worker.error();
    EXPECT_EQ(error.reason, Reason::message_malformed);
  }
}

TEST(Codec, PositionsMustLieWithinTheClaims) {
  const auto refused = [](auto change) {
    auto result = samples::scored_result();
    change(result.scores[0].claims);
    const auto decoded = decode_result(encode_result(result));
    return !decoded && decoded.error().reason == Reason::message_malformed;
  };
  EXPECT_FALSE(refused([](ClaimsScore&) {}));
  EXPECT_TRUE(refused([](ClaimsScore& score) { score.matched[0].claim = 3; }));
  EXPECT_TRUE(refused([](ClaimsScore& score) { score.unexpected[0] = 3; }));
  EXPECT_TRUE(refused([](ClaimsScore& score) { score.forbidden[0].claim = 99; }));
  EXPECT_TRUE(refused([](ClaimsScore& score) { score.missing[0] = defaults::max_wire_items; }));
  EXPECT_TRUE(refused([](ClaimsScore& score) { score.matched[0].expectation = defaults::max_wire_items; }));
}

TEST(Codec, ValuesOutOfRangeAreRefused) {
  const auto refused = [](auto change) {
    auto result = samples::scored_result();
    change(result);
    return !decode_result(encode_result(result));
  };
  EXPECT_TRUE(refused([](UnitResult& r) { r.claims[0].confidence = 1.5; }));
  EXPECT_TRUE(refused([](UnitResult& r) { r.parsed[0].confidence = -0.1; }));
  EXPECT_TRUE(refused([](UnitResult& r) { r.claims[0].value = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused(
      [](UnitResult& r) { r.scores[0].metrics[0].score = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](UnitResult& r) { r.scores[0].metrics[0].id = static_cast<MetricId>(200); }));
  EXPECT_TRUE(refused([](UnitResult& r) { r.error = Error{static_cast<Reason>(999), "x"}; }));
  EXPECT_TRUE(refused([](UnitResult& r) { r.claims[0].predicate = "\xc0\x80"; }));
  EXPECT_FALSE(decode_to_coordinator("SL\x09\x01", encode(Hello{1, std::string(2000, 'n'), "", "", 1}).body));
}

TEST(Codec, TheErrorNamesTheField) {
  auto result = samples::scored_result();
  result.claims[1].confidence = 2.0;
  const auto error = refused_by_coordinator(encode(Report{"run", 1, {}, {result}}));
  EXPECT_EQ(error.message, "malformed REPORT: field 3.0.6.1.3: a number in 0..1 was expected");
}

}  // namespace
}  // namespace sluice::wire
