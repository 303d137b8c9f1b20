#include "common/process/logging.hpp"

#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"

#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace sluice {
namespace {

std::string_view text_of(const spdlog::string_view_t& part) {
  return {part.data(), part.size()};
}

/// The whole line as a JSON object, or the message as in text after what stands before it: in place of
/// spdlog's own %v, cleaned here, where every message passes.
class CleanedMessage final : public spdlog::custom_flag_formatter {
 public:
  CleanedMessage(bool json, LineBreaker breaker) : json_(json), breaker_(std::move(breaker)) {}
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const auto level = text_of(spdlog::level::to_string_view(message.level));
    std::string text =
        json_ ? json_log_line(level, text_of(message.payload)) : log_text(text_of(message.payload));
    if (!json_) text = breaker_(text, std::string_view("00:00:00 : ").size() + level.size());
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<CleanedMessage>(json_, breaker_);
  }

 private:
  bool json_;
  LineBreaker breaker_;
};

}  // namespace

void set_up_logging(std::string_view level, bool over_live_line, LineBreaker breaker) {
  auto logger = std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::from_str(std::string(level)));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  const bool json = log_format() == LogFormat::json;
  const std::string pattern = std::string(over_live_line ? wipe_line : "") + "%H:%M:%S %l: %*";
  formatter->add_flag<CleanedMessage>('*', json, std::move(breaker)).set_pattern(json ? "%*" : pattern);
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace sluice
