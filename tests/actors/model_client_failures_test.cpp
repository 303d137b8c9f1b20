// What a failed call says of its unit and of its provider.
#include "tests/actors/model_client_fixture.hpp"

namespace sluice {
namespace {

TEST_F(ModelClientTest, FatalAnswersAreNotRetried) {
  start();
  complete(1);
  answer(only_call(), 401, "{}");
  EXPECT_EQ(reason_of(only_outcome()), Reason::key_refused);
  pass(5s);
  EXPECT_TRUE(calls().empty());
}

TEST_F(ModelClientTest, AProviderThatNeverAnsweredIsUnreachable) {
  settings.max_retries = 1;
  for (const auto kind : {HttpFailure::Kind::could_not_connect, HttpFailure::Kind::could_not_resolve,
                          HttpFailure::Kind::other}) {
    start();
    complete(1);
    fail_call(only_call(), kind);
    pass(1s);
    fail_call(only_call(), kind);
    EXPECT_EQ(reason_of(only_outcome()), Reason::provider_unreachable);
  }
}

// A base URL with https:// for a server of plain HTTP was tried until the tries or the case's time were
// spent.
TEST_F(ModelClientTest, AProviderWithoutTlsIsUnreachableAtOnce) {
  settings.max_retries = 1;
  start();
  complete(1);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_unreachable);
  complete(2);
  answer_claims(only_call());
  outcomes();
  complete(3);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  pass(1s);
  fail_call(only_call(), HttpFailure::Kind::no_tls);
  EXPECT_EQ(reason_of(only_outcome()), Reason::connection_lost) << "it has answered: something is in its way";
}

// Of nine tests one had the only temperature that the model takes: the others were refused one by one.
TEST_F(ModelClientTest, ATemperatureThatTheModelTookIsRefusedOfOneRequest) {
  start();
  const auto refuses = [&](UnitId id, double temperature) {
    WorkUnit work = *unit(id);
    work.request.temperature = temperature;
    complete({std::make_shared<const WorkUnit>(std::move(work))});
    answer(only_call(), 400,
           R"({"error":{"message":"Unsupported value: 'temperature'","type":"invalid_request_error",)"
           R"("param":"temperature","code":"unsupported_value"}})");
    return reason_of(only_outcome());
  };
  WorkUnit first = *unit(1);
  first.request.temperature = 1;
  complete({std::make_shared<const WorkUnit>(std::move(first))});
  answer_claims(only_call());
  outcomes();
  EXPECT_EQ(refuses(2, 0.3), Reason::parameter_refused);
  EXPECT_EQ(refuses(3, 1), Reason::request_refused) << "something else of it does not go with that";
}

// Such a server was called six times a case, and unreachable in the end.
TEST_F(ModelClientTest, AnAnswerInAnUnaskedEncodingIsNotAskedForAgain) {
  start();
  complete(1);
  fail_call(only_call(), HttpFailure::Kind::unasked_encoding);
  const auto first = only_outcome();
  EXPECT_EQ(reason_of(first), Reason::provider_unreachable) << "each other answer would be in it, too";
  EXPECT_EQ(std::get<Error>(first.outcome).message, "it broke") << "it was reached";
  start();
  complete(1);
  answer_claims(only_call());
  outcomes();
  complete(2);
  fail_call(only_call(), HttpFailure::Kind::unasked_encoding);
  EXPECT_EQ(reason_of(only_outcome()), Reason::provider_failed) << "one of many";
  EXPECT_TRUE(calls().empty());
}

// Each case would wait in vain through all of its calls. One alone may be slower than the others.
TEST_F(ModelClientTest, AProviderThatNeverAnsweredTwoCasesInTimeIsUnreachable) {
  settings.max_retries = 1;
  start();
  const auto time_out = [this] {
    fail_call(only_call(), HttpFailure::Kind::timed_out);
    pass(1s);
    fail_call(only_call(), HttpFailure::Kind::timed_out);
    return only_outcome();
  };
  complete(1);
  EXPECT_EQ(reason_of(time_out()), Reason::timed_out);
  complete(2);
  const auto second = time_out();
  EXPECT_EQ(reason_of(second), Reason::provider_unreachable);
  EXPECT_NE(std::get<Error>(second.outcome).message.find("--request-timeout"), std::string::npos);
}

// Where the time of a case ended before its tries did, each case waited for all of it: hours in all.
TEST_F(ModelClientTest, ItIsUnreachableAlsoWhereTheTimeOfTwoCasesWasSpent) {
  settings.request_timeout = 10s;
  settings.case_timeout = 15s;
  start();
  const auto time_out = [this] {
    pass(10s);
    fail_call(only_call(), HttpFailure::Kind::timed_out);
    pass(2s);
    const auto made = calls();
    EXPECT_EQ(made.size(), 1u);
    EXPECT_LT(made.at(0).total_timeout, 10s) << "there is no more";
    pass(3s);
    fail_call(made.at(0).id, HttpFailure::Kind::timed_out);
    return only_outcome();
  };
  complete(1);
  EXPECT_EQ(reason_of(time_out()), Reason::timed_out);
  complete(2);
  EXPECT_EQ(reason_of(time_out()), Reason::provider_unreachable);
}

TEST_F(ModelClientTest, ACallThatHadLittleTimeLeftSaysNothingOfItsProvider) {
  settings.max_retries = 0;
  settings.request_timeout = 10s;
  settings.case_timeout = 9s;
  start();
  for (const UnitId id : {1u, 2u, 3u}) {
    complete(id);
    const auto made = calls();
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].total_timeout, 9s);
    fail_call(made[0].id, HttpFailure::Kind::timed_out);
    EXPECT_EQ(reason_of(only_outcome()), Reason::timed_out);
  }
}

TEST_F(ModelClientTest, AProviderThatHasAnsweredIsNotUnreachable) {
  settings.max_retries = 0;
  start();
  complete(1);
  answer(only_call(), 400, "bad request");
  EXPECT_EQ(reason_of(only_outcome()), Reason::request_refused);
  complete(2);
  fail_call(only_call(), HttpFailure::Kind::could_not_connect);
  EXPECT_EQ(reason_of(only_outcome()), Reason::connection_lost);
}

TEST_F(ModelClientTest, FailuresHaveTheirReasons) {
  settings.max_retries = 0;
  start();
  complete(1);
  answer_claims(only_call());  // It is reachable.
  outcomes();
  const std::vector<std::pair<HttpFailure::Kind, Reason>> reasons{
      {HttpFailure::Kind::timed_out, Reason::timed_out},
      {HttpFailure::Kind::connection_lost, Reason::connection_lost},
      {HttpFailure::Kind::too_large, Reason::answer_too_large},
  };
  for (const auto& [kind, reason] : reasons) {
    complete(1);
    fail_call(only_call(), kind);
    EXPECT_EQ(reason_of(only_outcome()), reason);
  }
}

}  // namespace
}  // namespace sluice
