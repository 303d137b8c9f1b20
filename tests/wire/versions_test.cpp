// One version back: what it had stays as it was, and whoever speaks another is named.
#include "common/wire/versions.hpp"

#include "common/wire/codec.hpp"
#include "tests/support/paths.hpp"
#include "tests/wire/samples.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

constexpr std::uint8_t before = oldest_protocol_version;

/// The two frames of a golden file, whose first line is the header.
Frames golden_of_before(const std::string& name) {
  std::ifstream file(support::source_path("tests/wire/golden/v8/" + name + ".hex"));
  Frames frames;
  std::string line;
  for (bool first = true; std::getline(file, line); first = false) {
    for (std::size_t i = 0; i + 1 < line.size(); i += 2)
      (first ? frames.header : frames.body) += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  }
  return frames;
}

// The files were written by the code of that version.
TEST(Versions, TheOneBeforeHasTheBytesThatItHad) {
  static_assert(before == 8, "keep the golden files of the version before, and name their folder here");
  for (const auto& sample : samples::all()) {
    const auto golden = golden_of_before(sample.name);
    ASSERT_FALSE(golden.body.empty()) << sample.name;
    const auto frames = std::visit([](const auto& side) { return encode(side, before); }, sample.message);
    EXPECT_EQ(frames.header, golden.header) << sample.name;
    EXPECT_EQ(frames.body, golden.body) << sample.name;
  }
}

// It refuses a message with a reason that it does not know, and all results in it.
TEST(Versions, AReasonThatTheOneBeforeDoesNotKnowIsTheNextThatItKnows) {
  for (const auto& sample : samples::all()) {
    const auto* side = std::get_if<ToCoordinator>(&sample.message);
    if (side == nullptr || !std::holds_alternative<Report>(*side)) continue;
    Report report = std::get<Report>(*side);
    ASSERT_FALSE(report.results.empty());
    report.results.front().error = Error{Reason::provider_changed, "changed"};
    for (const auto& [version, reason] : {std::pair{before, Reason::provider_unreachable},
                                          std::pair{protocol_version, Reason::provider_changed}}) {
      const auto frames = encode(ToCoordinator(report), version);
      const auto read = decode_to_coordinator(frames.header, frames.body);
      ASSERT_TRUE(read) << read.error().message;
      const Report& arrived = std::get<Report>(*read);
      EXPECT_EQ(arrived.results.front().error->reason, reason);
      EXPECT_EQ(arrived.results.front().error->message, "changed");
    }
  }
}

TEST(Versions, ABaselineThatWasStoredIsLeftOutForTheOneBefore) {
  UnitResult result = samples::scored_result();
  result.stored_baseline = samples::digest(77);
  for (const auto& [version, stored] :
       {std::pair{before, Digest{}}, std::pair{protocol_version, samples::digest(77)}}) {
    const auto frames = encode(ToCoordinator(Report{"run-1", 1, {}, {result}}), version);
    const auto read = decode_to_coordinator(frames.header, frames.body);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(std::get<Report>(*read).results.front().stored_baseline, stored);
  }
}

TEST(Versions, TheErrorOfAGoodbyeIsLeftOutForTheOneBefore) {
  const Goodbye goodbye{"it cannot be read", Reason::message_malformed};
  for (const auto& [version, error] :
       {std::pair{before, std::optional<Reason>()}, std::pair{protocol_version, goodbye.error}}) {
    const auto frames = encode(goodbye, version);
    const auto read = decode_to_coordinator(frames.header, frames.body);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(std::get<Goodbye>(*read), (Goodbye{goodbye.reason, error}));
  }
}

