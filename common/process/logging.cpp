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

/// The message in place of spdlog's own %v: cleaned here, where every message passes.
class CleanedMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = log_text({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<CleanedMessage>(); }
};

}  // namespace

void set_up_logging(std::string_view level, bool over_live_line) {
  auto logger = std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::from_str(std::string(level)));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<CleanedMessage>('*').set_pattern(std::string(over_live_line ? wipe_line : "") +
                                                       "%H:%M:%S %l: %*");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace sluice
