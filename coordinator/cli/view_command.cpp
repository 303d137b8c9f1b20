#include "common/fleet/private_file.hpp"
#include "common/hash.hpp"
#include "common/http_server/http_server.hpp"
#include "common/process/signals.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/cli/view_server.hpp"
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
  CLI::App* app = program.add_subcommand("view", "Show past runs, and those that go on, in a browser");
  app->add_option("--port", command->port, "Serve at this port (default: any that is free)")
      ->type_name("PORT");
  command->settings.add_to(*app, {"home"});
  app->footer(
      "Serves pages to browsers on this machine alone (127.0.0.1), and changes nothing:\n"
      "the list of runs, the report of each as --report html has it, two of them\n"
      "compared with their answers side by side, and runs that go on as they come.\n"
      "A report is made again of the results in the ledger, as by `sluice report`.\n"
      "Where the suite or what it reads is not as it was, the page says so, and shows\n"
      "what the ledger noted; so it does of a run with --perturb-command, as no page\n"
      "runs a program. Start it in the folder where the runs were started.\n"
      "The address that it prints ends in a token, without which nobody is answered:\n"
      "other accounts of this machine cannot read the pages.\n"
      "Ctrl-C ends it. Exit code 0; 2 where it cannot serve.\n"
      "Examples:\n"
      "  sluice view\n"
      "  sluice view --port 8080\n"
      "  ssh -L 8080:127.0.0.1:8080 build-host sluice view --port 8080");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice
