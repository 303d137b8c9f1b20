#include "worker/scoring/judge_answer.hpp"

#include "common/checks/code_fence.hpp"
#include "common/text/text.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using Json = nlohmann::json;

/// Takes the form's two members out of nlohmann's parser events. A tree would have to drop the others one by
/// one, each from among all, and an answer may have very many.
class MembersHandler {
 public:
  /// A boolean stands for all that is neither null nor number nor text.
  using Value = std::variant<std::nullptr_t, double, std::string, bool>;

  explicit MembersHandler(const JudgeAnswerForm& form) : form_(form) {}

  bool is_object = false;
  std::size_t scores = 0;  ///< How often the member stands there.
  Value score;
  Value words;

  bool null() { return take(nullptr); }
  bool boolean(bool given) { return take(given); }
  bool number_integer(Json::number_integer_t given) { return take(static_cast<double>(given)); }
  bool number_unsigned(Json::number_unsigned_t given) { return take(static_cast<double>(given)); }
  bool number_float(double given, const std::string&) { return take(given); }
  bool string(std::string& given) { return take(std::move(given)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) {
    is_object = is_object || depth_ == 0;
    return open();
  }
  bool start_array(std::size_t) { return open(); }
  bool key(const std::string& name) {
    if (depth_ > 1) return true;
    place_ = name == form_.score ? &score : name == form_.words ? &words : nullptr;
    if (place_ == &score) ++scores;
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }

 private:
  bool take(Value value) {
    if (depth_ == 1 && place_ != nullptr) *place_ = std::move(value);
    return true;
  }
  bool open() {
    take(false);
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  const JudgeAnswerForm& form_;
  std::size_t depth_ = 0;   ///< Open objects and arrays.
  Value* place_ = nullptr;  ///< For the value of the object's key at hand; null: it is left aside.
};

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

}  // namespace

Result<Vote> read_judge_answer(std::string_view text, const JudgeAnswerForm& form) {
  const auto unreadable = [&](std::string problem) {
    return fail(form.unreadable,
                "the judge's answer is no " + std::string(form.what) + ": " + std::move(problem));
  };
  text = unfenced(text);
  if (text.empty()) return unreadable("it is empty");
  if (invalid_utf8_at(text)) return unreadable("it is not valid UTF-8");
  MembersHandler members(form);
  if (!Json::sax_parse(text.begin(), text.end(), &members) || !members.is_object)
    return unreadable("it is no JSON object");
  if (members.scores == 0) return unreadable("it has no " + quoted(form.score));
  if (members.scores > 1) return unreadable("it has more than one " + quoted(form.score));
  const double* const score = std::get_if<double>(&members.score);
  if (score == nullptr) return unreadable("its " + quoted(form.score) + " is no number");
  if (!(*score >= 0.0 && *score <= 1.0))
    return unreadable("its " + quoted(form.score) + " is not from 0 to 1");
  if (std::holds_alternative<std::nullptr_t>(members.words)) return Vote{*score, {}};
  auto* const words = std::get_if<std::string>(&members.words);
  if (words == nullptr) return unreadable("its " + quoted(form.words) + " is no text");
  return Vote{*score, std::move(*words)};
}

}  // namespace sluice
