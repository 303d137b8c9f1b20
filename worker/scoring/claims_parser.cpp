#include "worker/scoring/claims_parser.hpp"

#include "common/checks/code_fence.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

/// The keys of a claim, also as positions in the set of keys seen.
enum Key : std::size_t { subject, predicate, value, confidence, line, unknown };
constexpr std::array<std::string_view, 5> key_names = {"subject", "predicate", "value", "confidence", "line"};
constexpr std::array<std::string_view, 5> key_types = {
    "a string", "a string", "a string, a number or a boolean", "a number from 0 to 1",
    "a whole number from 0, or null"};

Key key_from(std::string_view name) {
  for (std::size_t i = 0; i < key_names.size(); ++i) {
    if (key_names[i] == name) return static_cast<Key>(i);
  }
  return unknown;
}

/// Builds the claims from nlohmann's parser events: no document tree in between, and no recursion. Each
/// handler returns false to stop; `problem` then holds why.
class ClaimsHandler {
 public:
  std::vector<ParsedClaim> claims;
  std::string problem;
  bool saw_claims = false;

  bool null() {
    if (!in_value()) return true;
    if (place_ == Place::claim && key_ == line) return true;
    return wrong("null");
  }
  bool boolean(bool given) {
    if (!in_value()) return true;
    if (place_ != Place::claim || key_ != value) return wrong("a boolean");
    claim_.value = given;
    return true;
  }
  bool number_integer(Json::number_integer_t given) {
    return number(static_cast<double>(given), given >= -max_exact_integer && given <= max_exact_integer);
  }
  bool number_unsigned(Json::number_unsigned_t given) {
    return number(static_cast<double>(given), given <= static_cast<std::uint64_t>(max_exact_integer));
  }
  bool number_float(double given, const std::string& literal) {
    // Integers beyond 64 bits arrive here too.
    return number(given, literal.find_first_of(".eE") != std::string::npos);
  }
  bool string(std::string& given) {
    if (!in_value()) return true;
    if (place_ == Place::claim && key_ == subject) {
      claim_.subject = std::move(given);
    } else if (place_ == Place::claim && key_ == predicate) {
      claim_.predicate = std::move(given);
    } else if (place_ == Place::claim && key_ == value) {
      claim_.value = std::move(given);
    } else {
      return wrong("a string");
    }
    return true;
  }
  bool binary(Json::binary_t&) { return wrong("binary data"); }

  bool start_object(std::size_t) {
    if (!enter()) return false;
    if (skipped_ > 0) return true;
    if (place_ == Place::document) {
      place_ = Place::top;
      key_ = unknown;
      return true;
    }
    if (place_ != Place::list) return wrong("an object");
    if (claims.size() == defaults::max_claims) {
      problem = "the answer has more than " + std::to_string(defaults::max_claims) + " claims";
      return false;
    }
    claim_ = ParsedClaim();
    seen_ = {};
    place_ = Place::claim;
    return true;
  }
  bool key(std::string& name) {
    if (skipped_ > 0) return true;
    if (place_ == Place::top) {
      key_is_claims_ = name == "claims";
      if (key_is_claims_ && saw_claims) return stop("the answer has \"claims\" twice");
      saw_claims = saw_claims || key_is_claims_;
      return true;
    }
    key_ = key_from(name);
    if (key_ == unknown) return true;
    if (seen_[key_]) return stop(path() + " stands there twice");
    seen_[key_] = true;
    return true;
  }
  bool end_object() {
    if (leave_skipped()) return true;
    if (place_ == Place::top) {
      place_ = Place::document;
      return true;
    }
    for (const Key required : {subject, predicate, value, confidence}) {
      if (seen_[required]) continue;
      key_ = required;
      return stop(path() + " is missing");
    }
    claims.push_back(std::move(claim_));
    place_ = Place::list;
    return true;
  }
  bool start_array(std::size_t) {
    if (!enter()) return false;
    if (skipped_ > 0) return true;
    if (place_ != Place::top) return wrong("an array");
    place_ = Place::list;
    return true;
  }
  bool end_array() {
    if (leave_skipped()) return true;
    place_ = Place::top;
    key_is_claims_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    constexpr int number_overflow = 406;  // nlohmann's out_of_range.406
    const std::string at = " (byte " + std::to_string(position) + ")";
    return stop(
        (error.id == number_overflow ? "the answer holds a number too large" : "the answer is not JSON") +
        at);
  }

