#pragma once

#include "common/model/run_settings.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/plan/plan.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::string_view run_command = "run";
/// Of a run that embeds for the one that follows.
inline constexpr std::string_view embed_command = "embed";
/// Of a scan of a code base.
inline constexpr std::string_view generate_command = "generate-corpus";

/// What the ledger keeps of a run as it begins, with all that decides whether another run could go on with
/// it. `command` is that of `sluice` which began it.
RunRecord record_of(const RunOptions& options, const RunInputs& inputs, const RunSettings& run,
                    const Plan& plan, std::int64_t now_ms, std::string_view command = run_command);

/// The command that began a run, by the settings in its record: `run`, `grade`, `calibrate-judge`.
std::string command_of(const RunRecord& record);

/// Whether the plan gives each case the numbers that it had in the run, by the settings in its record.
bool numbers_alike(const RunRecord& record, const Plan& plan);

/// Whether the inputs judge answers as the run did, whatever else of them has changed. True too where its
/// record does not say.
bool was_judged_alike(const RunRecord& record, const RunInputs& inputs);
/// Whether the record says by what the run was judged; those of earlier versions do not.
bool notes_judging(const RunRecord& record);

/// Whether a run was scored by more than its providers' answers: by votes, embeddings or a baseline's
/// answers, or of recorded answers. True too where its record does not say.
bool reads_beside_answers(const RunRecord& record);

/// Whether what is kept of a run was redacted by these patterns, by the settings in its record.
bool was_redacted_by(const RunRecord& record, const std::vector<RedactionPattern>& patterns);

/// Whether a run had arms, by the settings in its record.
bool had_arms(const RunRecord& record);

/// Whether checks of the run's suite run commands, by the settings in its record; those of earlier versions
/// do not say.
bool runs_commands(const RunRecord& record);

}  // namespace sluice
