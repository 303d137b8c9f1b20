#include "worker/calls/model_call.hpp"

#include "common/model/token_bound.hpp"
#include "common/text/text.hpp"

#include <span>
#include <utility>

namespace sluice {

std::optional<std::variant<Completion, Error>> ModelCall::find(const RunSettings& settings) const {
  const bool replay = settings.mode == Mode::cached;
  if (!replay && !settings.read_cache) return std::nullopt;
  auto found = replay ? store_.find_replay(keyed_.key, keyed_.wanted.pinned)
                      : store_.find_answer(keyed_.key, keyed_.wanted);
  if (!found) return found.error();
  if (*found) return std::move(**found);
  if (!replay) return std::nullopt;
  if (!is_zero(keyed_.wanted.pinned) && store_.holds_any(keyed_.key)) {
    return store_.missing(
        "the cache holds another answer than the one that the ledger pins: that one is in the cache of "
        "a worker that is not there, or a --refresh was stopped before it had recorded its answer; "
        "`sluice run --resume RUN` goes on with such a run (`sluice runs list` shows it)");
  }
  return store_.missing("the cache does not hold this answer");
}

Result<void> ModelCall::store(const Completion& answer) const {
  const KeyedAnswer keyed{keyed_.key, &answer};
  return store_.store(std::span(&keyed, 1));
}

Result<bool> ModelCall::store_if_none(const Completion& answer) const {
  return store_.store_if_none({keyed_.key, &answer}, keyed_.wanted.pinned);
}

wire::CallSize ModelCall::size() const {
  return call_size(input_token_bound(*keyed_.request), output_token_bound(*keyed_.request));
}

HttpRequest ModelCall::build(const ProviderSettings& provider, const Credentials& credentials) const {
  return build_request(provider, credentials, *keyed_.request);
}

std::variant<CallUsage, Failed> ModelCall::read(const ProviderSettings& provider,
                                                const HttpResponse& response,
                                                std::chrono::system_clock::time_point now,
                                                const Credentials& credentials) {
  auto outcome = read_response(provider, response, now, credentials, kind());
  if (auto* failed = std::get_if<Failed>(&outcome)) return std::move(*failed);
  auto& answered = std::get<Answered>(outcome);
  answer_ = std::move(answered.completion);
  return CallUsage{answer_.usage, answered.took_nothing};
}

std::string ModelCall::carried(std::string_view parameter) const {
  const ModelRequest& request = *keyed_.request;
  if (parameter == "temperature")
    return request.temperature ? "temperature " + shortest(*request.temperature) : "";
  if (parameter == "seed") return request.seed ? "seed" : "";
  return request.max_tokens != 0 ? "bound" : "";
}

Result<void> ModelCall::take_entry(std::string_view entry) {
  auto answer = store_.take_answer(keyed_.key, keyed_.wanted.pinned, entry);
  if (!answer) return fail(std::move(answer.error()));
  answer_ = std::move(*answer);
  return {};
}

}  // namespace sluice
