#include "coordinator/report/commands/estimate_report.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/json_writer.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

using wording::counted;
using wording::dash;
using wording::grouped;

std::string_view name_of(CallKind kind) {
  switch (kind) {
    case CallKind::answer:
      return "answers";
    case CallKind::embedding:
      return "embeddings";
    case CallKind::judge:
      return "votes";
    case CallKind::baseline:
      break;
  }
  return "baseline";
}

bool is_looked_for(CallKind kind) {
  return kind == CallKind::answer;
}

std::string calls_table(const RunEstimate& estimate, std::size_t columns) {
  TextTable table;
  table.keys = 2;
  table.columns = {{"calls for", false, false}, {"model", false, false},   {"calls", true, false},
                   {"held", true, true},        {"tokens in", true, true}, {"tokens out", true, true},
                   {"cost", true, false}};
  for (const EstimatedCalls& one : estimate.calls) {
    table.rows.push_back({std::string(name_of(one.kind)),
                          printable(one.provider_name) + ":" + printable(one.model), grouped(one.calls()),
                          is_looked_for(one.kind) ? grouped(one.held) : dash, grouped(one.most.input_tokens),
                          grouped(one.most.output_tokens), one.cost ? wording::dollars(*one.cost) : dash});
  }
  return drawn(table, columns);
}

std::string cost_line(const RunEstimate& estimate) {
  if (const auto cost = estimate.cost()) {
    const bool is_bounded = estimate.bill() != cost;
    return "At most " + wording::dollars(*cost) +
           (is_bounded ? ", of which --max-cost allows " + wording::dollars(*estimate.max_cost) : "") +
           "; failed calls that are charged come on top.\n" +
           (*cost > 0 ? "An upper bound: full answers, all retries of votes; most runs cost far less.\n"
                      : "");
  }
  std::string models;
  for (const EstimatedCalls& one : estimate.calls) {
    if (!one.cost)
      models += (models.empty() ? "" : ", ") + printable(one.provider_name) + ":" + printable(one.model);
  }
  return "The cost is not known: the price table does not have " + models + " (--prices FILE).\n";
}

std::string time_line(const EstimatedTime& time) {
  const std::string name = printable(time.provider_name);
  if (!time.seconds) {
    return name + ": how long it takes is not known, since [providers." + name + "] names no limit.\n";
  }
  const bool by_calls = time.limit == "requests_per_minute";
  return name + ": " + (by_calls ? "at least " : "at most ") + wording::duration(*time.seconds) + " by its " +
         time.limit + ".\n";
}

std::string nothing_is_called(const RunEstimate& estimate) {
  const std::uint64_t missing = estimate.answers - estimate.held - estimate.recorded;
  if (estimate.mode == Mode::mock) return "A mock run calls nobody.\n";
  if (estimate.recorded == estimate.answers) return "Every answer is recorded: nobody is called.\n";
  return "A cached run calls nobody; " +
         (missing == 0
              ? std::string("the caches hold every answer; votes and embeddings were not looked for.\n")
              : counted(missing, "answer") + (missing == 1 ? " is" : " are") +
                    " not in the caches, and would be errors (cache_miss).\n");
}

}  // namespace

std::string estimate_text(const RunEstimate& estimate, std::size_t columns) {
  std::string text = printable(estimate.suite) + ": " + counted(estimate.cases, "case");
  if (estimate.trials != estimate.cases) text += ", " + counted(estimate.trials, "trial");
  text += ", " + counted(estimate.answers, "answer") + ", " + grouped(estimate.held) + " in the caches";
  text += estimate.recorded > 0 ? ", " + grouped(estimate.recorded) + " recorded\n" : "\n";
  if (estimate.calls.empty()) return text + nothing_is_called(estimate);
  text += calls_table(estimate, columns) + cost_line(estimate);
  for (const EstimatedTime& time : estimate.times) text += time_line(time);
  if (std::ranges::any_of(estimate.calls, [](const EstimatedCalls& one) { return !is_looked_for(one.kind); }))
    text += "Votes and embeddings are not looked for in the caches: which are needed depends on answers.\n";
  return text;
}

std::string estimate_json(const RunEstimate& estimate) {
  std::string text;
  Json json(text);
  json.open('{');
  json.line(1);
  json.member("suite", estimate.suite);
  json.member("mode", to_string(estimate.mode));
  json.member("cases", estimate.cases);
  json.member("trials", estimate.trials);
  json.member("answers", estimate.answers);
  json.member("held", estimate.held);
  json.member("recorded", estimate.recorded);
  json.member("cost_at_most", estimate.cost());
  json.member("max_cost", estimate.max_cost);
  json.line(1);
  json.key("calls").open('[');
  for (const EstimatedCalls& one : estimate.calls) {
    json.line(2);
    json.open('{');
    json.member("for", name_of(one.kind));
    json.member("provider", to_string(one.provider));
    json.member("provider_name", one.provider_name);
    json.member("model", one.model);
    json.member("calls", one.calls());
    json.member("held", is_looked_for(one.kind) ? std::optional(one.held) : std::nullopt);
    json.member("input_tokens_at_most", one.most.input_tokens);
    json.member("output_tokens_at_most", one.most.output_tokens);
    json.member("cost_at_most", one.cost);
    json.close('}');
  }
  json.close(']');
  json.line(1);
  json.key("times").open('[');
  for (const EstimatedTime& one : estimate.times) {
    json.line(2);
    json.open('{');
    json.member("provider_name", one.provider_name);
    json.member("seconds", one.seconds);
    json.member("limit", one.seconds ? std::optional(one.limit) : std::nullopt);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return text + "\n";
}

}  // namespace sluice
