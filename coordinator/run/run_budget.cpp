#include "coordinator/run/run_budget.hpp"

#include "common/defaults.hpp"
#include "common/model/comparison.hpp"
#include "common/model/metrics.hpp"
#include "common/model/request_text.hpp"
#include "common/model/token_bound.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/run/defaults.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>

namespace sluice {
namespace {

std::string dollars(double amount) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "$%.4f", amount);
  return buffer.data();
}

/// In dollars as a flag takes them, rounded up.
std::string enough(double amount) {
  constexpr double parts = 1e4;
  return dollars(std::ceil((amount - defaults::smallest_cost) * parts) / parts).substr(1);
}

/// The beginning of a sentence. `lost`: what workers that were lost may have paid; empty where there are
/// none.
std::string no_room_left(const std::string& budget, const std::string& limit, const std::string& paid,
                         const std::string& lost, bool nothing_is_paid) {
  if (nothing_is_paid)
    return "the run's " + budget + " is too small to begin with: of " + limit +
           " nothing is paid yet, and the next case may ";
  return "the run's " + budget + " is spent: " + paid + " of " + limit + " are paid" +
         (lost.empty() ? "" : ", " + lost + " more may be by workers that were lost") +
         ", and the next case may ";
}

/// How often a judge is shown the answer, which nobody knows yet.
std::uint64_t places_of_answer(const Rubric& rubric) {
  return render_rubric(rubric, {.prompt = {}, .answer = "x", .context = {}, .reference = {}, .criteria = {}})
             .size() -
         render_rubric(rubric, {}).size();
}

/// What the votes of a judge metric may take at most.
Usage most_of_votes(const JudgeSettings& judge, const JudgeExpectation& expectation,
                    const JudgedQuestion& question, std::uint64_t answer_tokens) {
  const Rubric& rubric = judge.rubrics.at(expectation.rubric);
  ModelRequest request;
  request.user = render_rubric(rubric, texts_for_judge(expectation, question));
  request.max_tokens = judge.max_tokens;
  const std::uint64_t input = input_token_bound(request) + token_bound(rubric.system) +
                              token_bound(embedded::vote_schema) + places_of_answer(rubric) * answer_tokens;
  const std::uint64_t calls = std::uint64_t{expectation.samples} * defaults::max_unreadable_votes;
  return {calls * input, calls * output_token_bound(request)};
}

/// What getting the baseline's answer and comparing it may take beside the answer itself.
void add_grading(const WorkUnit& unit, const GradingSettings& grading, PaidTokens& most) {
  const Usage answer = most.of(CallKind::answer);
  most.of(CallKind::baseline) = answer;
  if (grading.judge == GradeJudge::embedding) {
    most.of(CallKind::embedding).input_tokens += 2 * answer.output_tokens;
  } else if (grading.judge == GradeJudge::llm) {
    JudgeSettings judge = grading.llm;
    judge.rubrics = comparison_rubrics();
    const std::string instructions = unit.request.system ? *unit.request.system : std::string();
    const std::string asked = transcript(unit.request.extras.messages, unit.request.user);
    for (std::uint32_t order = 0; order < judge.rubrics.size(); ++order) {
      // Both answers are shown, and nobody knows either yet.
      most.of(CallKind::judge) += most_of_votes(judge, {MetricId::rubric, order, 1, 0.5, "", instructions},
                                                {asked, ""}, 2 * answer.output_tokens);
    }
  }
}

}  // namespace

PaidTokens most_of(const WorkUnit& unit, const JudgeSettings& judge,
                   const std::optional<GradingSettings>& grading) {
  PaidTokens most;
  if (!unit.recorded)
    most.of(CallKind::answer) = {input_token_bound(unit.request), output_token_bound(unit.request)};
  auto& embedded = most.of(CallKind::embedding).input_tokens;
  bool embeds = false;
  for (const auto& task : unit.tasks) {
    for (const auto& expectation : task.texts) {
      if (expectation.metric != MetricId::semantic_similarity_to) continue;
      embeds = true;
      for (const auto& text : expectation.texts) embedded += token_bound(text);
    }
  }
  const std::uint64_t answer_tokens =
      unit.recorded ? token_bound(unit.recorded->text) : most.of(CallKind::answer).output_tokens;
  if (embeds) embedded += answer_tokens;  // The answer is embedded too.
  if (grading) add_grading(unit, *grading, most);
  if (judge.judge != Judge::model) return most;
  for (const auto& task : unit.tasks) {
    for (const auto& expectation : task.judged) {
      if (expectation.recorded) continue;
      most.of(CallKind::judge) += most_of_votes(judge, expectation, task.question, answer_tokens);
    }
  }
  return most;
}

std::vector<CallKind> unmetered_kinds(const Spend& spend) {
  std::vector<CallKind> kinds;
  for (std::size_t i = 0; i < call_kinds; ++i) {
    if (const auto kind = static_cast<CallKind>(i); spend.is_unmetered(kind)) kinds.push_back(kind);
  }
  return kinds;
}

