// Calls that may start only within a window: the check is made when the request is about to go out.
#include "tests/http/http_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>

namespace sluice {
namespace {

class StartWindowTest : public HttpActorTest {
 protected:
  static StartWindow open_window() { return {boot_clock_now() - 1s, boot_clock_now() + 1h}; }
  static StartWindow closed_window() { return {boot_clock_now() - 2s, boot_clock_now() - 1s}; }

  static HttpCall call_within(const StartWindow& window, const std::string& url, std::uint64_t id = 1) {
    auto call = call_to(url, id);
    call.window = window;
    return call;
  }
};

TEST_F(StartWindowTest, WithinItsWindowACallIsMade) {
  RawServer server([](int, const std::string&) {
    return RawServer::Answer{RawServer::ok("hello"), Then::keep};
  });
  const auto done = perform(call_within(open_window(), server.url()));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_TRUE(done.started);
  EXPECT_EQ(done.response.body, "hello");
}

TEST_F(StartWindowTest, TooLateOrTooEarlyNothingIsSentButTheConnectionIsMadeReady) {
  std::vector<std::string> seen;
  RawServer server([&](int, const std::string& request) {
    seen.push_back(request);
    const bool head = request.starts_with("HEAD ");
    return RawServer::Answer{head ? "HTTP/1.1 404 None\r\nContent-Length: 9\r\n\r\n" : RawServer::ok("hello"),
                             Then::keep};
  });
  expect_failure(perform(call_within(closed_window(), server.url())), Kind::permit_expired, server.host());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].starts_with("HEAD / HTTP/1.1\r\n")) << seen[0];
  EXPECT_EQ(seen[0].find("secret"), std::string::npos) << "the key stays out of it";
  const auto done = perform(call_within(open_window(), server.url()));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_EQ(done.response.body, "hello");
  EXPECT_TRUE(seen.at(1).starts_with("POST /v1/x HTTP/1.1\r\n")) << seen[1];
  EXPECT_TRUE(seen[1].ends_with("\r\n\r\n{\"q\":1}")) << seen[1];
  EXPECT_EQ(server.connections(), 2) << "the one that was too slow, and that of the HEAD";
  const StartWindow later{boot_clock_now() + 1h, boot_clock_now() + 2h};
  const auto early = perform(call_within(later, server.url()));
  EXPECT_FALSE(early.started);
  expect_failure(early, Kind::permit_expired, server.host());
}

// On a kept connection the next permit will do: there is nothing to be made ready.
TEST_F(StartWindowTest, OnAKeptConnectionNoHeadIsSent) {
  RawServer server([](int, const std::string& request) {
    EXPECT_FALSE(request.starts_with("HEAD "));
    return RawServer::Answer{RawServer::ok("hello"), Then::keep};
  });
  perform(call_to(server.url()));
  expect_failure(perform(call_within(closed_window(), server.url())), Kind::permit_expired, server.host());
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(StartWindowTest, AHostThatRefusesTheHeadIsNoWorseThanOneThatTakesIt) {
  RawServer server([](int, const std::string&) { return RawServer::Answer{"", Then::close}; });
  for (int i = 0; i < 3; ++i) {
    expect_failure(perform(call_within(closed_window(), server.url())), Kind::permit_expired, server.host());
  }
  RawServer other([](int, const std::string& request) {
    return RawServer::Answer{RawServer::ok(request.substr(request.size() - 7)), Then::keep};
  });
  EXPECT_EQ(perform(call_to(other.url())).response.body, "{\"q\":1}") << "the handle posts again";
}

TEST_F(StartWindowTest, ARequestThatWouldGoOutASecondTimeSaysThatItsConnectionWentStale) {
  RawServer server([](int number, const std::string&) {
    if (number == 2) return RawServer::Answer{"", Then::close};
    return RawServer::Answer{RawServer::ok("fine"), Then::keep};
  });
  EXPECT_FALSE(perform(call_within(open_window(), server.url())).failure);
  const auto done = perform(call_within(open_window(), server.url()));
  expect_failure(done, Kind::went_stale, server.host());
  EXPECT_TRUE(done.started) << "the first of the two went out";
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(StartWindowTest, ACallThatIsCancelledWhileItsConnectionIsMadeReadyIsCancelled) {
  std::promise<void> head_arrived;
  RawServer server([&](int, const std::string&) {
    head_arrived.set_value();
    return RawServer::Answer{"", Then::hold};
  });
  send(call_within(closed_window(), server.url(), 7));
  head_arrived.get_future().wait();
  self_->send(http_, HttpCancel{7});
  expect_failure(next(), Kind::cancelled, server.host());
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST_F(StartWindowTest, EachRequestThatGoesOutIsLoggedAtItsInstant) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "calls.jsonl";
  auto log = CallLog::open(path);
  ASSERT_TRUE(log) << log.error().message;
  caf::anon_send_exit(http_, caf::exit_reason::user_shutdown);
  http_ = spawn_http(system_, *log);
  RawServer server([](int, const std::string&) { return RawServer::Answer{RawServer::ok("x"), Then::keep}; });
  const auto before = boot_clock_now();
  auto call = call_within(open_window(), server.url());
  call.log_members = R"("unit":1)";
  perform(call);
  perform(call_to(server.url()));  // Nothing is to be reported of it.
  auto late = call_within(closed_window(), server.url());
  late.log_members = R"("unit":2)";
  perform(late);
  const auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 1u);
  const std::string start = R"({"started_us":)";
  ASSERT_TRUE(lines[0].starts_with(start)) << lines[0];
  const auto at = std::stoll(lines[0].substr(start.size()));
  EXPECT_GE(at, before.count());
  EXPECT_LE(at, boot_clock_now().count());
  EXPECT_TRUE(lines[0].ends_with(R"(,"unit":1})")) << lines[0];
}

TEST(CallLog, NamesTheFileThatCannotBeOpened) {
  const auto log = CallLog::open("/no/such/folder/calls.jsonl");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().reason, Reason::output_failed);
  EXPECT_NE(log.error().message.find("/no/such/folder/calls.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace sluice
