#include "tests/provider_sim/counters.hpp"

#include "tests/provider_sim/json_text.hpp"

#include <algorithm>
#include <string_view>

namespace sluice::sim {

void Counters::started(const Record& record) {
  ++requests_;
  if (record.vote) ++votes_;
  max_in_flight_ = std::max(max_in_flight_, ++in_flight_);
}

void Counters::finished(const Record& record, bool gone) {
  --in_flight_;
  if (gone) {
    ++gone_;
  } else if (record.status == 0) {
    ++dropped_;
  } else {
    ++answers_[record.status];
    if (record.status == 200) tokens_ += record.tokens;
  }
}

void Counters::reset() {
  const auto in_flight = in_flight_;
  *this = Counters();
  in_flight_ = max_in_flight_ = in_flight;
}

std::string Counters::to_json() const {
  std::string out = "{\"requests\":";
  append_number(out, static_cast<std::int64_t>(requests_));
  auto member = [&out](std::string_view name, std::uint64_t value) {
    out += ",\"";
    out += name;
    out += "\":";
    append_number(out, static_cast<std::int64_t>(value));
  };
  member("votes", votes_);
  member("in_flight", in_flight_);
  member("max_in_flight", max_in_flight_);
  member("dropped", dropped_);
  member("gone", gone_);
  member("tokens", tokens_);
  out += ",\"answers\":{";
  for (const auto& [status, count] : answers_) {
    if (out.back() != '{') out += ',';
    out += '"';
    append_number(out, status);
    out += "\":";
    append_number(out, static_cast<std::int64_t>(count));
  }
  out += "}}";
  return out;
}

}  // namespace sluice::sim