RunBudget::RunBudget(Limits limits, RunPrice price, std::function<std::size_t(UnitId)> arm_of)
    : limits_(limits), price_(std::move(price)), arm_of_(std::move(arm_of)) {}

double RunBudget::cost(const PaidByArm& usage) const {
  return price_ ? price_(usage).value_or(0.0) : 0.0;
}

PaidByArm RunBudget::with_reserved(const PaidByArm& most) const {
  PaidByArm sum = paid_;
  sum += reserved_;
  sum += most;
  return sum;
}

bool RunBudget::exceeds_tokens(const PaidByArm& most) const {
  return limits_.tokens && with_reserved(most).total().total() > *limits_.tokens;
}

bool RunBudget::exceeds_cost(const PaidByArm& most) const {
  return limits_.cost && cost(with_reserved(most)) > *limits_.cost + defaults::smallest_cost;
}

bool RunBudget::has_room(UnitId unit, const PaidTokens& most) const {
  const PaidByArm of_arm(most, arm_of(unit));
  return !exceeds_tokens(of_arm) && !exceeds_cost(of_arm);
}

bool RunBudget::reserve(WorkerId worker, UnitId unit, const PaidTokens& most) {
  if (!has_room(unit, most)) return false;
  reserve_held(worker, unit, most);
  return true;
}

void RunBudget::reserve_held(WorkerId worker, UnitId unit, const PaidTokens& most) {
  // One that is there already is of the same unit at the same worker, which pays once.
  if (reservations_.try_emplace({worker, unit}, most).second) reserved_.add(arm_of(unit), most);
}

void RunBudget::give_back(WorkerId worker, UnitId unit) {
  const auto found = reservations_.find({worker, unit});
  if (found == reservations_.end()) return;
  reserved_.subtract(arm_of(unit), found->second);
  reservations_.erase(found);
}

void RunBudget::give_back_all_but(WorkerId worker, const std::vector<UnitId>& held) {
  const std::set<UnitId> kept(held.begin(), held.end());
  auto at = reservations_.lower_bound({worker, 0});
  while (at != reservations_.end() && at->first.first == worker) {
    const auto unit = (at++)->first.second;
    if (!kept.contains(unit)) give_back(worker, unit);
  }
}

bool RunBudget::has_reserved(WorkerId worker) const {
  const auto first = reservations_.lower_bound({worker, 0});
  return first != reservations_.end() && first->first.first == worker;
}

void RunBudget::settle(WorkerId worker, UnitId unit, PaidTokens paid, std::span<const CallKind> unknown) {
  const auto found = reservations_.find({worker, unit});
  if (found != reservations_.end()) {
    for (const CallKind kind : unknown) {
      Usage& known = paid.of(kind);
      const Usage& most = found->second.of(kind);
      known.input_tokens = std::max(known.input_tokens, most.input_tokens);
      known.output_tokens = std::max(known.output_tokens, most.output_tokens);
    }
  }
  give_back(worker, unit);
  paid_.add(arm_of(unit), paid);
}

Error RunBudget::spent(UnitId unit, const PaidTokens& most) const {
  const PaidByArm of_arm(most, arm_of(unit));
  const std::uint64_t reserved = reserved_.total().total();
  const bool lost = reserved > 0;
  const bool nothing_is_paid = !lost && paid().total() == 0;
  const std::uint64_t votes = most.of(CallKind::judge).output_tokens;
  const std::uint64_t baseline = most.of(CallKind::baseline).output_tokens;
  if (exceeds_tokens(of_arm)) {
    return {
        Reason::token_budget_spent,
        no_room_left("token budget (--max-tokens)", std::to_string(*limits_.tokens) + " tokens",
                     std::to_string(paid().total()), lost ? std::to_string(reserved) : "", nothing_is_paid) +
            "take " + std::to_string(most.total()) + " (" +
            std::to_string(most.of(CallKind::answer).output_tokens) + " for its answer" +
            (baseline > 0 ? " and " + std::to_string(baseline) + " for the baseline's" : "") +
            ", --max-output-tokens" +
            (votes > 0 ? "; " + std::to_string(votes) + " for votes, --judge-max-tokens" : "") + ")" +
            (nothing_is_paid ? "; `--max-tokens " + std::to_string(most.total()) + "` is enough for that case"
                             : "")};
  }
  return {Reason::cost_budget_spent,
          no_room_left("cost budget (--max-cost)", dollars(limits_.cost.value_or(0.0)), dollars(cost(paid_)),
                       lost ? dollars(cost(reserved_)) : "", nothing_is_paid) +
              "cost " + dollars(cost(of_arm)) +
              (nothing_is_paid ? "; `--max-cost " + enough(cost(of_arm)) + "` is enough for that case" : "")};
}

}  // namespace sluice
