#include "common/open_files.hpp"
#include "coordinator/cli/cli.hpp"
#include "worker/embed.hpp"

// The composition root: the only place that knows both sides.
int main(int argc, char** argv) {
  sluice::raise_open_files_limit();  // Each worker is a connection.
  return sluice::run_cli(argc, argv, sluice::prepare_workers, sluice::cache_tools());
}
