#include "coordinator/cli/cli.hpp"
#include "worker/embed.hpp"

// The composition root: the only place that knows both sides.
int main(int argc, char** argv) {
  return sluice::run_cli(argc, argv, sluice::prepare_workers, sluice::cache_tools());
}
