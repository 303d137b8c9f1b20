#include "worker/calls/failed_tries.hpp"

#include "tests/unit/worker/fake_request.hpp"
#include "worker/call_failure.hpp"
#include "worker/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace failed_tries_test {

using Kind = NextStep::Kind;

struct FailedTriesTest : testing::Test {
  NextStep fails(const Failed& failed, bool unreachable = false) {
    call.spend.calls += 1;
    return after_failure(call, failed, unreachable, start.now, random);
  }
  static Failed server_error() {
    Failed failed;
    failed.message = "oops";
    failed.retryable = true;
    return failed;
  }
  static Failed refusal(Reason reason) {
    Failed failed;
    failed.reason = reason;
    failed.message = "no";
    return failed;
  }
  static Failed slow_down(std::optional<std::chrono::milliseconds> delay) {
    auto failed = server_error();
    failed.reason = Reason::rate_limited;
    failed.counts_as_rate_limit = true;
    failed.retry_after = delay;
    return failed;
  }
  static HttpDone too_late(bool started) {
    HttpDone done;
    done.failure = HttpFailure{HttpFailure::Kind::permit_expired, "the permit had closed"};
    done.started = started;
    return done;
  }
  /// What the next demand reports of settled permits.
  std::vector<wire::SettledCall> settled() { return provider.budget.demand(0, {}, start.now).settled; }
  void hold_permit(bool probe = false) { call.permit = wire::Permit{5, 0, 0, {}, probe}; }

  const RunSettings settings = two_providers();
  const Moment start = moment_at(0s);
  CalledProvider provider{settings.providers[0], settings.case_timeout};
  FakeRequest request;
  Random random{7};
  Call call{request,  {1, 1}, provider, RetryPolicy({2, 500ms, 8s, 60s}, start.now), OutageClock({}, 6),
            start.now};
};

TEST_F(FailedTriesTest, ItIsTriedAgainAfterABackOffUntilItsTriesAreSpent) {
  for (int i = 0; i < 2; ++i) {
    const auto next = fails(server_error());
    EXPECT_EQ(next.kind, Kind::back_off);
    EXPECT_LE(next.delay, 1s);
  }
  const auto last = fails(server_error());
  EXPECT_EQ(last.kind, Kind::end);
  EXPECT_FALSE(last.out_of_time);
  EXPECT_EQ(last.error, (Error{Reason::provider_failed, "oops; 3 calls were made"}));
  EXPECT_FALSE(provider.fatal);
}

// A site that answers each path with its page was taken for an outage of ten minutes.
TEST_F(FailedTriesTest, APageInPlaceOfEachAnswerIsAWrongAddress) {
  Failed page = server_error();
  page.is_web_page = true;
  const auto page_at = [&](Duration after) {
    note_failure(call, page, 200, start.now + after);
    return after_failure(call, page, false, start.now + after, random);
  };
  for (int i = 0; i < 20; ++i) page_at(i * 1s);
  EXPECT_FALSE(provider.fatal) << "a gateway that starts may have a page for that";
  note_failure(call, server_error(), 503, start.now + 20s);
  for (int i = 0; i < 4; ++i) page_at(31s + i * 8s);
  EXPECT_FALSE(provider.fatal) << "something else came between";
  EXPECT_EQ(page_at(61s).error.reason, Reason::provider_unreachable);
  ASSERT_TRUE(provider.fatal);
  EXPECT_NE(provider.fatal->message.find("check its base URL"), std::string::npos) << provider.fatal->message;

  provider.fatal.reset();
  provider.failure_words.answered();
  page_at(100s);
  EXPECT_FALSE(provider.fatal) << "its gateway may have a page for an outage";
}

TEST_F(FailedTriesTest, ANamedDelayIsTheProvidersPauseNotTheCallsWait) {
  EXPECT_EQ(fails(slow_down(5s)).kind, Kind::ready);
  EXPECT_EQ(call.spend.rate_limited, 1u);
  EXPECT_EQ(fails(slow_down(std::nullopt)).kind, Kind::back_off);
}

