#pragma once

#include "tests/provider_sim/simulator.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {

/// A reply taken apart.
struct Answer {
  int status = 0;
  std::string head;
  nlohmann::json json;
  Reply reply;
  bool has(std::string_view line) const { return head.find(std::string(line) + "\r\n") != std::string::npos; }
};

/// A simulator without a socket, and requests as its clients send them.
class SimulatorTest : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  void configure(SimSettings settings) {
    simulator_ = std::make_unique<Simulator>(std::move(settings), log_);
  }

  Answer post(const std::string& target, const std::string& body, std::vector<HttpHeader> headers = {}) {
    HttpRequest request;
    request.method = "POST";
    request.target = target;
    request.body = body;
    request.headers = std::move(headers);
    Answer answer;
    simulator_->respond(request, 1, false, now_us_, answer.reply);
    simulator_->finished(answer.reply, false, now_us_);
    const std::string& bytes = answer.reply.bytes;
    const auto split = bytes.find("\r\n\r\n");
    if (split == std::string::npos) return answer;
    answer.head = bytes.substr(0, split + 2);
    answer.status = std::stoi(bytes.substr(9, 3));
    answer.json = Json::parse(bytes.substr(split + 4), nullptr, false);
    return answer;
  }

  Answer openai(const std::string& message, std::uint64_t max_tokens = 4096) {
    const Json body{
        {"model", "gpt"},
        {"max_completion_tokens", max_tokens},
        {"messages",
         {{{"role", "system"}, {"content", "verify=False"}}, {{"role", "user"}, {"content", message}}}}};
    return post("/v1/chat/completions", body.dump());
  }
  Answer anthropic(const std::string& message) {
    const Json body{{"model", "claude"},
                    {"max_tokens", 4096},
                    {"system", "ghp_"},
                    {"messages", {{{"role", "user"}, {"content", {{{"type", "text"}, {"text", message}}}}}}}};
    return post("/v1/messages", body.dump(), {{"anthropic-version", "2023-06-01"}});
  }
  Answer gemini(const std::string& message) {
    const Json body{{"systemInstruction", {{"parts", {{{"text", "ghp_"}}}}}},
                    {"contents", {{{"role", "user"}, {"parts", {{{"text", message}}}}}}}};
    return post("/v1beta/models/gemini-2.0-flash:generateContent", body.dump());
  }
  static std::string text_of(const Answer& openai_answer) {
    return openai_answer.json["choices"][0]["message"]["content"].get<std::string>();
  }

  EventLog log_;
  std::int64_t now_us_ = 1'000'000;
  std::unique_ptr<Simulator> simulator_ = std::make_unique<Simulator>(SimSettings{}, log_);
};

}  // namespace sluice::sim
