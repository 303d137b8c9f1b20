#include "coordinator/gate/baseline_stability.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

std::optional<std::uint64_t> count_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::optional<std::vector<std::string>> texts_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json& element : *found) {
    if (!element.is_string()) return std::nullopt;
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

}  // namespace

tl::expected<BaselineStability, std::string> parse_baseline_stability(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return tl::unexpected(std::string("is no JSON object"));
  const auto score = object.find("score");
  const bool in_range = score != object.end() && score->is_number() && score->get<double>() >= 0.0 &&
                        score->get<double>() <= 1.0;
  if (!in_range) return tl::unexpected(std::string("has no `score` from 0 to 1"));
  auto perturbations = texts_in(object, "perturbations");
  if (!perturbations) return tl::unexpected(std::string("has no list of texts `perturbations`"));
  const auto repeats = count_in(object, "repeats").value_or(1);
  BaselineStability stability;
  stability.score = score->get<double>() + 0.0;  // 0 for -0.
  stability.cases = count_in(object, "cases").value_or(0);
  stability.answers = count_in(object, "answers").value_or(0);
  stability.repeats =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(repeats, std::numeric_limits<std::uint32_t>::max()));
  stability.perturbations = std::move(*perturbations);
  return stability;
}

}  // namespace sluice