TEST_F(FailedTriesTest, RefusalsWhereNobodyIsAnsweredSpendNoTry) {
  EXPECT_EQ(fails(slow_down(std::nullopt)).kind, Kind::back_off) << "the first of two";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fails(slow_down(std::nullopt)).kind, Kind::back_off) << i;
  const auto answer = [&] { provider.budget.answered(1ms, start.now + 1ms); };
  answer();
  EXPECT_EQ(fails(slow_down(std::nullopt)).kind, Kind::back_off);
  EXPECT_EQ(fails(slow_down(std::nullopt)).kind, Kind::end);
}

TEST_F(FailedTriesTest, ADelayBeyondTheDeadlineEndsIt) {
  const auto next = fails(slow_down(61s));
  EXPECT_EQ(next.kind, Kind::end);
  EXPECT_TRUE(next.out_of_time);
  EXPECT_EQ(next.error.message, "oops; the time of the case is spent");
}

// "Incorrect API key provided.; check the key in SIM_KEY".
TEST_F(FailedTriesTest, AdviceGoesOnWithTheProvidersSentence) {
  auto refused = refusal(Reason::key_refused);
  refused.message = "answered 401: Incorrect API key provided.";
  refused.advice = "; check the key";
  EXPECT_TRUE(
      fails(refused).error.message.starts_with("answered 401: Incorrect API key provided; check the key"));
}

TEST_F(FailedTriesTest, WhatEveryOtherCallWouldMeetIsTheProviders) {
  fails(refusal(Reason::request_refused));
  EXPECT_FALSE(provider.fatal);
  fails(refusal(Reason::key_refused));
  ASSERT_TRUE(provider.fatal);
  EXPECT_EQ(provider.fatal->reason, Reason::key_refused);
}

// One prompt that a gateway's moderation or a firewall refuses by 403 ended the run, with advice on the key.
TEST_F(FailedTriesTest, AModelThatAnswersMayRefuseOneRequest) {
  auto flagged = refusal(Reason::key_refused);
  flagged.advice = "; check the key";
  flagged.may_be_its_own = true;
  provider.refused_since_answer[request.model()] = 0;
  for (int i = 0; i < 10; ++i) {
    const Error error = fails(flagged).error;
    EXPECT_EQ(error.reason, Reason::request_refused) << i;
    EXPECT_EQ(error.message, "no; other calls of this model are answered") << i;
  }
  EXPECT_FALSE(provider.fatal);
  EXPECT_EQ(fails(flagged).error.message, "no; check the key; 11 calls were made");
  EXPECT_TRUE(provider.fatal) << "so many in a row";
}

// One test's reasoning_effort made the model refuse the temperature, which ended the run.
TEST_F(FailedTriesTest, AModelThatTookAParameterRefusesItOfOneTest) {
  auto refused = refusal(Reason::parameter_refused);
  refused.may_be_its_own = true;
  refused.parameter = "temperature";
  refused.advice = "; send none";
  request.temperature = "0.3";
  EXPECT_EQ(fails(refused).error.reason, Reason::parameter_refused) << "nothing was answered yet";
  note_taken(call);
  for (int i = 0; i < 10; ++i) {
    const Error error = fails(refused).error;
    EXPECT_EQ(error.reason, Reason::request_refused) << i;
    EXPECT_NE(error.message.find("takes it of other calls"), std::string::npos) << error.message;
  }
  const Error again = fails(refused).error;
  EXPECT_EQ(again.reason, Reason::parameter_refused) << "so many in a row";
  EXPECT_NE(again.message.find("; send none"), std::string::npos) << again.message;
  EXPECT_FALSE(provider.fatal) << "it may be the tests' own, which the coordinator knows";
  note_taken(call);
  refused.may_be_its_own = false;
  EXPECT_EQ(fails(refused).error.reason, Reason::parameter_refused) << "every vote carries it";
}

// Of nine tests one had the only temperature that the model takes: the others were refused one by one.
TEST_F(FailedTriesTest, AnAnswerToAnotherTemperatureSaysNothingOfThisOne) {
  auto refused = refusal(Reason::parameter_refused);
  refused.may_be_its_own = true;
  refused.parameter = "temperature";
  request.temperature = "1";
  note_taken(call);
  request.temperature = "0.3";
  EXPECT_EQ(fails(refused).error.reason, Reason::parameter_refused);
}

