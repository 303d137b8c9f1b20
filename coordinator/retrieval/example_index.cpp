#include "coordinator/retrieval/example_index.hpp"

#include "common/cosine.hpp"
#include "coordinator/gate/billionths.hpp"

#include <cstdint>
#include <utility>

namespace sluice {

ExampleIndex::ExampleIndex(std::vector<std::string> ids, std::vector<std::vector<float>> vectors)
    : ids_(std::move(ids)), vectors_(std::move(vectors)) {
  squares_.reserve(vectors_.size());
  for (const auto& vector : vectors_) squares_.push_back(dot_product(vector, vector));
}

std::optional<ExampleIndex::Nearest> ExampleIndex::nearest(std::span<const float> query,
                                                           std::string_view but) const {
  const double square = dot_product(query, query);
  std::optional<std::size_t> best;
  std::int64_t score = -1;
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    if (ids_[i] == but) continue;
    const auto here = billionths(cosine(dot_product(query, vectors_[i]), square, squares_[i]));
    if (here <= score) continue;
    best = i;
    score = here;
  }
  if (!best) return std::nullopt;
  return Nearest{*best, from_billionths(score)};
}

}  // namespace sluice
