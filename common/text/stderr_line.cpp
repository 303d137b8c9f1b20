#include "common/text/stderr_line.hpp"

#include "common/text/printable.hpp"

#include <cstdio>
#include <string>

namespace sluice {
namespace {

thread_local GatheredStderr* gathering = nullptr;

}  // namespace

GatheredStderr::GatheredStderr() {
  gathering = this;
}

GatheredStderr::~GatheredStderr() {
  gathering = nullptr;
}

void write_stderr_line(std::string_view text, bool over_live_line) {
  if (gathering != nullptr) {
    gathering->add(log_text(text));
    return;
  }
  const std::string line = std::string(over_live_line ? wipe_line : "") + log_text(text) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace sluice
