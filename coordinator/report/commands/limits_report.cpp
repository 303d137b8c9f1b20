#include "coordinator/report/commands/limits_report.hpp"

#include "common/text/printable.hpp"
#include "coordinator/display/budget_wording.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/text_table.hpp"
#include "coordinator/output/json_writer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace sluice {
namespace {

std::optional<double> run_seconds(const RememberedLimits& one) {
  if (!one.run_time) return std::nullopt;
  return std::chrono::duration<double>(*one.run_time).count();
}

/// What a run of some seconds learnt is less sure than what one of hours did.
std::string learnt_words(const RememberedLimits& one) {
  const auto seconds = run_seconds(one);
  return wording::date(one.learned_at_ms) + (seconds ? ", in " + wording::duration(*seconds) : "");
}

}  // namespace

std::string limits_text(const std::vector<RememberedLimits>& limits, std::size_t columns) {
  TextTable table;
  table.columns = {{"provider", false, false},
                   {"server", false, true},
                   {"to put under [providers.NAME]", false, false},
                   {"from", false, true},
                   {"learnt", false, true}};
  table.whole_names = true;
  for (const RememberedLimits& one : limits) {
    const auto lines = wording::settings_lines(one.limits);
    for (std::size_t i = 0; i < std::max<std::size_t>(lines.size(), 1); ++i) {
      const bool is_first = i == 0;
      table.rows.push_back({is_first ? printable(one.provider) : "", is_first ? printable(one.server) : "",
                            lines.empty() ? "" : lines[i],
                            is_first ? std::string(wording::to_string(one.limits.source)) : "",
                            is_first ? learnt_words(one) : ""});
    }
  }
  return drawn(table, columns);
}

std::string limits_json(const std::vector<RememberedLimits>& limits) {
  std::string text;
  Json json(text);
  json.open('[');
  for (const RememberedLimits& one : limits) {
    json.line(1);
    json.open('{');
    json.member("provider", one.provider);
    json.member("server", one.server);
    json.member("key_hash", one.key);
    json.member("requests_per_minute", one.limits.requests_per_minute);
    json.member("burst_seconds", wording::burst_seconds(one.limits));
    json.member("max_in_flight", one.limits.in_flight);
    json.member("source", wording::to_string(one.limits.source));
    json.member("learned_at_ms", one.learned_at_ms);
    json.member("run_id", one.run_id);
    json.member("run_seconds", run_seconds(one));
    json.close('}');
  }
  text += limits.empty() ? "" : "\n";
  json.close(']');
  return text + "\n";
}

}  // namespace sluice
