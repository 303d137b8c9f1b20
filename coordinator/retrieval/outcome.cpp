#include "coordinator/retrieval/outcome.hpp"

#include "common/defaults.hpp"
#include "coordinator/gate/billionths.hpp"

#include <cstddef>
#include <string>

namespace sluice {
namespace {

std::string shown(const SolvedExample& example, const Plugin& plugin) {
  std::size_t room = defaults::max_rendered_bytes;
  return plugin.few_shot.render({{"input", example.input}, {"answer", example.answer}}, room).value_or("");
}

struct Renderer {
  const Plugin& plugin;

  std::string operator()(const Hit& hit) const { return shown(*hit.example, plugin); }
  std::string operator()(const Degraded& degraded) const {
    return plugin.low_confidence + "\n\n" + shown(*degraded.near_match, plugin);
  }
  std::string operator()(const Miss&) const { return ""; }
};

}  // namespace

bool is_hit(double score, const Floors& floors) {
  return billionths(score) >= billionths(floors.high);
}

bool is_degraded(double score, const Floors& floors) {
  return billionths(score) >= billionths(floors.degraded) && !is_hit(score, floors);
}

RetrievalOutcome classify(const SolvedExample& nearest, double similarity, const Floors& floors) {
  const double score = from_billionths(billionths(similarity));
  if (is_hit(score, floors)) return Hit{&nearest, score};
  if (is_degraded(score, floors)) return Degraded{&nearest, score};
  return Miss{};
}

std::string render(const RetrievalOutcome& outcome, const Plugin& plugin) {
  return std::visit(Renderer{plugin}, outcome);
}

}  // namespace sluice
