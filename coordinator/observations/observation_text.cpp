#include "coordinator/observations/observation_text.hpp"

#include "common/text/printable.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/csv.hpp"
#include "coordinator/output/json_writer.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t date_characters = 16;  ///< 2026-02-05 14:03

/// The value as a text of CSV has it, before quotes; empty for none.
template <class T>
std::string plain(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, JsonText>) {
    return value.text;
  } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    return value.value_or("");
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return value ? shortest(*value) : "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "1" : "0";
  } else {
    return std::to_string(value);
  }
}

template <class T>
void append_cell(CsvLine& line, const T& value) {
  constexpr bool is_text = std::is_same_v<T, std::string> || std::is_same_v<T, JsonText> ||
                           std::is_same_v<T, std::optional<std::string>>;
  is_text ? line.text(plain(value)) : line.cell(plain(value));
}

void write_pair(Json& json, const GradedPair& pair) {
  const Grade& grade = pair.result.grade;
  json.key("grade").open('{');
  json.member("quality_score", grade.quality_score);
  json.member("grader_id", grade.grader_id);
  json.member("notes", grade.notes);
  json.key("orders");
  if (grade.orders) {
    json.open('{');
    json.member("baseline_first", grade.orders->baseline_first);
    json.member("candidate_first", grade.orders->candidate_first);
    json.member("position_flips", position_flips(*grade.orders));
    json.close('}');
  } else {
    json.null();
  }
  json.key("baseline").open('{');
  json.member("arm", pair.baseline_arm);
  json.member("provider", pair.baseline_provider);
  json.member("model", pair.baseline_model);
  json.member("answer", pair.result.baseline.text);
  json.close('}');
  json.close('}');
}

/// `crlf 2`; empty for a case as it is, the first time.
std::string short_form(const Observation& one) {
  std::string form = one.perturbation;
  if (one.repeat > 0) form += (form.empty() ? "" : " ") + std::to_string(one.repeat + 1);
  return form;
}

}  // namespace

std::string observation_as_json(const Observation& one, const ShownBeside& beside) {
  std::string line;
  Json json(line);
  json.open('{');
  for_each_column(one, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, JsonText>) {
      json.key(name).raw_json(value.text);
    } else {
      json.member(name, value);
    }
  });
  json.key("system_prompt");
  one.system_prompt ? json.value(*one.system_prompt) : json.null();
  if (const RetrievalEvent* const found = beside.retrieval) {
    json.key("retrieval").open('{');
    json.member("outcome", to_string(found->kind));
    json.member("example", found->example);
    json.member("score", found->score);
    json.member("high_floor", found->high_floor);
    json.member("degraded_floor", found->degraded_floor);
    json.member("plugin", found->plugin);
    json.member("embedder", found->embedder);
    json.close('}');
  }
  if (beside.pair != nullptr) write_pair(json, *beside.pair);
  if (beside.missed != nullptr) {
    json.key("missed").open('[');
    for (const std::string& one_missed : *beside.missed) json.value(one_missed);
    json.close(']');
  }
  if (beside.prompt_is_lost) json.member("prompt_is_lost", true);
  if (beside.answer_is_lost) json.member("answer_is_lost", true);
  json.close('}');
  return line + "\n";
}

std::string observation_csv_header() {
  CsvLine line;
  const Observation any;
  for_each_column(any, [&](const char* name, const auto&) { line.cell(name); });
  line.cell("system_prompt");
  return line.take();
}

std::string observation_as_csv(const Observation& one) {
  CsvLine line;
  for_each_column(one, [&](const char*, const auto& value) { append_cell(line, value); });
  line.text(one.system_prompt ? *one.system_prompt : std::string());
  return line.take();
}

std::string observation_table(const std::vector<Observation>& observations, std::size_t columns) {
  // Which of a case's trials it is says more than what it took; a run of nothing but cases has no forms.
  const bool has_forms =
      std::ranges::any_of(observations, [](const Observation& one) { return !short_form(one).empty(); });
  TextTable table;
  table.whole_names = true;
  table.keys = 0;
  table.columns = {{"Case"},
                   {"Form"},
                   {"Status"},
                   {"Time (UTC)"},
                   {"Run", false, true},
                   {"ms", true, true},
                   {"Tokens", true, true},
                   {"Model", false, true}};
  constexpr auto form_column = 1;
  if (!has_forms) table.columns.erase(table.columns.begin() + form_column);
  for (const Observation& one : observations) {
    std::string time = one.timestamp.substr(0, date_characters);
    std::ranges::replace(time, 'T', ' ');
    auto& row = table.rows.emplace_back(std::vector<std::string>{
        printable(one.case_id), printable(short_form(one)), one.reason_code.value_or(one.status),
        std::move(time), one.run_id.substr(0, defaults::run_id_digits),
        one.cache_hit ? "cached" : wording::grouped(one.latency_ms),
        wording::grouped(one.input_tokens + one.output_tokens), printable(one.model)});
    if (!has_forms) row.erase(row.begin() + form_column);
  }
  return drawn(table, columns);
}

}  // namespace sluice
