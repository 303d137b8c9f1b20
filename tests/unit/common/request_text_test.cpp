#include "common/model/request_text.hpp"

#include "common/hash.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RequestText, OfAPromptIsThePrompt) {
  ModelRequest request;
  request.user = "Who are you?";
  EXPECT_EQ(request_text(request), "Who are you?");
}

TEST(RequestText, HasTheConversationAndAllThatIsAskedBeside) {
  ModelRequest request;
  request.user = "And now?";
  request.response_schema = share(R"({"type":"object"})");
  request.extras.messages = {
      {MessageRole::user, {{PartKind::text, "Look."}, {PartKind::image_url, "https://a/b"}}},
      {MessageRole::assistant, {}, {{"call_1", "look_up", "{}"}}},
      {MessageRole::tool, {{PartKind::text, "paid"}}, {}, "call_1", "look_up"},
      {MessageRole::user, {{PartKind::asked}, {PartKind::image_data, "QUJD", "image/png"}}}};
  request.extras.tools = {{"look_up", "Finds.", "{}"}};
  request.extras.tool_choice = "auto";
  request.extras.format = {true, "order", true};
  request.extras.params = {{"top_p", "0.9"}};
  EXPECT_EQ(request_text(request),
            "[user]\nLook.\n(image https://a/b)\n\n[assistant]\n(calls look_up {} as call_1)\n\n"
            "[tool look_up call_1]\npaid\n\n[user]\nAnd now?\n(image/png of 3 bytes, " +
                to_hex(sha256("QUJD")).substr(0, 16) +
                ")\n\n[tool look_up]\nFinds.\n{}\n\n[tool choice auto]\n\n[answer in JSON, order, strict]\n"
                "{\"type\":\"object\"}\n\n[parameters]\n{\"top_p\":0.9}");
}

}  // namespace
}  // namespace sluice
