#include "common/settings/tcp_endpoint.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TcpEndpoint, HasAHostAndAPort) {
  const auto plain = parse_tcp_endpoint("tcp://gpu-7.example.com:5555");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "gpu-7.example.com");
  EXPECT_EQ(plain->port, 5555);
  const auto bracketed = parse_tcp_endpoint("tcp://[::1]:0");
  ASSERT_TRUE(bracketed);
  EXPECT_EQ(bracketed->host, "[::1]");
  EXPECT_EQ(bracketed->port, 0);
  for (const char* wrong :
       {"", "tcp://", "tcp://host", "tcp://:5555", "tcp://host:", "tcp://host:x", "tcp://host:-1",
        "tcp://host:65536", "tcp://host:5 ", "tcp://::1:5555", "host:5555", "ipc://host:5555"}) {
    EXPECT_FALSE(parse_tcp_endpoint(wrong)) << wrong;
  }
}

TEST(TcpEndpoint, AWorkerNeedsSomewhereToGo) {
  EXPECT_FALSE(problem_with_connect("tcp://127.0.0.1:5555"));
  EXPECT_FALSE(problem_with_connect("tcp://[fe80::1%eth0]:5555"));
  EXPECT_EQ(problem_with_connect("tcp://:5555"), "--connect must be tcp://HOST:PORT, not \"tcp://:5555\"");
  EXPECT_EQ(problem_with_connect("tcp://127.0.0.1:0"),
            "--connect needs the port that the coordinator says it listens on, from 1 to 65535, not "
            "\"tcp://127.0.0.1:0\"");
  EXPECT_EQ(problem_with_connect("tcp://*:5555"),
            "--connect must name the coordinator's host, not \"tcp://*:5555\": `*` is for listening alone");
}

}  // namespace
}  // namespace sluice