TEST(Versions, TimesOfCallsAreLeftOutForTheOneBefore) {
  const Heartbeat heartbeat{"run-1", 1, 2, {samples::limited_demand()}, 3};
  using Deviation = std::optional<std::uint64_t>;
  for (const auto& [version, timed_out, deviation_us, oldest_ms] :
       {std::tuple{before, 0u, Deviation{}, 0u},
        std::tuple{protocol_version, 5u, Deviation{210'000}, 42'000u}}) {
    const auto frames = encode(ToCoordinator(heartbeat), version);
    const auto read = decode_to_coordinator(frames.header, frames.body);
    ASSERT_TRUE(read) << read.error().message;
    const Demand& demand = std::get<Heartbeat>(*read).demands.at(0);
    EXPECT_EQ(demand.outcomes.timed_out, timed_out);
    EXPECT_EQ(demand.outcomes.latency_deviation_us, deviation_us);
    EXPECT_EQ(demand.oldest_ms, oldest_ms);
    EXPECT_EQ(demand.uncertainty_us, samples::limited_demand().uncertainty_us);
  }
}

TEST(Versions, TheOneBeforeIsRead) {
  for (const auto& sample : samples::all()) {
    const auto golden = golden_of_before(sample.name);
    if (std::holds_alternative<ToCoordinator>(sample.message)) {
      const auto read = decode_to_coordinator(golden.header, golden.body);
      ASSERT_TRUE(read) << sample.name << ": " << read.error().message;
      EXPECT_EQ(encode(*read, before).body, golden.body) << sample.name;
    } else {
      const auto read = decode_to_worker(golden.header, golden.body);
      ASSERT_TRUE(read) << sample.name << ": " << read.error().message;
      EXPECT_EQ(encode(*read, before).body, golden.body) << sample.name;
    }
  }
  const auto hello = golden_of_before("hello");
  EXPECT_EQ(std::get<Hello>(*decode_to_coordinator(hello.header, hello.body)).protocol, before);
  const auto welcome = golden_of_before("welcome");
  EXPECT_EQ(std::get<Welcome>(*decode_to_worker(welcome.header, welcome.body)).protocol, before);
}

TEST(Versions, AFieldOfTheOneIsMalformedInTheOther) {
  const auto now = encode(samples::work());
  const auto then = encode(samples::work(), before);
  const auto context_of = [](const Frames& frames) {
    const auto read = decode_to_worker(frames.header, frames.body);
    return std::get<Work>(read.value()).units.at(0).tasks.at(1).judged.at(1).context;
  };
  EXPECT_EQ(context_of(now), "It opens at nine.");
  EXPECT_EQ(context_of(then), "");
  EXPECT_FALSE(decode_to_worker(then.header, now.body));
  EXPECT_FALSE(decode_to_worker(now.header, then.body));
}

TEST(Versions, ARunThatTheOneBeforeCannotDoSaysSo) {
  RunSettings settings;
  EXPECT_EQ(beyond_protocol(settings, {}, before), std::nullopt);
  settings.judge.gives_context = true;
  EXPECT_EQ(beyond_protocol(settings, {}, protocol_version), std::nullopt);
  EXPECT_EQ(
      *beyond_protocol(settings, {}, before),
      "this run needs a later version of sluice (a judge metric has a context of its own, which version "
      "8 of the protocol does not know): install " SLUICE_VERSION " on the worker");
  settings.judge.gives_context = false;
  settings.judge.rubrics = {{"context_recall", "v1", "s", "u"}};
  EXPECT_EQ(beyond_protocol(settings, {}, protocol_version), std::nullopt);
  EXPECT_TRUE(beyond_protocol(settings, {}, before)) << "it knows no such metric";
  // It would have read no call, so that not_tool_call had passed.
  EXPECT_TRUE(beyond_protocol(RunSettings(), {.recorded_calls = true}, before));
  EXPECT_FALSE(beyond_protocol(RunSettings(), {.recorded_calls = true}, protocol_version));
  // It would have refused the units, and been given them again and again.
  EXPECT_TRUE(beyond_protocol(RunSettings(), {.checks_of_all_calls = true}, before));
  EXPECT_FALSE(beyond_protocol(RunSettings(), {.checks_of_all_calls = true}, protocol_version));
  // It knows no such metric, and reads no message with one.
  EXPECT_NE(
      beyond_protocol(RunSettings(), {.non_answers = true}, before)->find("a test checks for a refusal"),
      std::string::npos);
  EXPECT_FALSE(beyond_protocol(RunSettings(), {.non_answers = true}, protocol_version));
  EXPECT_NE(beyond_protocol(RunSettings(), {.labels = true}, before)->find("a test expects a label"),
            std::string::npos);
  EXPECT_FALSE(beyond_protocol(RunSettings(), {.labels = true}, protocol_version));
}

TEST(Versions, AHelloOfOneThatIsNotSpokenSaysWhoAndOfWhatVersion) {
  for (const int version : {before - 1, protocol_version + 1}) {
    auto frames = encode(Hello{7, "gpu-7", "cache", "3.1.0", 5});
    frames.header[2] = static_cast<char>(version);
    const auto read = decode_to_coordinator(frames.header, frames.body);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, Reason::protocol_mismatch);
    EXPECT_EQ(read.error().message, "worker gpu-7 (sluice 3.1.0) speaks version " + std::to_string(version) +
                                        " of the protocol, and the coordinator (sluice " SLUICE_VERSION
                                        ") speaks 8 and 9: install the same version on both sides");
    frames.body = "\xc1";
    EXPECT_TRUE(
        decode_to_coordinator(frames.header, frames.body).error().message.starts_with("a worker speaks"));
  }
}

// Both sides log it, and the REJECT has it as well.
TEST(Versions, AHelloOfOneThatIsNotSpokenSaysNoMoreThanASentence) {
  auto frames = encode(Hello{7, std::string(1u << 20, '#'), "cache", std::string(1u << 20, '9'), 5});
  frames.header[2] = 99;
  const auto read = decode_to_coordinator(frames.header, frames.body);
  ASSERT_FALSE(read);
  EXPECT_LT(read.error().message.size(), 1024u);
  EXPECT_TRUE(read.error().message.starts_with("worker ###")) << read.error().message;
}

TEST(Versions, ARejectIsReadInAnyVersion) {
  auto frames = encode(Reject{RejectCode::protocol_mismatch, "why"});
  frames.header[2] = 99;
  EXPECT_FALSE(decode_to_worker(frames.header, frames.body));
  EXPECT_EQ(reject_of_any_version(frames.header, frames.body),
            (Reject{RejectCode::protocol_mismatch, "why"}));
  EXPECT_EQ(reject_of_any_version(frames.header, "\xc1"), std::nullopt);
  frames = encode(Drain{"r", "x"});
  EXPECT_EQ(reject_of_any_version(frames.header, frames.body), std::nullopt);
}

TEST(Versions, OneSentenceNamesBothSides) {
  EXPECT_EQ(other_version("worker w", SLUICE_VERSION, protocol_version), std::nullopt);
  EXPECT_EQ(*other_version("worker w", "0.0.9", protocol_version),
            "worker w (sluice 0.0.9) is of another version than this side (sluice " SLUICE_VERSION
            "): they speak the same protocol, and go on");
  EXPECT_EQ(*other_version("the coordinator", "", before),
            "the coordinator speaks version 8 of the protocol, and this side (sluice " SLUICE_VERSION
            ") 9: they go on by 8, and the next version of sluice will not");
}

}  // namespace
}  // namespace sluice::wire
