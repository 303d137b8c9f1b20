// What the body of an answer may be packed in.
#include "tests/http/http_fixture.hpp"

namespace sluice::content_encodings_test {

// 10,000 zeros, by gzip.
constexpr char packed[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xf7\x4f\x6d\x0e\x37"
    "\xa0\x00\x00\x00\x00\x00\x00\x00\x00\x00\xe0\xdf\x00\x2e\xca\x3b\x4d\x10\x27\x00\x00";
const std::string bomb(packed, sizeof packed - 1);

// A server that packs whatever it sends answered nothing that could be read.
TEST_F(HttpActorTest, APackedBodyIsUnpackedUpToItsBound) {
  std::string asked;
  RawServer server([&](int, const std::string& request) {
    asked = request;
    return RawServer::Answer{RawServer::ok(bomb, "Content-Encoding: gzip\r\n"), Then::keep};
  });
  EXPECT_EQ(perform(call_to(server.url())).response.body.size(), 10'000u);
  EXPECT_NE(asked.find("Accept-Encoding: gzip, deflate\r\n"), std::string::npos) << asked;
  auto bounded = call_to(server.url());
  bounded.max_body = 9'999;
  expect_failure(perform(std::move(bounded)), Kind::too_large, "more than 9999 bytes");
}

TEST_F(HttpActorTest, OtherEncodingsOfABodyAreRefused) {
  for (const char* encoding : {"br", "zstd", "utf-8, gzip", "utf-8\r\nContent-Encoding: gzip", "gzip, gzip",
                               "gzip\r\nContent-Encoding: gzip", "identity\r\nContent-Encoding: gzip"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      const std::string header = "Content-Encoding: " + std::string(encoding) + "\r\n";
      return RawServer::Answer{RawServer::ok(bomb, header), Then::close};
    });
    const auto done = perform(call_to(server.url()));
    expect_failure(done, Kind::unasked_encoding, "sent an encoding that nobody asked for");
    EXPECT_TRUE(done.failure->header.starts_with("content-encoding: ")) << done.failure->header;
  }
  RawServer broken([&](int, const std::string&) {
    return RawServer::Answer{RawServer::ok("\x1f\x8b packed", "Content-Encoding: gzip\r\n"), Then::close};
  });
  expect_failure(perform(call_to(broken.url())), Kind::connection_lost, "cannot be unpacked");
}

// A part of it is what no mask finds.
TEST_F(HttpActorTest, AnEncodingIsKeptWhole) {
  RawServer server([&](int, const std::string&) {
    return RawServer::Answer{RawServer::ok("x", "Content-Encoding: Bearer " + std::string(200, 'k') + "\r\n"),
                             Then::close};
  });
  const auto done = perform(call_to(server.url()));
  expect_failure(done, Kind::unasked_encoding, "sent an encoding that nobody asked for");
  EXPECT_EQ(done.failure->message.find("kkk"), std::string::npos) << done.failure->message;
  EXPECT_EQ(done.failure->header, "content-encoding: Bearer " + std::string(200, 'k'));
}

// One such page of a proxy, while its server starts, was the end of a run.
TEST_F(HttpActorTest, ARefusalCountsByItsStatusInWhateverItsPageIsPacked) {
  RawServer server([&](int, const std::string&) {
    return RawServer::Answer{
        "HTTP/1.1 503 Service Unavailable\r\nContent-Encoding: gzip, gzip\r\nRetry-After: "
        "7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        Then::close};
  });
  const auto done = perform(call_to(server.url()));
  ASSERT_FALSE(done.failure) << done.failure->message;
  EXPECT_EQ(done.response.status, 503);
}

// Each call to such a server failed.
TEST_F(HttpActorTest, ABodyThatIsSaidToBePlainIsTakenAsItIs) {
  for (const char* encoding : {"none", "None", "identity", "", "UTF-8", "application/json"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      return RawServer::Answer{RawServer::ok("plain", "Content-Encoding: " + std::string(encoding) + "\r\n"),
                               Then::close};
    });
    const auto done = perform(call_to(server.url()));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "plain");
  }
  RawServer server([&](int number, const std::string&) {
    return RawServer::Answer{number == 1 ? RawServer::ok("plain", "Content-Encoding: utf-8\r\n")
                                         : RawServer::ok(bomb, "Content-Encoding: gzip\r\n"),
                             Then::keep};
  });
  EXPECT_EQ(perform(call_to(server.url())).response.body, "plain");
  EXPECT_EQ(perform(call_to(server.url())).response.body.size(), 10'000u) << "the next one is unpacked";
}

// curl (until 8.1) unpacks a transfer encoding though nobody asked for one.
TEST_F(HttpActorTest, NothingIsUnpackedOnItsWay) {
  for (const char* encoding : {"gzip", "deflate, chunked", "chunked, gzip", "GZip"}) {
    SCOPED_TRACE(encoding);
    RawServer server([&](int, const std::string&) {
      return RawServer::Answer{"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + std::string(encoding) +
                                   "\r\nConnection: close\r\n\r\n" + bomb,
                               Then::close};
    });
    const auto done = perform(call_to(server.url()));
    expect_failure(done, Kind::unasked_encoding, "sent an encoding that nobody asked for");
    EXPECT_TRUE(done.failure->header.starts_with("transfer-encoding: ")) << done.failure->header;
  }
}

}  // namespace sluice::content_encodings_test
