#include "tests/provider_sim/event_log.hpp"

#include "tests/support/temporary_folder.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {
namespace {

// A body with line ends, as a vote's has them, took several lines.
TEST(EventLogs, HaveEachRequestOnALineOfItsOwn) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "requests.jsonl";
  {
    EventLog log;
    ASSERT_TRUE(log.open_requests(file.string()));
    HttpRequest request;
    request.target = "/v1/chat/completions";
    for (const char* body : {"{\"b\": \"x\\ny\",\r\n  \"a\": [1,\n2]\n}\n", "no\nJSON", "{}"}) {
      request.body = body;
      log.write_request(request);
    }
  }
  std::vector<nlohmann::ordered_json> bodies;
  std::istringstream lines(support::read_text(file));
  for (std::string line; std::getline(lines, line);) {
    const auto one = nlohmann::ordered_json::parse(line, nullptr, false);
    ASSERT_TRUE(one.is_object()) << line;
    EXPECT_EQ(one["target"], "/v1/chat/completions");
    bodies.push_back(one["body"]);
  }
  ASSERT_EQ(bodies.size(), 3u);
  EXPECT_EQ(bodies[0].dump(), R"({"b":"x\ny","a":[1,2]})");
  EXPECT_EQ(bodies[1], "no\nJSON");
  EXPECT_EQ(bodies[2].dump(), "{}");
}

}  // namespace
}  // namespace sluice::sim
