#include "coordinator/plan/request_maker.hpp"

#include "coordinator/suite/case.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sluice {

namespace {

/// Repeats with one fixed seed would be one answer many times (docs/statistics.md). Wraps around at the end.
std::optional<std::int64_t> seed_of(const std::optional<std::int64_t>& first, std::uint32_t repeat) {
  if (!first) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(*first) + repeat);
}

/// Takes the parameters that a request has fields of its own for; the others are sent as they are.
void apply(const RequestParams& params, std::uint32_t repeat, ModelRequest& request) {
  for (const RequestParam& one : params) {
    const bool is_null = one.json == "null";
    // Their values were checked when they were read (parse_params).
    if (one.name == "temperature") {
      request.temperature = is_null ? std::nullopt : std::optional(std::strtod(one.json.c_str(), nullptr));
    } else if (one.name == "seed") {
      request.seed =
          is_null ? std::nullopt : seed_of(std::int64_t{std::strtoll(one.json.c_str(), nullptr, 10)}, repeat);
    } else if (one.name == "max_output_tokens") {
      request.max_tokens =
          is_null ? 0 : static_cast<std::uint32_t>(std::strtoul(one.json.c_str(), nullptr, 10));
    } else if (!is_null) {
      request.extras.params.push_back(one);
    }
  }
}

/// What a case asks, behind the example that is shown with it.
std::string behind(const SharedText& few_shot, std::string asked) {
  return few_shot ? *few_shot + "\n\n" + asked : std::move(asked);
}

}  // namespace

RequestMaker::RequestMaker(PromptTemplate prompt, const Ontology& ontology,
                           std::vector<RequestSettings> settings)
    : prompt_(std::move(prompt)),
      system_(share(render_system(prompt_, ontology))),
      settings_(std::move(settings)) {}

std::string RequestMaker::user_of_claims(const Case& test_case, const SharedText& few_shot) const {
  return behind(few_shot, render_user(prompt_, test_case));
}

ModelRequest RequestMaker::of_claims(std::size_t arm, std::uint32_t repeat) const {
  const RequestSettings& settings = settings_[arm];
  ModelRequest request;
  request.provider = settings.provider.name;
  request.model = settings.model;
  request.system = system_;
  request.response_schema = settings.response_schema;
  request.schema_name = claims_schema_name;
  request.temperature = settings.temperature;
  request.max_tokens = settings.max_tokens;
  request.seed = seed_of(settings.seed, repeat);
  apply(settings.params, repeat, request);
  return request;
}

ModelRequest RequestMaker::of(const Case& test_case, const SharedText& few_shot, std::uint32_t repeat) const {
  ModelRequest request = of_claims(test_case.arm, repeat);
  if (!test_case.extras.empty()) {
    const RequestParams params = merged(settings_[test_case.arm].params, test_case.extras.params);
    request.extras = test_case.extras;
    request.extras.params.clear();
    apply(params, repeat, request);
  }
  if (test_case.kind == CaseKind::claims) {
    request.user = user_of_claims(test_case, few_shot);
    return request;
  }
  request.system = test_case.system.empty() ? nullptr : share(test_case.system);
  request.response_schema = test_case.response_schema.empty() ? nullptr : share(test_case.response_schema);
  request.schema_name.clear();
  request.user = behind(few_shot, test_case.context.empty() ? test_case.content
                                                            : test_case.context + "\n\n" + test_case.content);
  return request;
}

std::string problem_with_request(const Case& one, ProviderKind kind) {
  if (kind != ProviderKind::http) return "";
  const auto has_image = [](const ChatMessage& message) {
    return std::ranges::any_of(message.parts, [](const MessagePart& part) {
      return part.kind == PartKind::image_data || part.kind == PartKind::image_url;
    });
  };
  const bool has_images = std::ranges::any_of(one.extras.messages, has_image);
  if (one.extras.tools.empty() && !has_images) return "";
  return "the case \"" + one.id + "\" has " + (has_images ? "images" : "tools") +
         ", which a provider of kind \"http\" cannot be sent: ask another one, or a program (kind \"exec\")";
}

}  // namespace sluice