 private:
  enum class Place { document, top, list, claim };

  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }

  /// True if an event belongs to what is read; false inside and at the value of an unknown key.
  bool in_value() const {
    if (skipped_ > 0) return false;
    if (place_ == Place::top) return key_is_claims_;
    return place_ != Place::claim || key_ != unknown;
  }
  /// At the start of an object or array: goes on skipping, or begins to.
  bool enter() {
    if (skipped_ > 0 || !in_value()) {
      if (++skipped_ > defaults::max_claims_depth)
        return stop("the answer nests deeper than " + std::to_string(defaults::max_claims_depth) + " levels");
    }
    return true;
  }
  bool leave_skipped() {
    if (skipped_ == 0) return false;
    --skipped_;
    return true;
  }

  /// `claims[3].value`, counted from 0 as JSON paths are.
  std::string path() const {
    if (place_ == Place::document) return "the answer";
    if (place_ == Place::top) return "claims";
    std::string text = "claims[" + std::to_string(claims.size()) + "]";
    if (place_ == Place::claim) text += "." + std::string(key_names[key_]);
    return text;
  }
  std::string_view expected() const {
    switch (place_) {
      case Place::document:
        return "an object with \"claims\"";
      case Place::top:
        return "an array";
      case Place::list:
        return "an object";
      case Place::claim:
        break;
    }
    return key_types[key_];
  }
  bool wrong(std::string_view found) {
    return stop(path() + " is " + std::string(found) + " where " + std::string(expected()) + " is expected");
  }

  /// `exact` is false for an integer that a double cannot distinguish from its neighbours.
  bool number(double given, bool exact) {
    if (!in_value()) return true;
    if (place_ != Place::claim) return wrong("a number");
    // A negative zero would be printed as another claim than zero.
    if (key_ == value && exact) {
      claim_.value = given + 0.0;
      return true;
    }
    if (key_ == confidence && given >= 0 && given <= 1) {
      claim_.confidence = given + 0.0;
      return true;
    }
    // As in JSON Schema, 12.0 is a whole number.
    if (key_ == line && given >= 0 && given <= std::numeric_limits<std::uint32_t>::max() &&
        std::floor(given) == given) {
      claim_.line = static_cast<std::uint32_t>(given);
      return true;
    }
    if (key_ == value) return stop(path() + " is a number too large to be exact");
    return wrong("the number " + shortest(given));
  }

  Place place_ = Place::document;
  bool key_is_claims_ = false;  ///< In the top object: whether the key at hand is "claims".
  Key key_ = unknown;           ///< In a claim: the key at hand.
  std::size_t skipped_ = 0;     ///< Open objects and arrays below an unknown key.
  std::array<bool, 5> seen_{};
  ParsedClaim claim_;
};

}  // namespace

Result<std::vector<ParsedClaim>> parse_claims(std::string_view text) {
  text = unfenced(text);
  if (text.empty()) return fail(Reason::unparsable_answer, "the answer is empty");
  ClaimsHandler handler;
  const bool complete = Json::sax_parse(text.begin(), text.end(), &handler);
  if (complete && handler.saw_claims) return std::move(handler.claims);
  if (complete) return fail(Reason::unparsable_answer, "the answer has no \"claims\"");
  if (const auto bad = invalid_utf8_at(text)) {
    return fail(Reason::unparsable_answer,
                "the answer is not valid UTF-8 (byte " + std::to_string(*bad) + ")");
  }
  return fail(Reason::unparsable_answer, std::move(handler.problem));
}

}  // namespace sluice
