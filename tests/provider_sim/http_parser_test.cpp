#include "tests/provider_sim/http_parser.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

using Outcome = HttpParser::Outcome;

void feed(HttpParser& parser, std::string_view bytes) {
  const auto space = parser.space(bytes.size());
  std::copy(bytes.begin(), bytes.end(), space.begin());
  parser.commit(bytes.size());
}

constexpr std::string_view simple =
    "POST /v1/messages?beta=true HTTP/1.1\r\nHost: localhost\r\nX-Api-Key:  secret \r\nContent-Length: "
    "5\r\n\r\nhello";

void expect_simple(const HttpRequest& request) {
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/messages?beta=true");
  EXPECT_EQ(request.header("x-api-key"), "secret");
  EXPECT_EQ(request.header("absent"), "");
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE(request.keep_alive);
}

TEST(HttpParser, ReadsARequestInOnePiece) {
  HttpParser parser;
  feed(parser, simple);
  ASSERT_EQ(parser.parse(), Outcome::complete);
  expect_simple(parser.request());
}

TEST(HttpParser, ReadsARequestByteByByte) {
  HttpParser parser;
  for (std::size_t i = 0; i < simple.size(); ++i) {
    ASSERT_EQ(parser.parse(), Outcome::incomplete) << i;
    feed(parser, simple.substr(i, 1));
  }
  ASSERT_EQ(parser.parse(), Outcome::complete);
  expect_simple(parser.request());
}

// Whoever said https:// was left waiting for an answer to the beginning of TLS.
TEST(HttpParser, WhatBeginsNoRequestIsRefusedAtOnce) {
  HttpParser parser;
  feed(parser, "\x16\x03\x01\x02");
  EXPECT_EQ(parser.parse(), Outcome::failed);
  EXPECT_EQ(parser.error_status(), 400);
}

TEST(HttpParser, KeepsPipelinedRequestsApart) {
  HttpParser parser;
  std::string three;
  for (int i = 0; i < 3; ++i) three += simple;
  feed(parser, three);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(parser.parse(), Outcome::complete) << i;
    expect_simple(parser.request());
    parser.discard();
  }
  EXPECT_EQ(parser.parse(), Outcome::incomplete);
}

TEST(HttpParser, GathersChunks) {
  HttpParser parser;
  const std::string_view chunked =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;name=value\r\n, "
      "world\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t cut = 1; cut < chunked.size(); ++cut) {
    feed(parser, chunked.substr(0, cut));
    ASSERT_EQ(parser.parse(), Outcome::incomplete) << cut;
    feed(parser, chunked.substr(cut));
    feed(parser, simple);
    ASSERT_EQ(parser.parse(), Outcome::complete) << cut;
    EXPECT_EQ(parser.request().body, "hello, world");
    parser.discard();
    ASSERT_EQ(parser.parse(), Outcome::complete) << cut;
    expect_simple(parser.request());
    parser.discard();
  }
}

TEST(HttpParser, TakesALargeBody) {
  HttpParser parser;
  const std::string body(max_body_bytes, 'x');
  feed(parser, "POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 1u << 20) {
    ASSERT_EQ(parser.parse(), Outcome::incomplete);
    feed(parser, std::string_view(body).substr(at, 1u << 20));
  }
  ASSERT_EQ(parser.parse(), Outcome::complete);
  EXPECT_EQ(parser.request().body, body);
}

TEST(HttpParser, AsksForTheBodyOnce) {
  HttpParser parser;
  feed(parser, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(parser.take_continue());
  ASSERT_EQ(parser.parse(), Outcome::incomplete);
  EXPECT_TRUE(parser.take_continue());
  EXPECT_FALSE(parser.take_continue());
  feed(parser, "ok");
  ASSERT_EQ(parser.parse(), Outcome::complete);
  EXPECT_EQ(parser.request().body, "ok");
}

TEST(HttpParser, KnowsWhenToClose) {
  HttpParser parser;
  feed(parser, "GET / HTTP/1.1\r\nConnection: close\r\n\r\nGET / HTTP/1.0\r\n\r\nGET / HTTP/1.1\r\n\r\n");
  for (const bool keep_alive : {false, false, true}) {
    ASSERT_EQ(parser.parse(), Outcome::complete);
    EXPECT_EQ(parser.request().keep_alive, keep_alive);
    parser.discard();
  }
}

struct Broken {
  const char* what;
  std::string bytes;
  int status;
};

TEST(HttpParser, RefusesWhatIsBroken) {
  const Broken cases[] = {
      {"no request line", "nonsense\r\n\r\n", 400},
      {"version", "GET / HTTP/2.0\r\n\r\n", 505},
      {"header without colon", "GET / HTTP/1.1\r\nbad header\r\n\r\n", 400},
      {"blank before colon", "GET / HTTP/1.1\r\nContent-Length : 3\r\n\r\n", 400},
      {"length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"length and chunks", "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"body too large", "POST / HTTP/1.1\r\nContent-Length: 33554433\r\n\r\n", 413},
      {"chunk too large", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 413},
      {"chunk size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"chunk end", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", 400},
      {"coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"expectation", "POST / HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417},
      {"endless head", "GET / HTTP/1.1\r\nX: " + std::string(max_head_bytes, 'x'), 431},
  };
  for (const auto& broken : cases) {
    HttpParser parser;
    feed(parser, broken.bytes);
    EXPECT_EQ(parser.parse(), Outcome::failed) << broken.what;
    EXPECT_EQ(parser.error_status(), broken.status) << broken.what;
  }
}

}  // namespace
}  // namespace sluice::sim