TEST_F(FailedTriesTest, AModelThatNeverAnsweredTakesNoKey) {
  auto refused = refusal(Reason::key_refused);
  refused.may_be_its_own = true;
  provider.refused_since_answer["another"] = 0;
  EXPECT_EQ(fails(refused).error.reason, Reason::key_refused);
  EXPECT_TRUE(provider.fatal);
}

TEST_F(FailedTriesTest, AFailedProbeCostsNoTryUntilItIsTheCallsOwnFault) {
  hold_permit(true);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(fails(server_error()).kind, Kind::ready) << i;
  EXPECT_EQ(fails(server_error()).kind, Kind::back_off);
}

TEST_F(FailedTriesTest, AProbeThatNeverCameThereIsNotHeldAgainstTheCall) {
  hold_permit(true);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(fails(server_error(), true).kind, Kind::ready) << i;
  EXPECT_EQ(call.outages.failed_probes(), 0u);
}

TEST_F(FailedTriesTest, AProviderThatNeverAnsweredIsUnreachable) {
  for (int i = 0; i < 2; ++i) fails(server_error(), true);
  const auto last = fails(server_error(), true);
  EXPECT_EQ(last.error.reason, Reason::provider_unreachable);
  EXPECT_NE(last.error.message.find("--base-url"), std::string::npos);
}

TEST_F(FailedTriesTest, OneSlowCallIsNoSilentProvider) {
  auto silent = refusal(Reason::timed_out);
  EXPECT_EQ(fails(silent).error.reason, Reason::timed_out);
  EXPECT_EQ(fails(silent).error.reason, Reason::provider_unreachable) << "two are";
  provider.answered = true;
  EXPECT_EQ(fails(silent).error.reason, Reason::timed_out);
}

TEST_F(FailedTriesTest, ATryThatCameTooLateForItsPermitHasSpentNothing) {
  hold_permit();
  call.spend.calls = 2;
  call.spend.retries = 1;
  EXPECT_EQ(after_unsent(call, too_late(false), start.now).kind, Kind::ready);
  EXPECT_EQ(call.spend.calls, 1u);
  EXPECT_EQ(call.spend.retries, 0u);
  EXPECT_EQ(settled(), (std::vector<wire::SettledCall>{{5, {}}}));
}

TEST_F(FailedTriesTest, TriesThatAreAlwaysTooLateEnd) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(after_unsent(call, too_late(true), start.now).kind, Kind::ready) << i;
  const auto last = after_unsent(call, too_late(true), start.now);
  EXPECT_EQ(last.kind, Kind::end);
  EXPECT_EQ(last.error, (Error{Reason::connection_lost, "the permit had closed 9 times in a row"}));
  hold_permit(true);
  EXPECT_EQ(after_unsent(call, too_late(true), start.now).kind, Kind::ready)
      << "a probe may always try again";
}

TEST_F(FailedTriesTest, AKeptConnectionThatDiesIsForgivenOnceForEachTryThatCounts) {
  HttpDone stale;
  stale.started = true;
  stale.failure = HttpFailure{HttpFailure::Kind::went_stale, "closed without an answer"};
  HttpDone lost = stale;
  lost.failure->kind = HttpFailure::Kind::connection_lost;
  EXPECT_FALSE(forgive_stale(call, lost));
  EXPECT_FALSE(call.wants_fresh);
  EXPECT_TRUE(forgive_stale(call, stale));
  EXPECT_TRUE(call.wants_fresh);
  EXPECT_FALSE(forgive_stale(call, lost)) << "a connection of its own dies, too";
  EXPECT_TRUE(forgive_stale(call, stale)) << "of the next try";
  EXPECT_FALSE(forgive_stale(call, stale));
  hold_permit(true);
  EXPECT_FALSE(forgive_stale(call, stale)) << "a probe has its result";
}

