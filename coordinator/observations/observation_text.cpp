#include "coordinator/observations/observation_text.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/json_writer.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t id_digits = 8;
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

void append_cell(std::string& line, std::string_view text) {
  if (!line.empty()) line += ',';
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace

std::string observation_as_json(const Observation& one, const RetrievalEvent* found) {
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
  if (found != nullptr) {
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
  json.close('}');
  return line + "\n";
}

std::string observation_csv_header() {
  std::string line;
  const Observation any;
  for_each_column(any, [&](const char* name, const auto&) { append_cell(line, name); });
  append_cell(line, "system_prompt");
  return line + "\r\n";
}

std::string observation_as_csv(const Observation& one) {
  std::string line;
  for_each_column(one, [&](const char*, const auto& value) { append_cell(line, plain(value)); });
  append_cell(line, one.system_prompt ? std::string_view(*one.system_prompt) : "");
  return line + "\r\n";
}

std::string observation_table(const std::vector<Observation>& observations, std::size_t columns) {
  TextTable table;
  table.whole_names = true;
  table.columns = {{"Case"},
                   {"Status"},
                   {"Run"},
                   {"Time (UTC)"},
                   {"ms", true},
                   {"Tokens", true, true},
                   {"Form", false, true},
                   {"Model", false, true}};
  for (const Observation& one : observations) {
    std::string time = one.timestamp.substr(0, date_characters);
    std::ranges::replace(time, 'T', ' ');
    std::string form = one.perturbation;
    if (one.repeat > 0) form += (form.empty() ? "" : " ") + std::to_string(one.repeat + 1);
    table.rows.push_back(
        {printable(one.case_id), one.reason_code.value_or(one.status), one.run_id.substr(0, id_digits),
         std::move(time), one.cache_hit ? "cached" : wording::grouped(one.latency_ms),
         wording::grouped(one.input_tokens + one.output_tokens), printable(form), printable(one.model)});
  }
  return drawn(table, columns);
}

}  // namespace sluice
