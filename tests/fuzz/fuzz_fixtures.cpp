#include "common/documents/plain_toml.hpp"
#include "common/documents/toml_document.hpp"
#include "common/model/claim.hpp"
#include "common/text/text.hpp"
#include "coordinator/suite/fixtures/fixture.hpp"
#include "coordinator/suite/fixtures/manifest.hpp"
#include "tests/support/document_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

/// What the short way through TOML reads is what the parser of the whole language reads.
void compare_readers(std::string_view text) {
  if (sluice::invalid_utf8_at(text)) return;
  const auto plain = sluice::read_plain_toml(text);
  if (!plain) return;
  const auto whole = sluice::parse_whole_toml(text);
  if (!whole || sluice::document_text(*plain) != sluice::document_text(*whole)) __builtin_trap();
}

}  // namespace

/// Any bytes may stand in a fixture or a manifest: they are read or named, and never crash. What is read
/// keeps the promises of Case.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  compare_readers(text);
  const auto parsed = sluice::parse_fixture(text, "fixture.toml");
  if (parsed.findings.empty()) {
    const auto& one = parsed.fixture;
    const bool sound = !one.id.empty() && !one.category.empty() && one.weight > 0.0 &&
                       one.min_confidence >= 0.0 && one.min_confidence <= 1.0;
    if (!sound) __builtin_trap();
  }
  for (const auto& finding : parsed.findings) {
    if (finding.line == 0 || finding.message.empty()) __builtin_trap();
  }
  (void)sluice::parse_manifest(text, "manifest.toml");
  return 0;
}
