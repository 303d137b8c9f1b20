#include "coordinator/actors/progress_actor.hpp"

#include "common/text/stderr_line.hpp"
#include "coordinator/actors/messages.hpp"
#include "coordinator/display/terminal.hpp"

#include <string>
#include <string_view>

#include <caf/event_based_actor.hpp>
#include <unistd.h>

namespace sluice {

namespace {

void write_stderr(std::string_view text) {
  // Progress is a courtesy: whoever closed stderr does not want it.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Asked each time: windows are resized.
std::size_t terminal_columns() {
  return detect_terminal(STDERR_FILENO).columns.value_or(80);
}

caf::behavior progress_behavior(caf::event_based_actor* self, ProgressStyle style) {
  if (style.live) {
    self->attach_functor([] { write_stderr(wipe_line); });
  }
  return {
      [style](const ShowProgress& shown) {
        ProgressState state = shown.state;
        state.is_assessed = style.is_assessed;
        state.is_gated = style.is_gated;
        if (style.live) {
          // One column is left free: a cursor at the very edge makes some terminals wrap.
          write_stderr(std::string(wipe_line) + render_live(state, terminal_columns() - 1, style.colour));
        } else {
          write_stderr_line(render_plain(state));
        }
      },
  };
}

}  // namespace

ProgressStyle detect_progress_style() {
  const Terminal terminal = detect_terminal(STDERR_FILENO);
  ProgressStyle style;
  style.live = terminal.is_terminal && log_format() == LogFormat::text;
  style.colour = terminal.colour;
  return style;
}

caf::actor spawn_progress(caf::actor_system& system, ProgressStyle style) {
  // Writing to a terminal can block (scroll lock, a slow link): on a thread of its own.
  return system.spawn<caf::detached>(progress_behavior, style);
}

}  // namespace sluice
