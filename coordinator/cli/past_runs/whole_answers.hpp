#pragma once

#include "common/cache_tools.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/report/report.hpp"

#include <string>

namespace sluice {

/// Finds the answers of a run whole: in the caches of the settings' home, else among its observations. What
/// cannot be read is not found, with a warning the first time. Answers come redacted by `redactor`, which may
/// be null and must outlive this.
ReadWholeAnswers whole_answers(const CacheTools& tools, const Settings& settings, const std::string& run_id,
                               const Redactor* redactor);

}  // namespace sluice