// On a machine with ten busy programs, 94 of 8,000 trials ended, though the others were answered.
TEST_F(FailedTriesTest, TriesThatAreTooLateWhileOthersAreAnsweredGoOn) {
  auto now = start.now;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(after_unsent(call, too_late(false), now += 100ms).kind, Kind::ready) << i;
    if (i % 7 == 6) provider.budget.answered(1ms, now + 1ms);
  }
  for (int i = 0; i < 3; ++i) after_unsent(call, too_late(false), now += 100ms);
  EXPECT_EQ(after_unsent(call, too_late(false), now += 100ms).kind, Kind::end) << "nobody was answered since";
}

// 27 cases were tried six times each, and the message said to check a command that had answered.
TEST_F(FailedTriesTest, AProgramThatChangedEndsTheRunAtOnce) {
  hold_permit();
  call.spend.calls = 2;
  call.spend.retries = 1;
  HttpDone done;
  done.failure = HttpFailure{HttpFailure::Kind::program_changed, "the program changed"};
  const Failed failed = read_lost(call, *done.failure, {});
  note_lost(call, done, failed, start.now);
  EXPECT_EQ(call.spend.calls, 1u) << "it was not started";
  EXPECT_EQ(call.spend.retries, 0u);
  EXPECT_EQ(settled(), (std::vector<wire::SettledCall>{{5, {}}}));
  const auto next = after_failure(call, failed, never_connected(done), start.now, random);
  EXPECT_EQ(next.kind, Kind::end);
  EXPECT_EQ(next.error, (Error{Reason::provider_changed, "the program changed"}));
  EXPECT_EQ(provider.fatal, next.error);

  hold_permit();
  done.started = true;
  note_lost(call, done, failed, start.now);
  EXPECT_EQ(call.spend.calls, 1u) << "this one was";
  EXPECT_TRUE(settled().empty());
}

TEST_F(FailedTriesTest, WhatWasNotChargedIsGivenBack) {
  hold_permit();
  note_failure(call, refusal(Reason::request_refused), 400, start.now);
  EXPECT_EQ(settled(), (std::vector<wire::SettledCall>{{5, {}}}));
  note_failure(call, server_error(), 503, start.now);
  EXPECT_TRUE(settled().empty()) << "nobody knows";
  settle(call, {});
  EXPECT_TRUE(settled().empty()) << "the server names no usage";
  settle(call, {30, 40});
  EXPECT_EQ(settled(), (std::vector<wire::SettledCall>{{5, {30, 40}}}));
  hold_permit(true);
  auto broken_off = server_error();
  broken_off.usage = {7, 9};
  note_failure(call, broken_off, 200, start.now);
  EXPECT_EQ(settled(), (std::vector<wire::SettledCall>{{5, {7, 9}}})) << "the body names what it took";
  EXPECT_TRUE(call.probes()) << "what follows from the try goes by its permit";
}

TEST_F(FailedTriesTest, WhatTheGovernorSeesOfAFailure) {
  const auto outcomes = [&] { return provider.budget.demand(0, {}, start.now).outcomes; };
  note_failure(call, refusal(Reason::request_refused), 400, start.now);
  EXPECT_EQ(outcomes().declined, 1u);
  note_failure(call, slow_down(std::nullopt), 429, start.now);
  EXPECT_EQ(outcomes().rate_limited, 1u);
  call.began = provider.failing.begin();
  note_failure(call, server_error(), 500, start.now);
  EXPECT_EQ(outcomes().failed, 1u);
  HttpDone lost;
  lost.failure = HttpFailure{HttpFailure::Kind::could_not_connect, "refused"};
  note_lost(call, lost, server_error(), start.now);
  EXPECT_EQ(outcomes().failed, 1u);
  note_lost(call, lost, refusal(Reason::answer_too_large), start.now);
  EXPECT_EQ(outcomes().declined, 1u);
}

// --- a case that fails alone: its answer, not the provider, is broken ---

struct PoisonedCaseTest : FailedTriesTest {
  void try_fails_at(Call& which, Duration after) {
    which.began = provider.failing.begin();
    note_failure(which, server_error(), 503, start.now + after);
  }
  /// A call that begins now.
  void is_answered_at(Duration after) {
    provider.failing.answered(provider.failing.begin(), start.now + after);
  }
  /// Failures as of an outage, which the next demand reports.
  std::uint32_t reported() { return provider.budget.demand(0, {}, start.now).outcomes.failed; }

