#include "common/checks/key_mask.hpp"

#include "worker/providers/provider.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::key_mask_test {

const std::string key = "sk-Proj_4f/9aB+xyz";

std::string masked(std::string_view text, std::string_view secret = key) {
  return KeyMask(secret).masked(text).value_or(std::string(text));
}

std::string percent_encoded(std::string_view text, const char* digits) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += std::string("%") + digits[byte / 16] + digits[byte % 16];
  }
  return encoded;
}

std::string base64(std::string_view text, std::string_view last = "+/") {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + std::string(last);
  std::string encoded;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group * 256 + (at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0);
    }
    const std::size_t digits = std::min<std::size_t>(text.size() - at, 3) + 1;
    for (std::size_t i = 0; i < 4; ++i) encoded += i < digits ? alphabet[group >> (18 - 6 * i) & 63] : '=';
  }
  return encoded;
}

TEST(KeyMask, TextWithoutAKeyIsNotTouched) {
  const KeyMask mask(key);
  for (const std::string_view text :
       {"", "sk-", "sk-Proj_4f/9aB+xy", "SSSSSSSS", "%", "\\", "s%", "s\\u00", "s\n"}) {
    EXPECT_EQ(mask.masked(text), std::nullopt) << text;
  }
  EXPECT_EQ(KeyMask().masked(key), std::nullopt);
  EXPECT_EQ(KeyMask("").masked("text"), std::nullopt);
}

TEST(KeyMask, FindsAKeyInAnyForm) {
  std::string upper = key;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::vector<std::string> forms = {
      key,
      upper,
      "sk-Proj_4f%2F9aB%2Bxyz",
      "sk-Proj_4f%2f9aB%2bxyz",
      percent_encoded(key, "0123456789ABCDEF"),
      "sk-Proj_4f\\/9aB+xyz",
      "sk-Proj_4f\\\\/9aB\\u002bxyz",
      "sk-Proj\n_4f/9aB+xyz",
      "sk-Proj\r\n    _4f/9a\nB+xyz",
      "sk-Proj\\n_4f/9aB+xyz",
      "sk-Proj\\\\r\\\\n_4f/9aB+xyz",
      "sk-Proj%0A_4f/9aB+xyz",
      "sk-Proj\\\n_4f/9aB+xyz",
      "SK-PROJ\n_4F%2F9AB%2BXYZ",
  };
  for (const std::string& form : forms) {
    EXPECT_EQ(masked("a " + form + " b " + form), "a [key] b [key]") << form;
  }
  EXPECT_EQ(masked("sk-sk-Proj_4f/9aB+xyz"), "sk-[key]") << "where it begins is tried anew";
}

TEST(KeyMask, FindsAKeyInBase64WhateverStandsBesideIt) {
  for (const std::string before : {"", "u", "me", "Bearer ", "user:", "abcdef"}) {
    for (const std::string after : {"", "\n", "; rest"}) {
      for (const std::string_view last : {"+/", "-_"}) {
        const std::string encoded = base64(before + key + after, last);
        const std::string clean = masked("x: " + encoded + ".");
        const auto at = clean.find("[key]");
        ASSERT_NE(at, std::string::npos) << before << after;
        EXPECT_LE(clean.size(),
                  std::string("x: [key].").size() + (before.size() + after.size() + 6) / 3 * 4 + 6)
            << "little is left: " << clean;
      }
    }
  }
  std::string folded = base64(key);
  folded.insert(9, "\r\n ");
  EXPECT_EQ(masked("x " + folded).substr(0, 7), "x [key]");
}

TEST(KeyMask, AWordThatServersWithoutKeysAreGivenMayStandInAnAnswer) {
  for (const std::string_view word : {"none", "EMPTY", "ollama", "placeholder", "sk-test", "1234567890",
                                      "not-needed", "lm-studio", "sk-no-key-required", "local.server_key"}) {
    EXPECT_EQ(masked(word, word), word);
  }
  EXPECT_EQ(masked("sk-secret-1", "sk-secret-1"), "[key]");
  EXPECT_EQ(KeyMask("EMPTY", KeyMask::Keys::all).masked("is empty"), "is [key]");
  EXPECT_EQ(KeyMask("none", KeyMask::Keys::all).masked("none"), std::nullopt);
}

TEST(KeyMask, TakesSeveralKeysAndForgetsTheirLineEnds) {
  const std::vector<std::string> keys = {"first-key-1\n", "", "second-key-2"};
  std::string text = "first-key-1 and SECOND-KEY-2";
  EXPECT_TRUE(KeyMask(keys).apply(text));
  EXPECT_EQ(text, "[key] and [key]");
  EXPECT_FALSE(KeyMask(keys).apply(text));
}

TEST(KeyMask, ALongKeyOfLettersAloneIsNoWord) {
  for (const std::string_view secret :
       {"qwertyuiopasdfghjklz", "sk-qwertyuiop_asdfghj", "12345678901234567890"}) {
    EXPECT_EQ(masked("my " + std::string(secret), secret), "my [key]");
  }
}

TEST(KeyMask, BlanksAtItsEndsAreNotPartOfAKey) {
  for (const std::string& secret : {" " + key, key + "  ", " \t" + key + " \n", " \n " + key}) {
    EXPECT_EQ(masked("It is " + key + ".", secret), "It is [key].");
    EXPECT_EQ(usable_key(secret), key);
  }
  EXPECT_EQ(usable_key(" two parts "), "two parts");
  EXPECT_EQ(usable_key(" \n "), "");
  EXPECT_EQ(KeyMask("           ").masked("a           b"), std::nullopt);
}

