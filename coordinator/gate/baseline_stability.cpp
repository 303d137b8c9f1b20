#include "coordinator/gate/baseline_stability.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;

struct Count {
  const char* name;
  std::uint64_t least;
  std::uint64_t& target;
};

/// False where it is no whole number from `least`; one that is not there leaves the target as it is.
bool read_count(const json& object, const char* name, std::uint64_t least, std::uint64_t& target) {
  const auto found = object.find(name);
  if (found == object.end()) return true;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() < least) return false;
  target = found->get<std::uint64_t>();
  return true;
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
  BaselineStability stability;
  stability.score = score->get<double>() + 0.0;  // 0 for -0.
  std::uint64_t repeats = 1;
  const std::array counts{Count{"cases", 0, stability.cases}, Count{"answers", 0, stability.answers},
                          Count{"repeats", 1, repeats}};
  for (const auto& [name, least, target] : counts) {
    if (read_count(object, name, least, target)) continue;
    return tl::unexpected("has `" + std::string(name) + "` that is no whole number from " +
                          std::to_string(least));
  }
  stability.repeats =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(repeats, std::numeric_limits<std::uint32_t>::max()));
  stability.perturbations = std::move(*perturbations);
  return stability;
}

}  // namespace sluice
