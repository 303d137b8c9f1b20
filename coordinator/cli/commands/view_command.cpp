#include "common/fleet/private_file.hpp"
#include "common/hash.hpp"
#include "common/http_server/http_server.hpp"
#include "common/process/signals.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/cli/view/view_server.hpp"
#include "coordinator/session/flag_values.hpp"

#include <future>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr std::uint32_t highest_port = 65535;

struct ViewRuns {
  SettingFlags settings;
  std::string port = "0";

  int run(const CacheTools& tools, const CLI::App& app) const {
    const auto number = number_of("--port", port, 0, highest_port);
    if (!number) return report_error(number.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    // Before the server's threads are there.
    std::promise<void> end;
    SignalWatch signals(exit_error);
    signals.handle_with([&](const char*) { end.set_value(); });
    ViewServer pages(tools, *effective, app);
    std::promise<ViewAccess> access;
    const std::shared_future<ViewAccess> known = access.get_future().share();
    auto server = HttpServer::start(
        "127.0.0.1:" + std::to_string(*number), defaults::view_threads,
        [&pages, known](const ServedRequest& request) { return pages.answer(request, known.get()); });
    if (!server)
      return report_error("pages cannot be served at 127.0.0.1:" + std::to_string(*number) + ": " +
                          server.error().message + "; name another with --port, or leave it out");
    access.set_value({server->authority(), to_hex(new_secret())});
    std::cout << known.get().address() << " shows the runs of " << effective->home.value << ", until Ctrl-C\n"
              << std::flush;
    end.get_future().wait();
    return exit_ok;
  }
};

}  // namespace

Command add_view_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<ViewRuns>();
  CLI::App* app = program.add_subcommand("view", "Show past and current runs in a browser");
  app->add_option("--port", command->port, "Serve at this port (default: any free port)")->type_name("PORT");
  command->settings.add_to(*app, {"home"});
  app->footer(
      "Serves pages to browsers on this machine only (127.0.0.1), and changes nothing:\n"
      "the list of runs, the report of each, a comparison of two with their answers\n"
      "side by side, and the progress of current runs. It makes a report from the\n"
      "results in the ledger, like `sluice report`. If that is not possible, for\n"
      "example because the suite changed, the page says why and shows the ledger's\n"
      "record; also for a run with --perturb-command, because no page runs a program.\n"
      "Start it in the folder where you started the runs. The printed address has a\n"
      "token. Requests without it get no answer, so other accounts of this machine\n"
      "cannot read the pages. Ctrl-C stops it. Exit code 0; 2: it could not serve.\n"
      "Examples:\n"
      "  sluice view\n"
      "  sluice view --port 8080\n"
      "  ssh -L 8080:127.0.0.1:8080 build-host sluice view --port 8080");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice
