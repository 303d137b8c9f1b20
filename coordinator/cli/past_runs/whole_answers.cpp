#include "coordinator/cli/past_runs/whole_answers.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/ledger/observation_store.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Of the observations' answers, which are read once: a page takes no more of them.
constexpr std::size_t most_saved_bytes = 64 << 20;

class AnswerFinder {
 public:
  AnswerFinder(const CacheTools& tools, const Settings& settings, std::string run_id,
               const Redactor* redactor)
      : tools_(tools), settings_(settings), run_id_(std::move(run_id)), redactor_(redactor) {}

  std::vector<std::optional<std::string>> find(std::span<const AnswerPlace> wanted) {
    std::vector<std::optional<std::string>> answers(wanted.size());
    std::vector<UsedAnswer> used;
    for (const AnswerPlace& one : wanted) used.push_back({one.key, one.answer});
    auto cached = tools_.read_answers(settings_, used);
    if (!cached) warn_once(cached.error());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (cached && (*cached)[i]) {
        answers[i] = std::move((*cached)[i]->text);
      } else if (const auto saved = saved_answers().find(to_hex(wanted[i].key));
                 saved != saved_answers().end()) {
        answers[i] = saved->second;
      }
      if (answers[i] && redactor_ != nullptr) redactor_->apply(*answers[i]);
    }
    return answers;
  }

 private:
  /// By key: trials have other numbers where tests were added since.
  const std::map<std::string, std::string>& saved_answers() {
    if (saved_) return *saved_;
    saved_.emplace();
    const auto store = ObservationStore::open_read_only(observations_file(settings_));
    if (!store) warn_once(store.error());
    if (!store || !*store) return *saved_;
    ObservationFilter filter;
    filter.run = run_id_;
    std::size_t bytes = 0;
    const auto visited = (*store)->visit(filter, ObservationStore::Order::oldest_first, std::nullopt,
                                         [&](const Observation& one) {
                                           bytes += one.raw_response.size();
                                           if (one.raw_response.empty() || bytes > most_saved_bytes) return;
                                           saved_->emplace(one.key, one.raw_response);
                                         });
    if (!visited) warn_once(visited.error());
    return *saved_;
  }

  void warn_once(const Error& error) {
    if (!std::exchange(has_warned_, true))
      report_warning("answers are not read whole, only their beginnings: " + error.message);
  }

  const CacheTools& tools_;
  const Settings& settings_;
  std::string run_id_;
  const Redactor* redactor_;
  std::optional<std::map<std::string, std::string>> saved_;
  bool has_warned_ = false;
};

}  // namespace

ReadWholeAnswers whole_answers(const CacheTools& tools, const Settings& settings, const std::string& run_id,
                               const Redactor* redactor) {
  return [finder = std::make_shared<AnswerFinder>(tools, settings, run_id, redactor)](
             std::span<const AnswerPlace> wanted) { return finder->find(wanted); };
}

}  // namespace sluice