TEST(KeyMask, OfTwoKeysOfWhichOneBeginsTheOtherNothingStays) {
  for (const auto& keys : {std::vector<std::string>{"first-key-1", "first-key-1-second-part"},
                           std::vector<std::string>{"first-key-1-second-part", "first-key-1"}}) {
    std::string text = "first-key-1-second-part, first-key-1, " + base64(keys[0]);
    ASSERT_TRUE(KeyMask(keys).apply(text));
    EXPECT_EQ(text.substr(0, text.rfind(' ')), "[key], [key],");
    EXPECT_LE(text.size(), std::string("[key], [key], [key]").size() + 4) << text;
  }
}

TEST(KeyMask, JsonStaysJson) {
  const std::string secret = "newkey-12345";  // Begins like an escape: \n.
  const nlohmann::json claims = {{"claims", {{{"value", "line\nnewkey-12345"}, {"line", "\newkey-12345"}}}}};
  const nlohmann::json outer = {{"text", claims.dump()}, {"own", "C:\\newkey-12345"}};
  const std::string clean = masked(outer.dump(), secret);
  ASSERT_TRUE(nlohmann::json::accept(clean)) << clean;
  const std::string inner = nlohmann::json::parse(clean)["text"];
  ASSERT_TRUE(nlohmann::json::accept(inner)) << inner;
  EXPECT_EQ(nlohmann::json::parse(inner)["claims"][0]["value"], "line\n[key]");
}

TEST(KeyMask, AKeyBehindABackslashIsMasked) {
  const std::string secret = "newkey-12345";  // Begins like an escape: \n.
  EXPECT_EQ(masked("C:\\newkey-12345", secret), "C:[key]");
  EXPECT_EQ(masked(R"({"path": "C:\\newkey-12345"})", secret), R"({"path": "C:[key]"})");
  EXPECT_EQ(masked("newkey-12345\\newkey-12345", secret), "[key][key]");
}

TEST(KeyMask, IsLinearInTheText) {
  const KeyMask mask(key);
  const std::size_t size = 1 << 20;
  for (const std::string_view pattern : {"\\", "s", "s\n", " ", "%", "sk-Proj_4f/9aB+xy", "s\\n "}) {
    std::string text;
    while (text.size() < size) text += pattern;
    EXPECT_EQ(mask.masked(text), std::nullopt) << pattern;
  }
}

// Such a key, or its Base64 (that of "g" behind two bytes begins with "n"), may begin at the letter of every
// escaped line end, of which a text may have a long run.
TEST(KeyMask, IsLinearInLineEndsWhereTheKeyBeginsAsTheirEscapesDo) {
  for (const std::string_view secret : {"newkey-12345", "rnrnrnrn-12345", "gsk_12345678", "k12345678"}) {
    const KeyMask mask(secret);
    for (const std::string_view pattern : {"\\n", "\\r", "\\n\\r", "\\\\n", "n\n", "n%0A", "\n ", "\\n\t"}) {
      std::string text;
      while (text.size() < 100'000) text += pattern;
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(mask.masked(text), std::nullopt) << pattern;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << secret << pattern;
    }
  }
}

TEST(KeyMask, AKeyIsFoundAcrossABreakOfItsBound) {
  EXPECT_EQ(masked("sk-Proj\n" + std::string(127, ' ') + "_4f/9aB+xyz"), "[key]");
  EXPECT_NE(masked("sk-Proj\n" + std::string(128, ' ') + "_4f/9aB+xyz"), "[key]");
}

// --- Answers

ProviderSettings openai() {
  ProviderSettings provider;
  provider.name = "openai";
  provider.kind = ProviderKind::openai;
  provider.base_url = "http://x/v1";
  provider.api_key_env = "OPENAI_API_KEY";
  return provider;
}

Completion answer_of(const nlohmann::json& message, std::string_view secret) {
  const nlohmann::json body = {{"model", "m " + std::string(secret)},
                               {"choices", {{{"finish_reason", "stop"}, {"message", message}}}}};
  const auto outcome = read_response(openai(), {200, {}, body.dump()}, {}, secret);
  EXPECT_TRUE(std::holds_alternative<Answered>(outcome));
  return std::holds_alternative<Answered>(outcome) ? std::get<Answered>(outcome).completion : Completion{};
}

TEST(KeysInAnswers, NeverLeaveTheReading) {
  const std::string claims =
      R"({"claims":[{"value":"sk-PROJ_4f\/9aB+xyz"},{"value":"sk-Proj_\n4f/9aB+xyz"}]})";
  const auto answer = answer_of({{"content", claims + percent_encoded(key, "0123456789abcdef")}}, key);
  EXPECT_EQ(answer.text, R"({"claims":[{"value":"[key]"},{"value":"[key]"}]}[key])");
  EXPECT_EQ(answer.served_model, "m [key]");
  const auto refused = answer_of({{"content", nullptr}, {"refusal", "No: " + key}}, key);
  ASSERT_TRUE(refused.non_answer);
  EXPECT_EQ(refused.non_answer->message.find("Proj"), std::string::npos) << refused.non_answer->message;
  EXPECT_EQ(refused.text, "No: [key]");
}

TEST(KeysInAnswers, AreMaskedInErrorsInEveryFormToo) {
  for (const std::string& form : {std::string("SK-PROJ_4F/9AB+XYZ"), percent_encoded(key, "0123456789ABCDEF"),
                                  base64(key), std::string("sk-Proj_4f/\n9aB+xyz")}) {
    const nlohmann::json body = {{"error", {{"message", "wrong key: " + form}}}};
    const auto outcome = read_response(openai(), {401, {}, body.dump()}, {}, key);
    ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
    EXPECT_NE(std::get<Failed>(outcome).message.find("wrong key: [key]"), std::string::npos)
        << std::get<Failed>(outcome).message;
  }
}

}  // namespace sluice::key_mask_test
