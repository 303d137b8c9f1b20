#include "common/process/logging.hpp"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace sluice {

void set_up_logging(std::string_view level, bool over_live_line) {
  auto logger = std::make_shared<spdlog::logger>("sluice", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->set_pattern(std::string(over_live_line ? "\r\x1b[2K" : "") + "%H:%M:%S %l: %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace sluice
