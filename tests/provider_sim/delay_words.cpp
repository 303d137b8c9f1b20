#include "tests/provider_sim/delay_words.hpp"

#include "tests/provider_sim/provider_formats.hpp"

#include <array>
#include <cmath>
#include <ctime>

namespace sluice::sim {

namespace {

using std::chrono::milliseconds;

void append_milliseconds_header(milliseconds time, std::string& out) {
  out += "retry-after-ms: ";
  append_number(out, time.count());
  out += "\r\n";
}

milliseconds append_date_header(milliseconds time, std::int64_t unix_us, std::string& out) {
  using std::chrono::microseconds;
  const auto moment = std::chrono::ceil<std::chrono::seconds>(microseconds(unix_us) + time);
  const std::time_t seconds = moment.count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text;
  out += "retry-after: ";
  out.append(text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  out += "\r\n";
  return std::chrono::floor<milliseconds>(moment - microseconds(unix_us));
}

}  // namespace

milliseconds to_ms(double seconds) {
  return milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000 - 1e-6)));
}

milliseconds append_delay_headers(Provider provider, DelayForm form, const NamedDelay& delay,
                                  std::int64_t unix_us, std::string& out) {
  if (provider == Provider::gemini) return delay.time;
  if (form == DelayForm::date) return append_date_header(delay.time, unix_us, out);
  if (form == DelayForm::milliseconds) {
    append_milliseconds_header(delay.time, out);
    return delay.time;
  }
  const auto whole = std::chrono::ceil<std::chrono::seconds>(delay.time);
  out += "retry-after: ";
  append_seconds(out, delay.computed ? whole : delay.time);
  out += "\r\n";
  if (!delay.computed) return delay.time;
  if (provider == Provider::anthropic) return whole;
  append_milliseconds_header(delay.time, out);
  return delay.time;
}

}  // namespace sluice::sim
