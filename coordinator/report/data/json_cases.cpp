#include "coordinator/report/data/json_cases.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/report/case_texts.hpp"
#include "coordinator/report/data/json_stability.hpp"

namespace sluice {

void JsonCaseWriter::write(const CaseResult& result) {
  json_.line(2);
  json_.open('{');
  write_json_case(json_, result, thresholds_, rubrics_, details_);
  if (inputs_ != nullptr) {
    const CaseTexts asked = prompts_of(result.fixture, *inputs_);
    json_.member("system_prompt", asked.system);
    json_.member("prompt", asked.prompt);
    if (!asked.vars.empty()) json_.texts("vars", asked.vars);
  }
  write_json_votes(json_, result, rubrics_);
  if (stability_ != nullptr) write_json_case_stability(json_, result, *stability_, written_);
  json_.close('}');
  ++written_;
}

void JsonCaseWriter::skip() {
  if (written_ == 0) json_.raw_json("");  // So that the next one is parted from it.
  ++written_;
}

void JsonCases::add(const CaseResult& result) {
  if (packed_bytes_ >= max_bytes_) {
    are_whole_ = false;
    return;
  }
  writer_.write(result);
  ++kept_;
  if (text_.size() < defaults::json_block_bytes) return;
  packed_bytes_ += blocks_.emplace_back(text_).bytes();
  text_.clear();
}

Result<void> JsonCases::write(BufferedWriter& writer) const {
  for (const PackedText& block : blocks_) {
    const auto text = block.unpacked();
    if (!text) return fail(text.error());
    writer.write(*text);
  }
  writer.write(text_);
  return {};
}

}  // namespace sluice
