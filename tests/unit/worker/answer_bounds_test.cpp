// Each answer that is stored can be read again, exported and lent: all have one bound.
#include "common/defaults.hpp"
#include "worker/cache/entry.hpp"
#include "worker/providers/provider.hpp"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::answer_bounds_test {

/// How a body with calls of tools is written: what stands around the calls, and around the arguments of each.
struct Form {
  ProviderKind kind;
  std::string before;
  std::string call;
  std::string call_end;
  std::string after;
};

const std::vector<Form> forms{
    {ProviderKind::openai, R"({"choices":[{"message":{"tool_calls":[)",
     R"({"function":{"name":"f","arguments":)", "}}", R"(]},"finish_reason":"tool_calls"}]})"},
    {ProviderKind::openai_responses, R"({"status":"completed","output":[)",
     R"({"type":"function_call","name":"f","arguments":)", "}", "]}"},
    {ProviderKind::anthropic, R"({"content":[)", R"({"type":"tool_use","name":"f","input":)", "}",
     R"(],"stop_reason":"tool_use"})"},
    {ProviderKind::gemini, R"({"candidates":[{"content":{"parts":[)",
     R"({"functionCall":{"name":"f","args":)", "}}", R"(]},"finishReason":"STOP"}]})"},
    {ProviderKind::exec, R"({"tool_calls":[)", R"({"name":"f","arguments":)", "}", "]}"}};

CallOutcome read(ProviderKind kind, const std::string& body, const Credentials& credentials = {}) {
  ProviderSettings provider;
  provider.name = "p";
  provider.kind = kind;
  return read_response(provider, {200, {}, body}, std::chrono::system_clock::time_point(), credentials);
}

/// An answer with so many calls, each with a text of so many bytes for arguments.
CallOutcome read(const Form& form, std::size_t calls, std::size_t bytes) {
  const std::string call = form.call + '"' + std::string(bytes, 'x') + '"' + form.call_end;
  std::string body = form.before;
  for (std::size_t i = 0; i < calls; ++i) body += (i == 0 ? "" : ",") + call;
  return read(form.kind, body + form.after);
}

void expect_stored(const Form& form, std::size_t calls, std::size_t bytes) {
  const auto outcome = read(form, calls, bytes);
  ASSERT_TRUE(std::holds_alternative<Answered>(outcome)) << to_string(form.kind);
  const Completion& completion = std::get<Answered>(outcome).completion;
  EXPECT_EQ(completion.calls.size(), calls);
  const Digest key = sha256("key");
  const std::string entry = cache_entry::encode(key, completion);
  EXPECT_LE(entry.size(), defaults::max_entry_bytes) << "it is exported and lent";
  const auto again = cache_entry::decode(key, entry);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, completion);
}

void expect_too_large(const CallOutcome& outcome, ProviderKind kind) {
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome)) << to_string(kind);
  EXPECT_EQ(std::get<Failed>(outcome).reason, Reason::answer_too_large) << to_string(kind);
  EXPECT_FALSE(std::get<Failed>(outcome).retryable);
}

TEST(AnswerBounds, OfCallsThereAreAsManyAsAnEntryCanHave) {
  for (const Form& form : forms) {
    expect_stored(form, defaults::max_wire_items, 1);
    expect_too_large(read(form, defaults::max_wire_items + 1, 1), form.kind);
  }
}

TEST(AnswerBounds, ACallCountsTwiceSinceItIsALineOfTheTextAsWell) {
  for (const Form& form : forms) {
    expect_stored(form, 1, defaults::max_answer_bytes / 2 - 100);
    expect_too_large(read(form, 1, defaults::max_answer_bytes / 2), form.kind);
  }
}

TEST(AnswerBounds, ManyCallsAreBoundedWithWhatIsWrittenOfEach) {
  for (const Form& form : forms) {
    constexpr std::size_t calls = 60'000;
    constexpr std::size_t fitting = (defaults::max_answer_bytes / calls - 60) / 2;
    expect_stored(form, calls, fitting);
    expect_too_large(read(form, calls, fitting + 10), form.kind);
  }
}

// Numbers are written in full: a body of 8 MiB could become an entry of 60.
TEST(AnswerBounds, ArgumentsThatGrowAreBoundedAsTheyAreStored) {
  std::string numbers = "[1e14";
  for (int i = 0; i < 400'000; ++i) numbers += ",1e14";
  expect_too_large(read(ProviderKind::exec, R"({"tool_calls":[{"name":"f","arguments":)" + numbers + "]}]}"),
                   ProviderKind::exec);
}

TEST(AnswerBounds, NamesCountWithTheText) {
  OwnFormat own;
  own.answer = {.text = "/text", .model = "/text"};
  Credentials credentials;
  credentials.own = std::make_shared<const OwnFormat>(own);
  const auto of = [&](std::size_t bytes) {
    return read(ProviderKind::http, R"({"text":")" + std::string(bytes, 'x') + "\"}", credentials);
  };
  EXPECT_TRUE(std::holds_alternative<Answered>(of(defaults::max_answer_bytes / 2)));
  expect_too_large(of(defaults::max_answer_bytes / 2 + 1), ProviderKind::http);
}

}  // namespace sluice::answer_bounds_test