  FakeRequest other_request;
  Call other{other_request,      {1, 2},   provider, RetryPolicy({2, 500ms, 8s, 60s}, start.now),
             OutageClock({}, 6), start.now};
};

TEST_F(PoisonedCaseTest, OnceOthersAreAnsweredItIsNoOutage) {
  try_fails_at(call, 0s);
  EXPECT_EQ(reported(), 1u) << "the first one may be anything";
  is_answered_at(1s);
  for (int i = 0; i < 5; ++i) try_fails_at(call, 2s + i * 1s);
  EXPECT_EQ(reported(), 0u);
  try_fails_at(other, 8s);
  try_fails_at(call, 9s);
  EXPECT_EQ(reported(), 1u) << "another one that fails is told of, and does not change what is known";
}

TEST_F(PoisonedCaseTest, ARefusalThatIsTheRequestsOwnIsAnAnswer) {
  try_fails_at(call, 0s);
  other.began = provider.failing.begin();
  note_failure(other, refusal(Reason::request_refused), 400, start.now + 1s);
  try_fails_at(call, 2s);
  EXPECT_EQ(reported(), 1u);
}

TEST_F(PoisonedCaseTest, AProbeOfAnOutageThatFailsIsReported) {
  try_fails_at(call, 0s);
  is_answered_at(1s);
  hold_permit(true);
  try_fails_at(call, 2s);
  EXPECT_EQ(reported(), 2u);
}

// Four inputs that a program could not take held a run for as long as an outage may last.
TEST(FailedTriesOfAProgram, OnceItHasAnsweredOthersItFailsForItsInput) {
  RunSettings settings = two_providers();
  settings.providers[0].kind = ProviderKind::exec;
  const TimePoint now = moment_at(0s).now;
  CalledProvider provider{settings.providers[0], settings.case_timeout};
  FakeRequest request;
  Call call{request, {1, 1}, provider, RetryPolicy({2, 500ms, 8s, 60s}, now), OutageClock({}, 6), now};
  const auto failures = [&] { return provider.budget.demand(0, {}, now).outcomes.failed; };
  Failed failed;
  failed.retryable = true;
  HttpDone crashed;
  crashed.started = true;
  crashed.failure = HttpFailure{HttpFailure::Kind::program_failed, "exit code 1"};

  note_lost(call, crashed, failed, now);
  EXPECT_EQ(failures(), 1u) << "it has never run";
  provider.budget.answered(1ms, now);
  note_lost(call, crashed, failed, now);
  note_failure(call, failed, 200, now);
  EXPECT_EQ(failures(), 0u);
  EXPECT_EQ(provider.failing.leave_places(), 1u) << "others may start meanwhile";
  failed.is_server_error = true;
  note_failure(call, failed, 200, now);
  EXPECT_EQ(failures(), 1u) << "it says so";
  HttpDone not_started;
  not_started.failure = HttpFailure{HttpFailure::Kind::could_not_connect, "no such file"};
  note_lost(call, not_started, failed, now);
  EXPECT_EQ(failures(), 1u);
}

// A server sent the key back as an encoding: its beginning stood in the error, on standard error and in
// reports.
TEST(FailedCall, TakesTheKeyOutOfARefusedHeaderBeforeItIsShortened) {
  const std::string key = "sk-ABCDEFGHIJ-0123456789-abcdefghij";
  for (std::size_t before = 0; before <= defaults::quoted_header_bytes; ++before) {
    HttpFailure failure{HttpFailure::Kind::unasked_encoding, "host sent an encoding"};
    failure.header = "content-encoding: " + std::string(before, '.') + key + " jane@home.io";
    const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"mail", "[a-z]+@[a-z]+\\.io"}});
    const Failed failed = failed_call(failure, KeyMask(key), redactor);
    EXPECT_EQ(failed.message.find("sk-"), std::string::npos) << failed.message;
    EXPECT_EQ(failed.message.find("jane"), std::string::npos) << failed.message;
    EXPECT_TRUE(failed.message.starts_with("host sent an encoding (content-encoding: ")) << failed.message;
  }
}

}  // namespace failed_tries_test
}  // namespace sluice
